// The audit trail as files.
import { csvOf, jsonLinesOf } from '../../../../pages/operator/trail-files.js';

const EVENT = { id: '7', event: 'svc.audit.api.called', clientRequestId: '=1+1', payload: { a: 'say "so"' } };

describe('files of events', () => {
  it('are lines of JSON', () => {
    expect(jsonLinesOf([EVENT, { id: '8' }])).toBe(`${JSON.stringify(EVENT)}\n{"id":"8"}\n`);
  });

  it('are CSV of RFC 4180, without a cell that a spreadsheet computes', () => {
    expect(csvOf([EVENT])).toBe(
      'id,event,occurredAt,requestId,clientRequestId,subjectUserId,actorUserId,payload\r\n' +
        `"7","svc.audit.api.called","","","'=1+1","","","{""a"":""say \\""so\\""""}"\r\n`,
    );
  });
});
