// The conditions for the two endpoints (flag, licence, switches), and readiness.
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { JwksServer, status } from '../support/jwks-server.js';
import { licenseEnvironment } from '../support/license.js';
import { MetricSamples } from '../support/metric-samples.js';
import { sendRaw } from '../support/raw-http.js';
import { TestClock } from '../support/test-clock.js';
import type { TestService } from '../support/test-service.js';
import { BASE_URL } from '../support/test-service.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const FLAG = 'SVC_ENV_FEAT_TOKEN_EXCHANGE';
const SOON_MS = 60_000;

describeOnAnyDatabase('[1.4] availability', (database) => {
  it('[D39] both endpoints answer like an unknown path after the licence has ended in a running service', async () => {
    const clock = new TestClock();
    const exp = clock.nowSeconds() + 100;
    const environment = await licenseEnvironment({ exp });
    await withService(database, { trustedKeys, environment, clock }, async (service) => {
      await expectPresent(service, clock);
      const samples = await MetricSamples.read(service);
      expect(samples.value('svc_license_expires_seconds')).toBeCloseTo(exp - clock.nowSeconds(), 3);
      clock.advance(exp - clock.nowSeconds() - 0.001);
      await expectPresent(service, clock);
      clock.advance(0.001);
      await expectAbsent(service);
    });
  });

  const OFF = 'token exchange is off, and its endpoints answer 404: ';

  it.each([
    [
      'the flag True',
      'not_enabled',
      { [FLAG]: 'True' },
      /is set, but turns the feature on only as exactly true/,
    ],
    ['no licence', 'not_licensed', { SVC_LICENSE: undefined }, /there is no licence/],
  ])(
    '[5.1.1][7.1][D39] with %s both endpoints answer like an unknown path, one log line has the cause, and readiness reports %s',
    async (_, word, environment, why) => {
      await withService(database, { trustedKeys, environment }, async (service) => {
        const lines = service.log.filter(({ msg }) => String(msg).startsWith(OFF));
        expect(lines).toEqual([expect.objectContaining({ level: 'warn', msg: expect.stringMatching(why) })]);
        const answer = await service.fetch('/healthz/readiness');
        expect([answer.status, await answer.json()]).toEqual([
          200,
          { status: 'ready', tokenExchange: { available: false, reason: word } },
        ]);
        await expectAbsent(service);
        expect((await service.fetch('/rest/me')).status).toBe(401);
      });
    },
  );

  it.each([
    ['both', 'true', 'true', 303, 200],
    ['embedded login alone', 'true', 'false', 303, 501],
    ['token exchange alone', 'false', 'true', 501, 200],
    ['neither', undefined, undefined, 501, 501],
  ])('[5.1.3][5.1.4] the switches are independent: %s', async (_, embedOn, exchangeOn, embed, exchange) => {
    const environment = { SVC_EMBED_LOGIN_ENABLED: embedOn, SVC_TOKEN_EXCHANGE_ENABLED: exchangeOn };
    await withService(database, { trustedKeys, environment }, async (service) => {
      expect((await service.embed({ token: partner.sign() })).status).toBe(embed);
      expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(exchange);
    });
  });

  it("[7.2][7.3] endpoints that are switched off answer 501 with the specification's message", async () => {
    const environment = { SVC_EMBED_LOGIN_ENABLED: 'false', SVC_TOKEN_EXCHANGE_ENABLED: 'false' };
    const messageOf = (what: string) => `${what} is not enabled on this instance`;
    await withService(database, { trustedKeys, environment }, async (service) => {
      const exchange = await service.exchange({ subject_token: partner.sign() });
      const message = messageOf('Token exchange');
      expect(await exchange.json()).toEqual({ error: 'server_error', error_description: message, message });
      for (const answer of [
        await service.embed({ token: partner.sign() }),
        await service.fetch('/rest/auth/embed?token=%zz'),
      ]) {
        expect(answer.headers.get('set-cookie')).toBeNull();
        const body = { error: 'not_enabled', message: messageOf('Embed login') };
        expect([answer.status, await answer.json()]).toEqual([501, body]);
      }
    });
  });
});

describeOnEachDatabase('health', (database) => {
  const jwks = JwksServer.forBlock();
  const entry = (url: string) => ({ type: 'jwks', url, issuer: 'https://fetched.example' });
  const environment = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };
  const readiness = async (service: TestService) => (await service.fetch('/healthz/readiness')).status;

  it('becomes ready after the first fetch of the key set, even if it fails. Health and version are available before', async () => {
    let finish = () => undefined as unknown;
    jwks.answerWith((response, request) => (finish = () => status(500)(response, request)));
    const options = { trustedKeys: [...trustedKeys, entry(jwks.url)], environment };
    await withService(database, options, async (service) => {
      await until('it comes about', SOON_MS, () => jwks.requestCount > 0);
      const answer = await service.fetch('/healthz/readiness');
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ error: 'not_ready' });
      const health = await service.fetch('/healthz');
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok', version: VERSION }]);
      finish();
      await until('it comes about', SOON_MS, async () => (await readiness(service)) === 200);
      // A ready instance stays ready, and static keys work.
      expect((await service.exchange({ subject_token: partner.sign() })).status).toBe(200);
    });
  });
});

async function expectPresent(service: TestService, clock = new TestClock()): Promise<void> {
  const token = () => partner.sign(partner.claims({ iat: clock.nowSeconds() }));
  expect((await service.embed({ token: token() })).status).toBe(303);
  expect((await service.exchange({ subject_token: token() })).status).toBe(200);
}

/** Expects the same bytes as for an unknown path, except values that differ in every answer. */
async function expectAbsent(service: TestService): Promise<void> {
  const body = `token=${partner.sign()}&subject_token=${partner.sign()}`;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answerTo = async (target: string, method: string) => {
    const answer = await sendRaw(service.address, { target, method, headers, body });
    const { date, 'x-request-id': id, ...rest } = answer?.headers ?? {};
    expect([typeof date, typeof id]).toEqual(['string', 'string']);
    return { ...answer, headers: rest };
  };
  const unknown = await answerTo('/rest/auth/never-was', 'POST');
  expect(unknown).toMatchObject({ status: 404, body: expect.stringContaining('"not_found"') });
  for (const method of ['POST', 'GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    expect(await answerTo('/rest/auth/embed', method)).toEqual(unknown);
    expect(await answerTo('/rest/auth/oauth/token', method)).toEqual(unknown);
  }
}
