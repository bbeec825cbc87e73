// The database goes away while exchanges are under way: each ends, none passes twice, and the service comes back.
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { EVENT } from '../support/audit.js';
import { DatabaseBehindProxy } from '../support/database-behind-proxy.js';
import { describeOnPostgresql } from '../support/databases.js';
import { whenMeasured } from '../support/series.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
/** Broken connections are told at once: nothing waits for a time limit. */
const CUT_PATIENCE_MS = 10_000;
/** Three times the limit that the services of the tests have: this machine may be busy. database-away.spec.ts has the real one. */
const SILENCE_PATIENCE_MS = 30_000;

interface Sent {
  readonly tokens: readonly string[];
  readonly status: number;
  readonly requestId: string;
  readonly tookMs: number;
}

describeOnPostgresql('[D3][D49] exchanges while the database goes away', (database) => {
  let behind: DatabaseBehindProxy;
  let service: TestService;

  beforeAll(async () => {
    behind = await DatabaseBehindProxy.open(database);
    service = await TestService.start(behind, { trustedKeys: [partner.staticEntry()] });
    for (let index = 0; index < 10; index++)
      await service.accessToken({ subject_token: token(`known-${index}`) });
  });
  afterAll(async () => {
    await service?.stop();
    await behind?.close();
  });

  const token = (sub: string) => partner.sign(partner.claims({ sub }));
  const send = async (tokens: readonly string[], requestId: string): Promise<Sent> => {
    const startedAt = performance.now();
    const [subject, actor] = tokens;
    const fields = { subject_token: subject, actor_token: actor };
    const answer = await service.exchange(fields, { 'x-request-id': requestId });
    await answer.arrayBuffer();
    return { tokens, status: answer.status, requestId, tookMs: performance.now() - startedAt };
  };
  /** Known users, new users and pairs; `onAnswer` hears of each answer. */
  const burst = (name: string, count: number, onAnswer: (answered: number) => void = () => undefined) => {
    let answered = 0;
    const sendOne = async (_: unknown, index: number) => {
      const sub = index % 5 === 0 ? `new-${name}-${index}` : `known-${index % 10}`;
      const tokens = index % 4 === 0 ? [token(sub), token(`known-${(index + 1) % 10}`)] : [token(sub)];
      // Not all in one moment: some are at each stage when the connections break.
      await pause(index);
      const sent = await send(tokens, `request-${name}-${index}`);
      onAnswer(++answered);
      return sent;
    };
    return Promise.all(Array.from({ length: count }, sendOne));
  };
  const statusesOf = (sent: readonly Sent[]) => [...new Set(sent.map(({ status }) => status))].sort();
  const expectInTime = (sent: readonly Sent[], limitMs: number) =>
    whenMeasured(() => expect(Math.max(...sent.map(({ tookMs }) => tookMs))).toBeLessThan(limitMs));
  const untilItWorks = () =>
    until('the service works', 90_000, async () => (await send([token('known-0')], 'probe')).status === 200);
  /** What was accepted is refused from now on; what failed passes once at most, and so does each half of a pair. */
  const expectNoneTwice = async (sent: readonly Sent[]) => {
    for (const { tokens, status, requestId } of sent) {
      for (const each of tokens) {
        const again = [await send([each], 'again'), await send([each], 'again')].map((one) => one.status);
        const isPast = status === 200;
        expect([requestId, again]).toEqual([requestId, isPast ? [400, 400] : [expect.any(Number), 400]]);
      }
    }
  };
  /** An accepted exchange has its row, once. One that failed may have been committed before its answer was lost. */
  const expectRows = async (sent: readonly Sent[]) => {
    const rows = await service.rows<{ requestId: string; events: number }>(
      `SELECT request_id AS "requestId", count(*)::int AS events FROM audit_event WHERE name = $1 GROUP BY request_id`,
      [`${EVENT}succeeded`],
    );
    const eventsOf = new Map(rows.map(({ requestId, events }) => [requestId, events]));
    for (const { requestId, status } of sent) {
      const events = eventsOf.get(requestId) ?? 0;
      if (status === 200) expect([requestId, events]).toEqual([requestId, 1]);
      else expect(events).toBeLessThanOrEqual(1);
    }
  };

  it.each([3, 20, 45, 70])(
    '[5.2.5] connections that break after %d of a hundred answers: 200 or 503, and no token passes twice',
    async (moment) => {
      const sent = await burst(`cut-${moment}`, 100, (answered) => {
        if (answered === moment) behind.proxy.cut();
      });
      expect([[200], [200, 503]]).toContainEqual(statusesOf(sent));
      expectInTime(sent, CUT_PATIENCE_MS);
      await untilItWorks();
      await expectRows(sent);
      await expectNoneTwice(sent);
      expect(statusesOf(await burst(`after-cut-${moment}`, 40))).toEqual([200]);
    },
  );

  it.each<[string, (proxy: TcpProxy) => void]>([
    ['goes silent', (proxy) => proxy.silence()],
    ['loses the answers of what was committed', (proxy) => proxy.loseAnswers()],
  ])(
    '[5.2.5] a network that %s: each request ends by the time limits, and no token passes twice',
    async (fault, begin) => {
      const sent = await burst(fault.replaceAll(' ', '-'), 100, (answered) => {
        if (answered === 10) begin(behind.proxy);
      });
      behind.proxy.resume();
      expect(statusesOf(sent)).toEqual([200, 503]);
      await untilItWorks();
      await expectRows(sent);
      await expectNoneTwice(sent);
      expectInTime(sent, SILENCE_PATIENCE_MS);
    },
  );
});
