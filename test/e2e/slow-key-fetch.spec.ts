// A slow key set: its tokens are still accepted, and tokens of other issuers are not delayed.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { body, delayed, JwksServer, silence } from '../support/jwks-server.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';
import { pause, until } from '../support/until.js';

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
    let service: TestService | undefined;
    const server = JwksServer.forBlock();

    beforeAll(async () => {
      server.publish(before.jwks());
      service = await TestService.start(database, {
        trustedKeys: [{ type: 'jwks', url: server.url, issuer: ISSUER, cacheTtlSeconds: 86_400 }],
        environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true', SVC_DATABASE_WAIT_MS: String(WAIT_MS) },
      });
      await until('the first keys are asked for', PATIENCE_MS, () => server.requestCount > 0);
      // The fetched keys are used. A request during the fetch waits for it and starts no other.
      const answer = await service.exchange({ subject_token: before.sign() });
      expect([answer.status, server.requestCount]).toEqual([200, 1]);
    });
    afterAll(() => service?.stop());

    it('does not end the exchange', async () => {
      server.answerWith(delayed(FETCH_MS, body(JSON.stringify(after.jwks()))));
      const token = after.sign(after.claims({ sub: 'alice', email: 'alice@acme.example' }));
      const answer = await service?.exchange({ subject_token: token });
      expect([answer?.status, server.requestCount]).toEqual([200, 2]);
    });
  },
);

describeOnAnyDatabase('[D34] key sets that hang', (database) => {
  /** For one fetch, and for all. */
  const [MOST, MAX_IN_ALL] = [32, 100];
  const SETS = 4;
  const SOME_MS = 200;
  const hanging = Array.from({ length: SETS }, (_, index) =>
    Partner.create({ issuer: `https://hanging-${index}.example`, kid: 'unknown', audience: BASE_URL }),
  );
  const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });
  const server = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    server.answerWith(silence());
    return {
      trustedKeys: [
        ...hanging.map(({ issuer }, index) => ({ type: 'jwks', url: `${server.url}/${index}`, issuer })),
        other.staticEntry(),
      ],
      environment: {
        SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
        SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1000',
      },
    };
  });

  it('leave places to other issuers, also where their senders hang up', async () => {
    const statuses: number[] = [];
    const hangUp = new AbortController();
    const send = (partner: Partner) => async () => {
      const fields = { grant_type: GRANT_TYPE, subject_token: partner.sign() };
      const request = { method: 'POST', body: new URLSearchParams(fields), signal: hangUp.signal };
      statuses.push((await service.fetch('/rest/auth/oauth/token', request)).status);
    };
    const sendTo = (partner: Partner) => Array.from({ length: MOST + 1 }, send(partner));
    const expectRefused = async (count: number) => {
      await until('as many are refused', PATIENCE_MS, () => statuses.length >= count);
      // Where more waited, all would end with the fetch.
      await pause(SOME_MS);
      expect(statuses).toEqual(Array.from({ length: count }, () => 400));
    };
    const [first, ...others] = hanging;
    const sent = first === undefined ? [] : sendTo(first);
    await expectRefused(1);
    sent.push(...others.flatMap(sendTo));
    await expectRefused(SETS * (MOST + 1) - MAX_IN_ALL);
    hangUp.abort();
    await Promise.allSettled(sent);
    const token = other.sign(other.claims({ sub: 'bob', email: 'bob@other.example' }));
    expect((await service.exchange({ subject_token: token })).status).toBe(200);
  });
});
