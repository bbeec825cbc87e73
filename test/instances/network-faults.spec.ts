// The network to PostgreSQL stalls or breaks while exchanges are under way: none passes twice, and what was answered is kept.
// The service recovers by itself.
import { Partner } from '../../demo/partner.js';
import { DatabaseBehindProxy } from '../support/database-behind-proxy.js';
import { describeOnPostgresql } from '../support/databases.js';
import { sizeOf } from '../support/series.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const ROUNDS = sizeOf({ small: 1, whole: 10 });
const EXCHANGES = 30;
const RECOVERY_MS = 60_000;
const STALL_MS = 1_000;

/** What happens while exchanges are under way. */
const FAULTS: readonly [string, (proxy: TcpProxy) => Promise<void>][] = [
  ['breaks', async (proxy) => proxy.cut()],
  ['loses the answers of what was committed', async (proxy) => proxy.loseAnswers()],
  [
    'stalls, and goes on',
    async (proxy) => {
      proxy.silence();
      await new Promise((resolve) => setTimeout(resolve, STALL_MS));
    },
  ],
  [
    'stalls, and breaks',
    async (proxy) => {
      proxy.silence();
      await new Promise((resolve) => setTimeout(resolve, STALL_MS));
      proxy.cut();
    },
  ],
];

jest.setTimeout(240_000);

describeOnPostgresql('[D3] the network between service and database', (direct) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let database: DatabaseBehindProxy;
  let service: TestService;

  beforeAll(async () => {
    database = await DatabaseBehindProxy.open(direct);
    service = await TestService.start(database, { trustedKeys: [partner.staticEntry()] });
    for (let warming = 0; warming < 3; warming++)
      await service.accessToken({ subject_token: partner.sign() });
  });
  afterAll(async () => {
    database?.proxy.resume();
    await service?.stop();
    await database?.close();
  });

  const send = async (token: string): Promise<number> => {
    const answer = await service.exchange({ subject_token: token });
    await answer.arrayBuffer();
    return answer.status;
  };

  it.each(FAULTS)(
    '[D3][5.2.5] %s: no token passes twice, and no success that was answered is lost',
    async (_, fault) => {
      for (let round = 0; round < ROUNDS; round++) {
        const tokens = Array.from({ length: EXCHANGES }, () => partner.sign());
        const passes = new Map(tokens.map((token) => [token, 0]));
        const sendAndCount = async (token: string) => {
          const status = await send(token);
          if (status === 200) passes.set(token, (passes.get(token) ?? 0) + 1);
          return status;
        };
        const first = tokens.slice(0, EXCHANGES / 2).map(sendAndCount);
        const harm = new Promise((resolve) => setImmediate(resolve)).then(() => fault(database.proxy));
        const second = tokens.slice(EXCHANGES / 2).map(sendAndCount);
        await harm;
        // Requests may wait for an answer that never comes, until the service gives up.
        const answers = Promise.all([...first, ...second]);
        if (fault !== FAULTS[1]?.[1]) database.proxy.resume();
        const statuses = await answers;
        database.proxy.resume();
        expect(statuses.filter((status) => status !== 200 && status < 500)).toEqual([]);
        await until('the service recovers', RECOVERY_MS, async () => (await send(partner.sign())) === 200);

        const answered = tokens.filter((token) => passes.get(token) === 1);
        for (const token of answered) expect(await send(token)).toBe(400);
        await Promise.all(tokens.filter((token) => !answered.includes(token)).map(sendAndCount));
        for (const token of tokens) expect(await sendAndCount(token)).toBe(400);
        expect(Math.max(...passes.values())).toBeLessThanOrEqual(1);
      }
    },
  );
});
