// The edge of both flows: the order of checking, request ids, caching.
import { Partner } from '../../demo/partner.js';
import { auditLines, eventsOf, requestIdOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { EMBED_PATH } from '../support/entry-paths.js';
import { licenseEnvironment } from '../support/license.js';
import { login } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { withService, withServiceApart } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const TOKEN_PATH = '/rest/auth/oauth/token';
const JSON_TYPE = { 'content-type': 'application/json' };

describeOnAnyDatabase('[D20] the order of checking', (database) => {
  it('[B.body][D20] is licence, throttle, switch, then content type and size of the body', async () => {
    const clock = new TestClock();
    const environment = {
      ...(await licenseEnvironment({ exp: Math.floor(clock.nowSeconds()) + 390 })),
      SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1',
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1',
      SVC_EMBED_LOGIN_ENABLED: 'false',
      SVC_TOKEN_EXCHANGE_ENABLED: 'false',
    };
    const json = { method: 'POST', body: '{', headers: JSON_TYPE };
    const unreadable = [
      json,
      { ...json, body: 'x'.repeat(300_000) },
      { ...json, headers: { 'content-type': 'x' } },
    ];
    await withService(database, { trustedKeys, clock, environment }, async (service) => {
      for (const path of [TOKEN_PATH, EMBED_PATH])
        for (const request of unreadable) {
          expect((await service.fetch(path, request)).status).toBe(501);
          expect((await service.fetch(path, request)).status).toBe(429);
          clock.advance(60);
        }
      for (const path of [TOKEN_PATH, EMBED_PATH]) expect((await service.fetch(path, json)).status).toBe(501);
      // Within the minute of the throttle.
      clock.advance(31);
      for (const path of [TOKEN_PATH, EMBED_PATH])
        for (const request of unreadable) {
          const answer = await service.fetch(path, request);
          expect([answer.status, await answer.json()]).toMatchObject([404, { error: 'not_found' }]);
        }
    });
  });
});

describeOnAnyDatabase('[D21] request ids and caching', (database) => {
  const service = TestService.forBlock(database, { trustedKeys, environment: { SVC_LOG_LEVEL: 'debug' } });

  it('[D21] a well-formed id is kept: in the answer, the log and the audit row', async () => {
    const id = 'A-b_c.d:e';
    const answer = await service.exchange({ subject_token: 'x' }, { 'x-request-id': id });
    expect(answer.headers.get('x-request-id')).toBe(id);
    expect(await eventsOf(service, id)).toMatchObject([{ payload: { reason: 'token_malformed' } }]);
    expect(auditLines(service, id)).toMatchObject([{ payload: { reason: 'token_malformed' } }]);
    const requestLines = service.log.filter(({ requestId, msg }) => requestId === id && msg === 'request');
    expect(requestLines).toMatchObject([{ method: 'POST', route: TOKEN_PATH, status: 400 }]);
  });

  it.each([
    ['an exchange', () => service.exchange({ subject_token: partner.sign() })],
    ['a login', () => service.embed({ token: partner.sign() })],
  ])('%s that succeeds has no line of its request in the log beside its audit events', async (_, send) => {
    const messagesOf = (id: string) =>
      service.log
        .filter(({ requestId, level }) => requestId === id && level !== 'debug')
        .map(({ msg }) => msg);
    const [id, later] = [requestIdOf(await send()), requestIdOf(await service.fetch(TOKEN_PATH))];
    await until('the line of a later answer', 60_000, () => messagesOf(later).includes('request'));
    expect(messagesOf(id)).toContain('audit');
    expect(messagesOf(id)).not.toContain('request');
  });

  it('[D21] without a trusted proxy a well-formed id is kept beside the id of the service, in log and trail', () =>
    withServiceApart({ trustedKeys, environment: { SVC_PROXY_HOPS: '0' } }, async (direct) => {
      const clientRequestId = 'of-somebody-1';
      const answers = [1, 2].map(() =>
        direct.exchange({ subject_token: 'x' }, { 'x-request-id': clientRequestId }),
      );
      const ids = (await Promise.all(answers)).map(({ headers }) => headers.get('x-request-id') ?? '');
      expect(new Set([clientRequestId, ...ids]).size).toBe(3);
      expect(await eventsOf(direct, clientRequestId)).toEqual([]);
      for (const id of ids) {
        const stored = await direct.rows('SELECT client_request_id FROM audit_event WHERE request_id = $1', [
          id,
        ]);
        expect(stored).toEqual([{ client_request_id: clientRequestId }]);
        const lines = direct.log.filter(({ requestId }) => requestId === id);
        expect(lines.length).toBeGreaterThan(1);
        for (const line of lines) expect(line).toMatchObject({ clientRequestId });
      }
    }));

  it('[D23][K19] no answer of the two endpoints may be stored, success or failure', async () => {
    const answers = [
      await service.exchange({ subject_token: partner.sign() }),
      await service.exchange({ subject_token: 'x' }),
      await service.exchange({}),
      await service.fetch(TOKEN_PATH, { method: 'POST', body: '{}', headers: JSON_TYPE }),
      await service.embed({ token: partner.sign() }),
      await login(service, 'GET', { token: partner.sign() }),
      await login(service, 'GET', { token: 'x' }),
      await service.embed({ token: partner.sign(partner.claims({ sub: 1 })) }),
      await service.embed({}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 415, 303, 303, 401, 500, 400]);
    for (const { headers } of answers) {
      expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
  });
});
