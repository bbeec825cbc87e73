// Sentences of the instance in the words of the operator's page.
import {
  byLabels,
  duration,
  eventInWords,
  kindOfEvent,
  reasonInWords,
  termInWords,
} from '../../../../pages/operator/words.js';

const LABELS = {
  flows: 'Sign-in methods',
  signInAs: 'User whom its tokens act as',
  emailDomains: 'E-mail domains',
};

describe('the words of the operator page', () => {
  it.each([
    ['flows: must not be empty', '“Sign-in methods”: must not be empty'],
    ['must not stand beside signInAs', 'must not stand beside “User whom its tokens act as”'],
    ['set `flows` to `["embed"]`', 'set “Sign-in methods” to “Embedded login”'],
    ['set flows to ["embed"]', 'set “Sign-in methods” to “Embedded login”'],
    ['one of ["embed", "exchange"]', 'one of “Embedded login” and “Token exchange”'],
    ['or ["*"] for any', 'or “*” for any'],
    ['the role "global:admin"', 'the role “Administrator”'],
    ['the aud claim', 'the aud claim'],
  ])('say %j as %j', (text, said) => {
    expect(byLabels(text, LABELS)).toBe(said);
  });

  it('name events, reasons, properties and durations', () => {
    expect(eventInWords('svc.audit.operator.signed-in')).toBe('Operator signed in');
    expect(kindOfEvent('svc.audit.token-exchange.failed')).toBe('Token exchange, refused');
    expect(reasonInWords('kid_unknown')).toBe('Key id unknown');
    expect(termInWords('sessionFamilyId')).toBe('Session family id');
    expect([duration(45), duration(90), duration(86_400)]).toEqual(['45 seconds', '1.5 minutes', '1 day']);
  });
});
