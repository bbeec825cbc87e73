// A key set that takes longer to come than a request may wait for the database: the token is taken all the same.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer, body, delayed } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

jest.setTimeout(180_000);
const PATIENCE_MS = 60_000;
const ISSUER = 'https://acme.example';
const WAIT_MS = 1_000;
const FETCH_MS = 2_500;

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
      await until('the first keys are fetched', PATIENCE_MS, () => server.requestCount > 0);
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
