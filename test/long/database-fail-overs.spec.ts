// The PostgreSQL primary is killed under load and its standby takes its place, again and again: nothing that was answered is lost.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { jtiHashOf } from '../../src/token-exchange/replay/use.repository.js';
import { sizeOf } from '../support/series.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster } from '../support/service-cluster.js';
import { until } from '../support/until.js';
import { describeOnReplicatedPostgres } from './support/database-behind-haproxy.js';

const FAIL_OVERS = Array.from({ length: sizeOf({ small: 1, whole: 20 }) }, (_, index) => index + 1);
const INSTANCES = 2;
const WIDTH = 6;
/** Every fourth token is sent to two instances at once. Every fifth has a new subject. */
const EACH_TWICE = 4;
const EACH_NEW = 5;
const SOME = 20;
const BACK_WITHIN_MS = 90_000;
const LIFETIME_SECONDS = 600;
const LEADS_NOW = 'this instance is the leader now';
const LEADS_NO_LONGER = 'this instance is no longer the leader';
const partner = Partner.create({ issuer: 'https://partner.example' });

/** One token and the answers to it. */
interface Sent {
  readonly token: string;
  readonly jti: string;
  readonly sub: string;
  /** Of each answer with 200, its request id. */
  readonly accepted: string[];
  /** When the first of them came, on the monotonic clock. */
  acceptedAtMs: number;
}

/** Exchanges that continue after any answer. */
class Load {
  readonly sent: Sent[] = [];
  private isEnding = false;
  private readonly loops: Promise<void[]>;

  constructor(
    private readonly cluster: ServiceCluster,
    private readonly round: number,
  ) {
    this.loops = Promise.all(Array.from({ length: WIDTH }, () => this.loop()));
  }

  /** Accepted since a moment. */
  acceptedSince(atMs: number): number {
    return this.sent.filter(({ acceptedAtMs }) => acceptedAtMs > atMs).length;
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.loops;
  }

  private async loop(): Promise<void> {
    while (!this.isEnding) {
      const turn = this.sent.length;
      const sent = newToken(turn % EACH_NEW === 0 ? `new-${this.round}-${turn}` : `known-${turn % 7}`);
      this.sent.push(sent);
      const times = turn % EACH_TWICE === 0 ? [turn, turn + 1] : [turn];
      await Promise.all(times.map((time) => send(this.cluster.instance(time), sent)));
    }
  }
}

describeOnReplicatedPostgres('[D98] a PostgreSQL fail-over', (database) => {
  let cluster: ServiceCluster;

  beforeAll(async () => {
    cluster = await ServiceCluster.start(INSTANCES, database, {
      trustedKeys: [partner.staticEntry()],
    });
  });
  afterAll(() => cluster?.stop());

  const timesSaid = (message: string, since: string): number =>
    cluster.instances
      .flatMap((instance) => instance.log())
      .filter(({ msg, time }) => msg === message && String(time) >= since).length;
  const isReady = async (instance: ServiceInstance) =>
    (await instance.fetch('/healthz/readiness')).status === 200;

  it.each(FAIL_OVERS)(
    '[D94] loses nothing that was answered, and changes the leader once, time %d',
    async (round) => {
      const { servers } = database;
      await until('there is a leader', BACK_WITHIN_MS, () => timesSaid(LEADS_NOW, '') >= round);
      const load = new Load(cluster, round);
      await until('the load is under way', BACK_WITHIN_MS, () => load.acceptedSince(0) >= SOME);

      const killedAt = new Date().toISOString();
      const killedAtMs = performance.now();
      await servers.killPrimary();
      await servers.promote();
      const promotedAtMs = performance.now();
      await until('exchanges succeed again', BACK_WITHIN_MS, () => load.acceptedSince(promotedAtMs) >= SOME);
      const awayMs =
        Math.min(...load.sent.map(({ acceptedAtMs: atMs }) => (atMs > promotedAtMs ? atMs : Infinity))) -
        killedAtMs;
      for (const instance of cluster.instances)
        await until('it is ready', BACK_WITHIN_MS, () => isReady(instance));
      await until('there is a leader again', BACK_WITHIN_MS, () => timesSaid(LEADS_NOW, killedAt) > 0);
      const leaderlessMs = performance.now() - killedAtMs;
      await load.end();

      const accepted = load.sent.filter((each) => each.accepted.length > 0);
      expect(await missing(accepted)).toEqual([]);
      // Whatever became of a token: sent again, and again, it has passed once at most.
      for (const again of [0, 1])
        await Promise.all(load.sent.map((each, turn) => send(cluster.instance(turn + again), each)));
      expect(load.sent.filter((each) => each.accepted.length > 1)).toEqual([]);
      expect(accepted.filter((each) => each.accepted.length !== 1)).toEqual([]);

      expect(timesSaid(LEADS_NO_LONGER, killedAt)).toBe(1);
      expect(timesSaid(LEADS_NOW, killedAt)).toBe(1);
      await servers.attachStandby();
      tell(round, { sent: load.sent.length, accepted: accepted.length, awayMs, leaderlessMs });
    },
  );

  /** The accepted exchanges that the new primary does not have. */
  const missing = async (accepted: readonly Sent[]): Promise<string[]> => {
    const given = accepted.map(({ jti, sub, accepted: [requestId] }) => ({
      jti_hash: jtiHashOf(jti),
      sub,
      request_id: requestId,
    }));
    const rows = await database.servers.query<{ lost: string }>(
      `SELECT given.request_id AS lost
       FROM json_to_recordset($1) AS given (jti_hash uuid, sub text, request_id text)
       WHERE NOT EXISTS (SELECT FROM token_exchange_used_jti WHERE jti_hash = given.jti_hash)
         OR NOT EXISTS (SELECT FROM audit_event WHERE request_id = given.request_id AND name = 'svc.audit.token-exchange.succeeded')
         OR NOT EXISTS (
           SELECT FROM token_exchange_identity_link AS link JOIN user_account ON user_account.id::text = link.user_id::text
           WHERE subject = given.sub
         )`,
      [JSON.stringify(given)],
    );
    return rows.map(({ lost }) => lost);
  };
});

function newToken(sub: string): Sent {
  const iat = Math.floor(Date.now() / 1000);
  const claims = partner.claims({ sub, iat, exp: iat + LIFETIME_SECONDS, jti: randomUUID() });
  const token = partner.sign(claims);
  return { token, jti: String(claims['jti']), sub, accepted: [], acceptedAtMs: 0 };
}

/** Whatever is not an answer with 200 counts as not answered. */
async function send(instance: ServiceInstance, sent: Sent): Promise<void> {
  const answer = await instance.exchange(sent.token).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  if (answer?.status !== 200) return;
  sent.accepted.push(answer.headers.get('x-request-id') ?? '');
  sent.acceptedAtMs ||= performance.now();
}

/** Prints the figures of a whole series. */
function tell(round: number, figures: Record<string, number>): void {
  if (FAIL_OVERS.length === 1) return;
  const told = Object.entries(figures).map(([name, value]) => `${name} ${Math.round(value)}`);
  process.stderr.write(`fail-over ${round}: ${told.join(', ')}\n`);
}
