// Sentences of the instance in the words of the operator's page.
import {
  duration,
  eventInWords,
  kindOfEvent,
  reasonInWords,
  termInWords,
} from '../../../../pages/operator/words.js';

describe("the operator page's wording", () => {
  it('covers events, reasons, properties and durations', () => {
    expect(eventInWords('svc.audit.operator.signed-in')).toBe('Operator signed in');
    expect(kindOfEvent('svc.audit.token-exchange.failed')).toBe('Token exchange, refused');
    expect(reasonInWords('kid_unknown')).toBe('Key id unknown');
    expect(termInWords('sessionFamilyId')).toBe('Session family id');
    expect([duration(45), duration(90), duration(86_400)]).toEqual(['45 seconds', '1.5 minutes', '1 day']);
  });
});
