// What /metrics counts, and that nothing of a client's gets into a label.
import { Partner } from '../../demo/partner.js';
import { Cast, ONE_OF_EACH_REASON } from '../support/attacks.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { MetricSamples } from '../support/metric-samples.js';
import { TestService } from '../support/test-service.js';

const EXCHANGES = 'svc_token_exchanges_total';
const LOGINS = 'svc_embed_logins_total';
const REFUSALS = 'svc_throttle_refusals_total';
const STAGES = 'svc_stage_duration_seconds_count';
const KEYS = 'svc_trusted_keys';
const LIMIT = 200;

describeOnAnyDatabase('[D23] metrics', (database) => {
  const cast = new Cast();
  const partner = cast.main;
  const publisher = Partner.create({ issuer: 'https://publisher.example' });
  let jwks: JwksServer;
  let service: TestService;

  beforeAll(async () => {
    jwks = await JwksServer.listen();
    publisher.rotate();
    jwks.publish(publisher.jwks());
    const fetched = { type: 'jwks', url: jwks.url, issuer: publisher.issuer };
    const environment = {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: String(LIMIT),
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: String(LIMIT),
    };
    service = await TestService.start(database, {
      trustedKeys: [cast.mainEntry, fetched, cast.revoked.staticEntry()],
      environment,
    });
  });
  afterAll(async () => {
    await service?.stop();
    await jwks?.close();
  });

  /** How much each named value grows while something is done. */
  const growth = async (names: [string, Record<string, string>][], work: () => Promise<unknown>) => {
    const before = await MetricSamples.read(service);
    await work();
    const after = await MetricSamples.read(service);
    return names.map(([name, labels]) => after.value(name, labels) - before.value(name, labels));
  };

  it('is answered in the text format of Prometheus, with the metrics of the process', async () => {
    const answer = await service.fetch('/metrics');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await MetricSamples.read(service)).value('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  it('counts exchanges and logins that succeed', async () => {
    const counted = await growth(
      [
        [EXCHANGES, { outcome: 'succeeded' }],
        [LOGINS, { outcome: 'succeeded' }],
        [EXCHANGES, { outcome: 'failed' }],
        [LOGINS, { outcome: 'failed' }],
      ],
      async () => {
        await service.accessToken({ subject_token: partner.sign() });
        await service.accessToken({ subject_token: partner.sign() });
        await service.sessionCookie(partner.sign());
      },
    );
    expect(counted).toEqual([2, 1, 0, 0]);
  });

  it.each(ONE_OF_EACH_REASON)(
    'counts a refusal of each flow by its reason: $reason ($name)',
    async ({ reason, make }) => {
      const [first, second] = [await make(cast, service), await make(cast, service)];
      const reasons: [string, Record<string, string>][] = [EXCHANGES, LOGINS].flatMap((name) => [
        [name, { outcome: 'failed', reason }],
        [name, { outcome: 'failed' }],
      ]);
      const counted = await growth(reasons, async () => {
        await service.exchange({ subject_token: first });
        await service.embed({ token: second });
      });
      expect(counted).toEqual([1, 1, 1, 1]);
    },
  );

  it('observes how long the stages of each flow take, failed ones too', async () => {
    const stages = (['exchange', 'embed'] as const).flatMap((flow) =>
      ['verify', 'consume', 'resolve', 'issue'].map((stage): [string, Record<string, string>] => [
        STAGES,
        { flow, stage },
      ]),
    );
    const counted = await growth(stages, async () => {
      await service.accessToken({ subject_token: partner.sign() });
      await service.embed({ token: 'x' });
    });
    expect(counted).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
  });

  it('tells how many keys each entry of the configuration has', async () => {
    const held = (await MetricSamples.read(service)).named(KEYS);
    const counts = held.map(({ labels, value }) => [labels['issuer'], value]);
    expect(counts).toEqual([
      [partner.issuer, 1],
      [cast.revoked.issuer, 1],
      [publisher.issuer, 2],
    ]);
  });

  it('[D23] no label holds anything that a client sent', async () => {
    const marker = 'Zq9marker';
    await service.fetch(`/${marker}?${marker}=1`, { headers: { 'user-agent': marker } });
    await service.exchange({ grant_type: marker, scope: marker, subject_token: marker });
    await service.embed({ token: marker });
    const claims = { iss: `https://${marker}.example`, sub: marker, role: marker, jti: marker };
    await service.exchange({
      subject_token: partner.sign(partner.claims(claims), { kid: marker, alg: marker }),
    });
    await service.exchange({ subject_token: partner.sign(partner.claims({ sub: marker, role: marker })) });
    await service.exchange({ subject_token: partner.sign(partner.claims({ sub: marker })), scope: marker });
    const samples = await MetricSamples.read(service);
    expect(JSON.stringify(samples.all)).not.toContain(marker);
    expect(new Set(samples.named(EXCHANGES).flatMap(({ labels }) => Object.keys(labels)))).toEqual(
      new Set(['outcome', 'reason']),
    );
  });

  it('counts throttle refusals by flow', async () => {
    const flows: [string, Record<string, string>][] = [
      [REFUSALS, { flow: 'embed' }],
      [REFUSALS, { flow: 'exchange' }],
    ];
    const use = async (send: () => Promise<Response>, over: number) => {
      while ((await send()).status !== 429);
      for (let index = 1; index < over; index++) await send();
    };
    const counted = await growth(flows, async () => {
      await use(() => service.embed({}), 3);
      await use(() => service.exchange({}), 2);
    });
    expect(counted).toEqual([3, 2]);
  });
});
