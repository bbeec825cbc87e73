// Throttles of trusted key entries: who is counted by an entry, who by an address, and what each is told.
import { eventsOf } from '../support/audit.js';
import { Partner } from '../../demo/partner.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { MetricSamples } from '../support/metric-samples.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const ADDRESS_LIMIT = 20;
const ENTRY_LIMIT = 60;
const FORGED = 200;
const TOKEN_SECONDS = 300;

const partnerOf = (name: string) =>
  Partner.create({ issuer: `https://${name}.example`, kid: name, audience: BASE_URL });
/** An entry with much room, and one that is soon full. */
const [wide, narrow] = [partnerOf('wide'), partnerOf('narrow')];
const impostor = partnerOf('wide');
const second = Partner.create({ issuer: narrow.issuer, kid: 'narrow-2', audience: BASE_URL });
const NARROW_LIMIT = 3;

const FLOWS = ['exchange', 'embed'] as const;
type Flow = (typeof FLOWS)[number];
const ACCEPTED = { exchange: 200, embed: 303 };
const REPLAYED = { exchange: 400, embed: 401 };

/** What an answer says of its limit. */
function limitIn({ headers }: Response): (string | null)[] {
  return ['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
}

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
const count = (statuses: readonly number[], wanted: number) =>
  statuses.filter((status) => status === wanted).length;

class World {
  readonly clock = new TestClock();
  service!: TestService;
  private addresses = 0;

  constructor(private readonly store: 'memory' | 'database') {}

  async start(database: TestDatabase): Promise<void> {
    this.service = await TestService.start(database, {
      trustedKeys: [
        wide.staticEntry({ perMinute: ENTRY_LIMIT }),
        narrow.staticEntry({ perMinute: NARROW_LIMIT }),
        second.staticEntry({ perMinute: NARROW_LIMIT }),
      ],
      environment: {
        SVC_THROTTLE_STORE: this.store,
        SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: String(ADDRESS_LIMIT),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: String(ADDRESS_LIMIT),
        SVC_PROXY_HOPS: '1',
      },
      clock: this.clock,
    });
  }

  /** A client that nobody has heard of. */
  client(): Client {
    this.addresses += 1;
    return new Client(this.service, `203.0.113.${this.addresses}`);
  }

  token(partner: Partner, flow: Flow = 'exchange'): string {
    const iat = Math.floor(this.clock.nowSeconds());
    return partner.sign(partner.claims({ iat, exp: iat + (flow === 'embed' ? 60 : TOKEN_SECONDS) }));
  }

  /** Ends all windows, whichever clock they run on. */
  async pass(seconds: number): Promise<void> {
    this.clock.advance(seconds);
    await this.service.rows(
      `UPDATE throttle_counter SET window_ends_at = window_ends_at - $1 * interval '1 second'`,
      [seconds],
    );
  }

  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    return (await MetricSamples.read(this.service)).value(name, labels);
  }

  verifications(flow: Flow): Promise<number> {
    return this.metric('svc_stage_duration_seconds_count', { flow, stage: 'verify' });
  }
}

class Client {
  private readonly headers: Record<string, string>;

  constructor(
    private readonly service: TestService,
    address: string,
  ) {
    this.headers = { 'x-forwarded-for': address };
  }

  send(flow: Flow, token: string, actorToken?: string): Promise<Response> {
    if (flow === 'embed') return this.service.embed({ token }, this.headers);
    return this.service.exchange({ subject_token: token, actor_token: actorToken }, this.headers);
  }

  async statuses(flow: Flow, tokens: readonly string[]): Promise<number[]> {
    const found: number[] = [];
    for (const token of tokens) found.push((await this.send(flow, token)).status);
    return found;
  }

  async statusesAtOnce(flow: Flow, tokens: readonly string[]): Promise<number[]> {
    return (await Promise.all(tokens.map((token) => this.send(flow, token)))).map(({ status }) => status);
  }
}

describeOnAnyDatabase('[P.perMinute] the throttle of an entry', (database) => {
  describe.each(['memory', 'database'] as const)('[P.perMinute] counted in the %s', (store) => {
    const world = new World(store);

    beforeAll(() => world.start(database));
    beforeEach(() => world.pass(60));
    afterAll(async () => {
      // Else the limits would have been those of nobody.
      expect(await world.metric('svc_throttle_fail_open_total')).toBe(0);
      await world.service.stop();
    });

    it.each(FLOWS)('[P.perMinute] verifies 20 of 200 forged tokens of one address: %s', async (flow) => {
      const before = await world.verifications(flow);
      const forged = times(FORGED, () => world.token(impostor, flow));
      const statuses = await world.client().statusesAtOnce(flow, forged);
      expect(count(statuses, REPLAYED[flow])).toBe(ADDRESS_LIMIT);
      expect(count(statuses, 429)).toBe(FORGED - ADDRESS_LIMIT);
      expect((await world.verifications(flow)) - before).toBe(ADDRESS_LIMIT);
    });

    it('[P.perMinute] counts both flows and all addresses of an entry together, and another entry of the issuer apart', async () => {
      expect((await world.client().send('exchange', world.token(narrow))).status).toBe(200);
      expect((await world.client().send('embed', world.token(narrow, 'embed'))).status).toBe(303);
      expect((await world.client().send('embed', world.token(narrow, 'embed'))).status).toBe(303);
      expect((await world.client().send('exchange', world.token(narrow))).status).toBe(429);
      expect((await world.client().send('embed', world.token(narrow, 'embed'))).status).toBe(429);
      expect((await world.client().send('exchange', world.token(second))).status).toBe(200);
    });

    it.each(FLOWS)('[P.perMinute] leaves a token that it refuses good for later: %s', async (flow) => {
      await world.client().statuses(
        flow,
        times(NARROW_LIMIT, () => world.token(narrow, flow)),
      );
      const throttled = await world.metric('svc_throttle_refusals_total', { flow });
      await world.pass(20);
      const [client, token] = [world.client(), world.token(narrow, flow)];
      const refused = await client.send(flow, token);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ error: 'too_many_requests' });
      expect(limitIn(refused)).toEqual([String(NARROW_LIMIT), '0', expect.anything()]);
      expect(refused.headers.get('retry-after')).toBe(refused.headers.get('ratelimit-reset'));
      const waitSeconds = Number(refused.headers.get('retry-after'));
      expect(waitSeconds).toBeLessThanOrEqual(40);
      expect(waitSeconds).toBeGreaterThan(30);
      expect(await world.metric('svc_throttle_refusals_total', { flow })).toBe(throttled + 1);
      expect(await eventsOf(world.service, refused)).toEqual([]);
      await world.pass(40);
      expect((await client.send(flow, token)).status).toBe(ACCEPTED[flow]);
    });

    it.each(FLOWS)('[P.perMinute] counts replays by the address, and not by the entry: %s', async (flow) => {
      const [thief, token] = [world.client(), world.token(wide, flow)];
      const replays = times(ADDRESS_LIMIT, () => token);
      expect((await thief.send(flow, token)).status).toBe(ACCEPTED[flow]);
      expect(await thief.statuses(flow, replays)).toEqual(replays.map(() => REPLAYED[flow]));
      expect(await thief.statuses(flow, [token, world.token(wide, flow)])).toEqual([429, 429]);
      const answer = await world.client().send(flow, world.token(wide, flow));
      expect(limitIn(answer)[1]).toBe(String(ENTRY_LIMIT - 2));
    });
  });
});
