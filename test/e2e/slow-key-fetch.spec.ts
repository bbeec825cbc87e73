// A slow key set: its tokens are still accepted, and tokens of other issuers are not delayed.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { body, delayed, JwksServer } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 60_000;
const ISSUER = 'https://acme.example';
/** This machine may be busy: below it the database has to answer. */
const WAIT_MS = 2_000;
/** Longer than that, and much shorter than the five seconds of a fetch. */
const FETCH_MS = 3_000;

describeOnAnyDatabase(
  '[D49] a fetch of keys that takes longer than the limit of the database',
  (database) => {
    const before = Partner.create({ issuer: ISSUER, kid: 'before', audience: BASE_URL });
    const after = Partner.create({ issuer: ISSUER, kid: 'after', audience: BASE_URL });
    const server = JwksServer.forBlock();
    const service = TestService.forBlock(database, () => {
      server.publish(before.jwks());
      return {
        trustedKeys: [{ type: 'jwks', url: server.url, issuer: ISSUER, cacheTtlSeconds: 86_400 }],
        environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true', SVC_DATABASE_WAIT_MS: String(WAIT_MS) },
      };
    });

    beforeAll(async () => {
      await until('the first keys are asked for', PATIENCE_MS, () => server.requestCount > 0);
      // The fetched keys are used. A request during the fetch waits for it and starts no other.
      const answer = await service.exchange({ subject_token: before.sign() });
      expect([answer.status, server.requestCount]).toEqual([200, 1]);
    });

    it('does not end the exchange', async () => {
      server.answerWith(delayed(FETCH_MS, body(JSON.stringify(after.jwks()))));
      const token = after.sign(after.claims({ sub: 'alice', email: 'alice@acme.example' }));
      const answer = await service.exchange({ subject_token: token });
      expect([answer.status, server.requestCount]).toEqual([200, 2]);
    });
  },
);
