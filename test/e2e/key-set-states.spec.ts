// What is said of key sets that misbehave in six ways: one state each, the same in every place, and the reason for a refused token.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { explain } from '../support/explanations.js';
import type { JwksAnswer } from '../support/jwks-server.js';
import { body, brokenOff, JwksServer, status } from '../support/jwks-server.js';
import { MetricSamples } from '../support/metric-samples.js';
import { createOperator, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 60_000;

interface Case {
  readonly name: string;
  /** Left out: its own key set, as it should be. */
  readonly first?: (partner: Partner) => JwksAnswer;
  readonly then?: JwksAnswer;
  readonly hasLapsed?: true;
  readonly state: string;
  readonly reason: string | null;
}

const privateKeys = ({ kid }: { kid: string }) =>
  body(JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', kid, d: 'AA', x: 'AA', y: 'AA' }] }));
const HTML = body('<html>Sign in</html>');
const NO_JSON = 'the answer is no usable JSON: not valid JSON';

const CASES: readonly Case[] = [
  { name: 'html', first: () => HTML, state: 'never_held', reason: expect.stringContaining(NO_JSON) },
  { name: 'gone', first: () => status(404), state: 'never_held', reason: 'status 404' },
  { name: 'empty', first: () => body('{"keys":[]}'), state: 'no_usable_key', reason: 'the set has no keys' },
  {
    name: 'private',
    first: (partner) => privateKeys(partner.staticEntry()),
    state: 'no_usable_key',
    reason: 'key 0 (kid "private-key") has private members',
  },
  { name: 'stale', then: HTML, state: 'stale', reason: expect.stringContaining(NO_JSON) },
  { name: 'lapsed', then: brokenOff(), hasLapsed: true, state: 'lapsed', reason: expect.any(String) },
  { name: 'good', state: 'held', reason: null },
];

interface Told {
  readonly entry: string;
  readonly state: string;
  readonly reason: string | null;
  readonly servesUntil: string | null;
  readonly kids: readonly string[];
}

describeOnEachDatabase('the state of a key set', (database) => {
  const all = CASES.map((one) => ({
    ...one,
    server: JwksServer.forBlock(),
    partner: Partner.create({
      issuer: `https://${one.name}.example`,
      kid: `${one.name}-key`,
      audience: BASE_URL,
    }),
  }));
  const named = (name: string) => all.find((one) => one.name === name)!;
  const isInUse = ({ state }: Case) => ['held', 'stale'].includes(state);
  const allowHttp = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };
  const trustedKeys = () =>
    all.map(({ name, server, partner }) => ({
      ...{ type: 'jwks', name, url: server.url, issuer: partner.issuer, expectedAudience: BASE_URL },
    }));
  const line = CommandLine.beside(database, trustedKeys);
  const refresh = async (...args: string[]) => {
    const { exitCode, stdout } = await line.run(['keys', 'refresh', '--wait', '60', '--json', ...args]);
    return { exitCode, told: JSON.parse(stdout) as Told[] };
  };
  const service = TestService.forBlock(database, () => {
    for (const { first, server, partner } of all)
      if (first === undefined) server.publish(partner.jwks());
      else server.answerWith(first(partner));
    return { trustedKeys: trustedKeys(), environment: { ...OPERATOR_ENVIRONMENT, ...allowHttp } };
  });

  beforeAll(async () => {
    const tried = 'SELECT FROM token_exchange_jwks_snapshot WHERE revision > 0';
    await until('each was tried', PATIENCE_MS, async () => (await service.rows(tried)).length === all.length);
    for (const { then, server } of all) if (then !== undefined) server.answerWith(then);
  });

  const expected = all.map(({ name, state, reason }) =>
    expect.objectContaining({ entry: name, state, reason }),
  );

  it('[D36] keys refresh fetches each set, says it of each, and exits with 1 unless the set serves as it should', async () => {
    await refresh();
    expect(JSON.stringify(await eventsOf(service))).toContain('"operation":"keys refresh"');
    await service.rows(
      `UPDATE token_exchange_jwks_snapshot SET fresh_until = now() - interval '25 hours', revision = revision + 1
       WHERE url = $1`,
      [named('lapsed').server.url],
    );
    const { exitCode, told } = await refresh();
    expect([exitCode, told]).toEqual([1, expected]);
    for (const [name, code] of [
      ['good', 0],
      ['stale', 1],
      ['empty', 1],
    ] as const)
      expect([name, (await refresh(name)).exitCode]).toEqual([name, code]);
  });

  it('keys status says it, with the keys that serve alone and until when', async () => {
    const told = JSON.parse(await line.output(['keys', 'status', '--json'])) as Told[];
    expect(told).toEqual(expected);
    for (const { entry, servesUntil, kids } of told) {
      const one = named(entry);
      expect([entry, kids]).toEqual([entry, isInUse(one) ? [one.partner.staticEntry()['kid']] : []]);
      const untilMs = Date.parse(servesUntil ?? '') - Date.now();
      expect([entry, Math.sign(untilMs)]).toEqual([
        entry,
        isInUse(one) ? 1 : servesUntil === null ? NaN : -1,
      ]);
    }
    const text = await line.output(['keys', 'status']);
    expect(text).toMatch(/stale {2,}.*stale, used until \d{4}-.*: the answer is no usable JSON/);
    expect(text).toMatch(/lapsed since \d{4}-/);
  });

  it("so do the operator's page, readiness and metrics", async () => {
    await createOperator(service, 'ada@example.com');
    const browser = await signedIn(service, 'ada@example.com');
    const { data } = (await (await browser.get('entries')).json()) as {
      data: { entry: string; keySet: object }[];
    };
    expect(data.map(({ entry, keySet }) => ({ entry, ...keySet }))).toEqual(expected);
    await until('the service has heard of all', PATIENCE_MS, async () => {
      const samples = await MetricSamples.read(service);
      return all.every(({ name, state }) => samples.value('svc_jwks_state', { entry: name, state }) === 1);
    });
    expect(await (await service.fetch('/healthz/readiness')).json()).toMatchObject({
      status: 'ready',
      tokenExchange: { keySets: { never_held: 2, no_usable_key: 2, stale: 1, lapsed: 1, held: 1 } },
    });
  });

  it('the log has each that does not serve as it should, with why', async () => {
    for (const { name, state, reason } of all.filter((one) => one.state !== 'held')) {
      const lines = () => service.log.filter((one) => one['entry'] === name && one['state'] === state);
      await until(`the log has ${name}`, PATIENCE_MS, () => lines().length > 0);
      expect(lines()[0]).toMatchObject({ reason, level: state === 'stale' ? 'warn' : 'error' });
    }
  });

  it.each(all.map((one) => [one.name, one] as const))(
    'a token of %s is taken where keys serve, else refused and explained by the key set',
    async (_name, one) => {
      const token = one.partner.sign();
      const { outcome, refusal, checks } = await explain(service, { flow: 'exchange', token });
      const answer = await service.exchange({ subject_token: token });
      const events = await eventsOf(service, answer);
      if (isInUse(one)) {
        expect([outcome, answer.status]).toEqual(['accepted', 200]);
        return;
      }
      expect([outcome, refusal?.reason, answer.status]).toEqual(['refused', 'key_set_unavailable', 400]);
      const found = checks.find(({ state }) => state === 'failed')?.found;
      if (typeof one.reason === 'string') expect(found).toContain(one.reason);
      expect(events).toMatchObject([
        { payload: { reason: 'key_set_unavailable', issuer: one.partner.issuer, found } },
      ]);
    },
  );

  it('[D36] keys refresh fails with a message if no instance fetches', async () => {
    await service.stop();
    const { exitCode, stderr } = await line.run(['keys', 'refresh', '--wait', '1']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('No service fetched within 1 seconds')]);
    await service.restart();
  });
});
