// The audit trail as files.
import { csvOf, jsonLinesOf } from '../../../../pages/operator/trail-files.js';

const EVENT = { id: '7', event: 'svc.audit.api.called', clientRequestId: '=1+1', payload: { a: 'say "so"' } };

describe('event export files', () => {
  it('are lines of JSON', () => {
    expect(jsonLinesOf([EVENT, { id: '8' }])).toBe(`${JSON.stringify(EVENT)}\n{"id":"8"}\n`);
  });

  it('are RFC 4180 CSV without cells that a spreadsheet evaluates', () => {
    expect(csvOf([EVENT])).toBe(
      'id,event,occurredAt,requestId,clientRequestId,subjectUserId,actorUserId,payload\r\n' +
        `"7","svc.audit.api.called","","","'=1+1","","","{""a"":""say \\""so\\""""}"\r\n`,
    );
  });
});
