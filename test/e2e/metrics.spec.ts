// What /metrics counts, that each metric is documented and used as documented, and that no label contains a value from a client.
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { JwksKeyProvider } from '../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { Cast } from '../support/attacks.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { body, JwksServer, status } from '../support/jwks-server.js';
import { MetricSamples, metricsOf } from '../support/metric-samples.js';
import { promtool, promtoolIsMissing } from '../support/promtool.js';
import { repositoryFile } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const EXCHANGES = 'svc_token_exchanges_total';
const LOGINS = 'svc_embed_logins_total';
const REFUSALS = 'svc_throttle_refusals_total';
const STAGES = 'svc_stage_duration_seconds_count';
const KEYS = 'svc_trusted_keys';
const FORMS = 'svc_request_refusals_total';
const FETCHES = 'svc_jwks_fetches_total';
const LIMIT = 200;
const DASHBOARD = 'deploy/observability/grafana-dashboard.json';
const ALERTS = 'deploy/observability/alerts.yml';
const METRIC = /\b(?:svc|process|nodejs)_\w+/g;
const OF_HISTOGRAM = /_(?:bucket|count|sum)$/;

describeOnAnyDatabase('[D23] metrics', (database) => {
  const cast = new Cast();
  const partner = cast.main;
  const publisher = Partner.create({ issuer: 'https://publisher.example' });
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    publisher.rotate();
    jwks.publish(publisher.jwks());
    const fetched = { type: 'jwks', name: 'the publisher', url: jwks.url, issuer: publisher.issuer };
    const environment = {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      // The purge runs only if a test asks for it.
      SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS: '3600',
      SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: String(LIMIT),
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: String(LIMIT),
    };
    return { trustedKeys: [cast.mainEntry, fetched, cast.revoked.staticEntry()], environment };
  });

  /** How much each named value grows while something is done. */
  const growth = async (names: [string, Record<string, string>][], work: () => Promise<unknown>) => {
    const before = await MetricSamples.read(service);
    await work();
    const after = await MetricSamples.read(service);
    return names.map(([name, labels]) => after.value(name, labels) - before.value(name, labels));
  };

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

  it('observes the duration of each stage of each flow, also if the stage fails', async () => {
    const stages = (['exchange', 'embed'] as const).flatMap((flow) =>
      ['verify', 'use', 'record', 'apply'].map((stage): [string, Record<string, string>] => [
        STAGES,
        { flow, stage },
      ]),
    );
    const counted = await growth(stages, async () => {
      const token = (claims: object = {}) => partner.sign(partner.claims({ sub: 'new-here', ...claims }));
      await service.accessToken({ subject_token: token() });
      await service.accessToken({ subject_token: token() });
      await service.accessToken({ subject_token: token({ given_name: 'Renamed' }) });
      await service.embed({ token: 'x' });
    });
    // Only a change of a user needs a transaction.
    expect(counted).toEqual([3, 3, 2, 1, 1, 0, 0, 0]);
  });

  it('[P.name] reports the number of keys of each configured entry by its name', async () => {
    const keys = async () => (await MetricSamples.read(service)).named(KEYS);
    const isFetched = async () => (await keys()).some(({ value }) => value === 2);
    await until('the key set is fetched', 60_000, isFetched);
    const counts = (await keys()).map(({ labels, value }) => [labels['entry'], labels['issuer'], value]);
    expect(counts).toEqual([
      ['entry-0', partner.issuer, 1],
      ['entry-2', cast.revoked.issuer, 1],
      ['the publisher', publisher.issuer, 2],
    ]);
  });

  it('[D91] counts requests that are refused before their token is read, by reason', async () => {
    const reasons = ['unsupported_grant_type', 'field_invalid', 'not_a_form', 'payload_too_large'];
    const counts = reasons.map((reason): [string, Record<string, string>] => [
      FORMS,
      { flow: 'exchange', reason },
    ]);
    const ofLogins: [string, Record<string, string>] = [FORMS, { flow: 'embed', reason: 'token_missing' }];
    const ofRevocations: [string, Record<string, string>] = [FORMS, { flow: 'revocation' }];
    const path = '/rest/auth/oauth/token';
    const counted = await growth([...counts, ofLogins, ofRevocations], async () => {
      await service.exchange({});
      await service.exchange({ grant_type: 'password' });
      await service.fetch(path, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      });
      await service.exchange({ subject_token: 'x'.repeat(2 ** 20) });
      await service.embed({});
      await service.post('/rest/auth/oauth/revoke', {});
    });
    expect(counted).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('[D91] counts fetches of key sets by outcome, and reports the state of each entry', async () => {
    const entry = { issuer: publisher.issuer };
    const [cached] = service.part(JwksKeyProvider).cached;
    /** A fetch is counted when it ends. Its keys are used a moment later. */
    const refetch = async (outcome: string, state: string, keys: number) => {
      const before = (await MetricSamples.read(service)).value(FETCHES, { outcome });
      let samples = await MetricSamples.read(service);
      await until(`a fetch ended by ${outcome}, and is told of`, 60_000, async () => {
        // Repeated, because reading the state of the previous fetch again would undo it.
        cached?.refreshSoon();
        samples = await MetricSamples.read(service);
        const isTold =
          samples.value('svc_jwks_state', { ...entry, state }) === 1 && samples.value(KEYS, entry) === keys;
        return samples.value(FETCHES, { outcome }) > before && isTold;
      });
      return samples;
    };
    const fine = await refetch('succeeded', 'held', 2);
    expect(fine.value('svc_jwks_keys_age_seconds', entry)).toBeLessThan(60);
    expect(fine.value('svc_jwks_next_refresh_seconds', entry)).toBeGreaterThan(60);
    for (const [outcome, answer] of [
      ['status', status(500)],
      ['not_a_key_set', body('{}')],
      ['answer_refused', body('{"keys":[]}', { 'content-encoding': 'gzip' })],
    ] as const) {
      jwks.answerWith(answer);
      await refetch(outcome, 'stale', 2);
    }
    jwks.publish({ keys: [] });
    await refetch('no_usable_key', 'no_usable_key', 0);
    jwks.publish(publisher.jwks());
  });

  it('[D91] reports the database, who leads, the version, and replay records with their purges', async () => {
    await service.rows(
      `INSERT INTO token_exchange_used_jti SELECT gen_random_uuid(), now() - interval '1 day' FROM generate_series(1, 5)`,
    );
    const samples = await MetricSamples.read(service);
    const values = ['svc_database_up', 'svc_leader'].map((name) => samples.value(name));
    expect(values).toEqual([1, 1]);
    expect(samples.named('svc_build_info').map(({ labels, value }) => [labels['version'], value])).toEqual([
      [VERSION, 1],
    ]);
    const pool = samples.named('svc_database_pool_connections');
    expect(pool.map(({ labels }) => labels['state'])).toEqual(['in_use', 'idle']);
    expect(pool.reduce((sum, { value }) => sum + value, 0)).toBeGreaterThan(0);
    expect(samples.value('svc_database_pool_size')).toBe(database.kind === 'postgresql' ? 10 : 1);
    expect(samples.named('svc_replay_records')).toHaveLength(1);
    const counted = await growth(
      [
        ['svc_replay_records_purged_total', {}],
        ['svc_replay_purges_total', { outcome: 'succeeded' }],
        ['svc_replay_purges_total', { outcome: 'failed' }],
      ],
      () => service.purge('jti-purge'),
    );
    expect(counted).toEqual([5, 1, 0]);
  });

  it('[D23] no label contains a value that a client sent', async () => {
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

  describe('[D91] the names of metrics', () => {
    let exposition: string;
    beforeAll(async () => {
      exposition = await metricsOf(service);
    });

    const served = () => [...exposition.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name ?? '');
    const rows = repositoryFile('docs/reference/metrics.md')
      .text.split('\n')
      .filter((line) => line.startsWith('- `svc_'));
    const own = () => served().filter((name) => name.startsWith('svc_'));
    const namedIn = (text: string) =>
      new Set([...text.matchAll(METRIC)].map(([name]) => name.replace(OF_HISTOGRAM, '')));

    /** The name and labels of a row, which are written as in PromQL. */
    const headOf = (row: string): string[] => /`(\w+)(?:\{([\w,]+)\})?`/.exec(row) ?? [];

    it('are in the list of docs/reference/metrics.md, each of them and no others', () => {
      const documented = rows.map((row) => headOf(row)[1] ?? '');
      expect(own().length).toBeGreaterThan(15);
      expect(documented.sort()).toEqual(own().sort());
    });

    it('have each label in that list', () => {
      const labels = [...exposition.matchAll(/^(svc_\w+)\{(.+)\} /gm)].flatMap(([, name = '', pairs = '']) =>
        [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => [name.replace(OF_HISTOGRAM, ''), label ?? '']),
      );
      expect(labels.length).toBeGreaterThan(10);
      const undocumented = labels.filter(([name, label]) => {
        const [, , documented] = rows.map(headOf).find(([, each]) => each === name) ?? [];
        return label !== 'le' && !documented?.split(',').some((each) => each === label);
      });
      expect(undocumented).toEqual([]);
    });

    it.each([DASHBOARD, ALERTS])('that %s asks for are served', (path) => {
      const names = [...namedIn(repositoryFile(path).text)];
      expect(names.length).toBeGreaterThan(8);
      expect(names.filter((name) => !served().includes(name))).toEqual([]);
    });

    it('are all on the dashboard', () => {
      const shown = namedIn(repositoryFile(DASHBOARD).text);
      expect(own().filter((name) => !shown.has(name))).toEqual([]);
    });

    const missing = promtoolIsMissing();
    if (missing !== undefined) it.skip(`skipped: ${missing}`, () => undefined);
    else
      it('and their units and help are as Prometheus wants them', () => {
        // Names of prom-client's own are not ours to choose.
        const ours = exposition.split('\n').filter((line) => /^(# \w+ )?svc_/.test(line));
        expect(promtool(['check', 'metrics'], { input: `${ours.join('\n')}\n` })).toBe('');
      });
  });
});
