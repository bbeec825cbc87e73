// Audit events of many requests in one statement: each is stored exactly once before its request continues.
import type { DataSource } from 'typeorm';
import { AuditTrailRepository } from '../../src/audit/audit-trail.repository.js';
import { Database } from '../../src/platform/database/database.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import type { AuditEvent } from '../../src/token-exchange/audit/audit-trail.js';
import { auditEvent } from '../../src/token-exchange/audit/audit-trail.js';
import { describeOnEachDatabase } from '../support/databases.js';

const FAILED = 'svc.audit.token-exchange.failed';
/** A string that the table cannot store. */
const NUL = 'nul \0 character';

interface Stored {
  request: string;
  reason: string;
}

const event = (requestId: string, reason = 'token_replayed') =>
  auditEvent(FAILED, { occurredAt: new Date(), requestId }, { flow: 'exchange', reason });

describeOnEachDatabase('[6.2] batched audit events', (database) => {
  let dataSource: DataSource;
  let trail: AuditTrailRepository;

  beforeAll(async () => {
    ({ dataSource } = await database.open());
    trail = new AuditTrailRepository(new Database(dataSource));
  });
  beforeEach(() => dataSource.query('TRUNCATE audit_event'));

  const stored = (requestId?: string) =>
    dataSource.query<Stored[]>(
      `SELECT request_id AS request, payload->>'reason' AS reason FROM audit_event
       WHERE $1::text IS NULL OR request_id = $1 ORDER BY id`,
      [requestId ?? null],
    );
  const appendAll = (groups: readonly (readonly AuditEvent[])[]) =>
    Promise.allSettled(groups.map((events) => trail.append(events)));
  const isWritten = ({ status }: PromiseSettledResult<void>) => status === 'fulfilled';

  it('[6.2] are stored completely: actor, time, and a payload of any form', async () => {
    const users = ['a1b2c3d4-0000-4000-8000-000000000001', 'a1b2c3d4-0000-4000-8000-000000000002'] as const;
    const context = {
      occurredAt: new Date(),
      requestId: `it's "odd" \\ {} 😀`,
      subjectUserId: users[0],
      actorUserId: users[1],
    };
    const payload = {
      issuer: 'https://partner.example',
      kid: 'NULL',
      accessTokenId: '',
      lifetimeSeconds: 60,
      scope: 'a "b" \\u0041 ,{}\n\t\u2028',
      resource: ['https://a.example/?x=1,2', '{}'],
    };
    const told = auditEvent('svc.audit.token-exchange.succeeded', context, payload);
    await Promise.all([
      trail.append([event('before')]),
      trail.append([told]),
      trail.append([event('after')]),
    ]);
    const [row] = await dataSource.query<Record<string, unknown>[]>(
      'SELECT * FROM audit_event WHERE name = $1',
      [told.name],
    );
    expect(row).toMatchObject({
      occurred_at: told.occurredAt,
      request_id: context.requestId,
      subject_user_id: users[0],
      actor_user_id: users[1],
      payload,
    });
  });

  it('[6.2] of a request with one invalid event are not written at all', async () => {
    const outcomes = await appendAll([
      [event('good')],
      [event('mixed', 'first'), event('mixed', NUL), event('mixed', 'third')],
      [event('good')],
    ]);
    expect(outcomes.map(isWritten)).toEqual([true, false, true]);
    expect((await stored()).map(({ request }) => request)).toEqual(['good', 'good']);
  });

  it('[6.3] in a transaction are written by it and not by the batch', async () => {
    const work = new Transactions(new Database(dataSource)).run(async (transaction) => {
      await trail.append([event('taken back')], transaction);
      throw new Error('made to fail');
    });
    await Promise.all([expect(work).rejects.toThrow('made to fail'), trail.append([event('stays')])]);
    expect((await stored()).map(({ request }) => request)).toEqual(['stays']);
  });
});
