// Every token is sent to three processes at the same moment, to one of them as a login: one of the three takes it.
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { sizeOf } from '../support/series.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';

const TOKENS = sizeOf({ small: 300, whole: 10_000 });
const RACES_AT_ONCE = 16;
const USERS = 50;
const ACCEPTED = [200, 303];
const REFUSED = [400, 401];

jest.setTimeout(sizeOf({ small: 300_000, whole: 3_600_000 }));

describeWithProcesses('[5.2.5][D2][K16] tokens sent to three processes at once', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let opened: OpenDatabase;
  let cluster: ServiceCluster;

  beforeAll(async () => {
    opened = await database.open();
    cluster = await ServiceCluster.start(3, database, { trustedKeys: [partner.staticEntry()] });
  });
  afterAll(() => cluster?.stop());

  const statusesOf = (token: string, turn: number) =>
    Promise.all(
      cluster.instances.map(async (instance, index) => {
        const isLogin = (turn + index) % cluster.instances.length === 0;
        const answer = await (isLogin ? instance.embed(token) : instance.exchange(token));
        await answer.arrayBuffer();
        return answer.status;
      }),
    );

  it(`[5.2.5] of ${TOKENS} succeed exactly once each`, async () => {
    let sent = 0;
    const timesPassed = new Map<number, number>();
    const unexpected: number[] = [];
    const race = async () => {
      while (sent < TOKENS) {
        const turn = sent++;
        const statuses = await statusesOf(
          partner.sign(partner.claims({ sub: `customer-${turn % USERS}` })),
          turn,
        );
        const passed = statuses.filter((status) => ACCEPTED.includes(status)).length;
        timesPassed.set(passed, (timesPassed.get(passed) ?? 0) + 1);
        unexpected.push(...statuses.filter((status) => ![...ACCEPTED, ...REFUSED].includes(status)));
      }
    };
    await Promise.all(Array.from({ length: RACES_AT_ONCE }, race));
    expect([[...timesPassed], unexpected]).toEqual([[[1, TOKENS]], []]);
  });

  it('[K17] leave the same number of successes in the trail, and one record each', async () => {
    const [row] = await opened.dataSource.query<{ successes: number; used: number }[]>(
      `SELECT (SELECT count(*)::int FROM audit_event WHERE name IN
         ('svc.audit.token-exchange.succeeded', 'svc.audit.token-exchange.embed-login')) AS successes,
       (SELECT count(*)::int FROM token_exchange_used_jti) AS used`,
    );
    expect(row).toEqual({ successes: TOKENS, used: TOKENS });
  });
});
