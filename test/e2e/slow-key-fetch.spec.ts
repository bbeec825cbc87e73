// A key set that is slow to come: its tokens are taken all the same, and those of other issuers are not held up.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer, body, delayed, silence } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);
const PATIENCE_MS = 60_000;
const ISSUER = 'https://acme.example';
/** This machine may be busy: below it the database has to answer. */
const WAIT_MS = 3_000;
/** Longer than that, and shorter than the five seconds of a fetch. */
const FETCH_MS = 4_000;

describeOnAnyDatabase(
  '[D49] a fetch of keys that takes longer than the limit of the database',
  (database) => {
    const before = Partner.create({ issuer: ISSUER, kid: 'before', audience: BASE_URL });
    const after = Partner.create({ issuer: ISSUER, kid: 'after', audience: BASE_URL });
    let service: TestService | undefined;
    let server: JwksServer;

    beforeAll(async () => {
      server = await JwksServer.listen();
      server.publish(before.jwks());
      service = await TestService.start(database, {
        trustedKeys: [{ type: 'jwks', url: server.url, issuer: ISSUER, cacheTtlSeconds: 86_400 }],
        environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true', SVC_DATABASE_WAIT_MS: String(WAIT_MS) },
      });
      await until('the first keys are asked for', PATIENCE_MS, () => server.requestCount > 0);
      // And used: whoever comes while they are fetched waits for that fetch, and has no other.
      const answer = await service.exchange({ subject_token: before.sign() });
      expect([answer.status, server.requestCount]).toEqual([200, 1]);
    }, PATIENCE_MS);
    afterAll(async () => {
      await service?.stop();
      await server?.close();
    });

    it('does not end the exchange', async () => {
      server.answerWith(delayed(FETCH_MS, body(JSON.stringify(after.jwks()))));
      const token = after.sign(after.claims({ sub: 'alice', email: 'alice@acme.example' }));
      const answer = await service?.exchange({ subject_token: token });
      expect([answer?.status, server.requestCount]).toEqual([200, 2]);
    });
  },
);

describeOnAnyDatabase('[D34] a key set that hangs', (database) => {
  const LIMIT = 40;
  const junk = Partner.create({ issuer: ISSUER, kid: 'nobody', audience: BASE_URL });
  const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });
  let service: TestService;
  let server: JwksServer;

  beforeAll(async () => {
    server = await JwksServer.listen();
    server.answerWith(silence());
    service = await TestService.start(database, {
      trustedKeys: [{ type: 'jwks', url: server.url, issuer: ISSUER }, other.staticEntry()],
      environment: {
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_MAX_REQUESTS_IN_PROGRESS: String(LIMIT),
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000',
      },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.close();
  });

  it('leaves places to other issuers, also where its senders hang up', async () => {
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: junk.sign(),
    });
    const hangUp = new AbortController();
    const statuses: number[] = [];
    const sent = Array.from({ length: LIMIT }, async () => {
      const request = { method: 'POST', body, signal: hangUp.signal };
      statuses.push((await service.fetch('/rest/auth/oauth/token', request)).status);
    });
    await until('eight are refused', PATIENCE_MS, () => statuses.length >= 8);
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 400));
    hangUp.abort();
    await Promise.allSettled(sent);
    const token = other.sign(other.claims({ sub: 'bob', email: 'bob@other.example' }));
    expect((await service.exchange({ subject_token: token })).status).toBe(200);
  });
});
