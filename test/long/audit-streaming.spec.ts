// Services, including the leader, and receivers of audit events are killed at random under load. Every event arrives.
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { cursorAtOldest } from '../support/audit.js';
import { SyslogReceiver, WebhookReceiver } from '../support/audit-receivers.js';
import { randomFrom } from '../support/random.js';
import { sizeOf } from '../support/series.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { describeWithProcesses, ServiceCluster } from '../support/service-cluster.js';
import { until } from '../support/until.js';

const ROUNDS = Array.from({ length: sizeOf({ small: 1, whole: 20 }) }, (_, index) => index + 1);
const SECRET = 'a secret of thirty-two characters';
const LEADS_NOW = 'this instance is the leader now';
const SENDERS = 6;
/** Longer than a lease and the longest wait after some failures. */
const ARRIVAL_MS = 45_000;

describeWithProcesses('[D87] the sinks of three processes', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const random = randomFrom(Date.now());
  let opened: OpenDatabase;
  let webhook: WebhookReceiver;
  let syslog: SyslogReceiver;
  let cluster: ServiceCluster;

  beforeAll(async () => {
    opened = await database.open();
    for (const sink of ['webhook', 'syslog']) await opened.dataSource.query(cursorAtOldest(sink));
    [webhook, syslog] = await Promise.all([WebhookReceiver.listen(SECRET), SyslogReceiver.listen()]);
    cluster = await ServiceCluster.start(3, database, {
      trustedKeys: [partner.staticEntry()],
      environment: {
        SVC_AUDIT_WEBHOOK_URL: webhook.url,
        SVC_AUDIT_WEBHOOK_SECRET: SECRET,
        SVC_AUDIT_WEBHOOK_ALLOW_HTTP: 'true',
        SVC_AUDIT_SYSLOG_URL: syslog.url,
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await Promise.all([webhook.die(), syslog.die()]);
  });

  const trail = async (): Promise<string[]> => {
    const rows = await opened.dataSource.query<{ id: string }[]>(
      'SELECT id FROM audit_event ORDER BY transaction_id, id',
    );
    return rows.map(({ id }) => id);
  };
  /** Sends valid and invalid exchanges without a pause to any running process. */
  const applyLoad = (signal: AbortSignal) =>
    Promise.all(
      Array.from({ length: SENDERS }, async (_, sender) => {
        for (let turn = sender; !signal.aborted; turn++) {
          const token = turn % 5 === 0 ? 'no token' : partner.sign();
          // A killed process is tried again in a later turn.
          await cluster
            .instance(turn)
            .exchangeStatus(token)
            .catch(() => pause(20));
        }
      }),
    );
  const leader = (): ServiceInstance => {
    const terms = cluster.instances.flatMap((instance) => {
      const times = instance.log().filter(({ msg }) => msg === LEADS_NOW);
      return times.map(({ time }) => ({ instance, time: String(time) }));
    });
    return terms.sort((one, other) => one.time.localeCompare(other.time)).at(-1)!.instance;
  };
  const killAndStart = async (instance: ServiceInstance) => {
    await instance.kill();
    await pause(random.below(500));
    await instance.start();
  };
  const dieAWhile = async (receiver: WebhookReceiver | SyslogReceiver) => {
    await receiver.die();
    await pause(500 + random.below(1_500));
    await receiver.comeBack();
  };
  const anyTime = () => pause(random.below(1_500));

  it.each(ROUNDS)('receive every event of the trail at time %d, in order of first arrival', async () => {
    const ending = new AbortController();
    const load = applyLoad(ending.signal);
    const before = (await trail()).length;
    await until('events arrive', ARRIVAL_MS, () => webhook.firstArrivals.length > before);

    const harm = [
      () => killAndStart(leader()),
      () => killAndStart(random.pick(cluster.instances)),
      () => dieAWhile(webhook),
      () => dieAWhile(syslog),
    ];
    while (harm.length > 0) {
      await anyTime();
      const [each] = harm.splice(random.below(harm.length), 1);
      await each!();
    }
    // The last events must arrive, too.
    await anyTime();
    ending.abort();
    await load;

    const expected = await trail();
    const isThere = () =>
      [webhook, syslog].every(({ firstArrivals }) => firstArrivals.length >= expected.length);
    await until('everything has arrived', ARRIVAL_MS, isThere);
    expect(expected.length).toBeGreaterThan(before + 50);
    expect(await trail()).toEqual(expected);
    for (const receiver of [webhook, syslog]) expect(receiver.firstArrivals).toEqual(expected);
  });

  it('never log the secret, or the address with its path', () => {
    const text = cluster.instances.map((instance) => JSON.stringify(instance.log())).join('');
    const told = [LEADS_NOW, SECRET, new URL(webhook.url).pathname];
    expect(told.map((each) => text.includes(each))).toEqual([true, false, false]);
  });
});
