// The throttles of both endpoints: what passes, what a refused client is told, and whose request counts for whom.
import { Partner } from '../../demo/partner.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { login, LOGIN_METHODS } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL } from '../support/test-service.js';
import { withService } from '../support/with-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const EMBED_LIMIT = 'SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE';
const EXCHANGE_LIMIT = 'SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE';
const limits = (embed?: number, exchange?: number) => ({
  [EMBED_LIMIT]: embed === undefined ? undefined : String(embed),
  [EXCHANGE_LIMIT]: exchange === undefined ? undefined : String(exchange),
});
const statuses = async (count: number, send: (index: number) => Promise<Response>) => {
  const found: number[] = [];
  for (let index = 0; index < count; index++) found.push((await send(index)).status);
  return found;
};
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

describeOnEachDatabase('[D19] throttles', (database) => {
  it('[8.5][8.6] allow 20 requests a minute at each endpoint by default', async () => {
    const clock = new TestClock();
    await withService(database, { trustedKeys, environment: limits(), clock }, async (service) => {
      expect(await statuses(21, () => service.exchange({}))).toEqual([...times(20, 400), 429]);
      expect(await statuses(21, () => service.embed({}))).toEqual([...times(20, 400), 429]);
      clock.advance(59.999);
      expect((await service.exchange({})).status).toBe(429);
      clock.advance(0.001);
      expect((await service.exchange({ subject_token: partner.sign() })).status).not.toBe(429);
    });
  });

  it('[D19] answer 429 with a code, Retry-After and the RateLimit headers, on either endpoint', async () => {
    const clock = new TestClock();
    await withService(database, { trustedKeys, environment: limits(2, 2), clock }, async (service) => {
      for (const send of [() => service.exchange({}), () => service.embed({})]) {
        const before = [await send(), await send()].map(({ headers }) => headers.get('ratelimit-remaining'));
        expect(before).toEqual(['1', '0']);
        clock.advance(20.5);
        const answer = await send();
        expect(answer.status).toBe(429);
        expect(await answer.json()).toMatchObject({ error: 'too_many_requests' });
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        expect(answer.headers.get('retry-after')).toBe('40');
        const rateLimit = ['limit', 'remaining', 'reset'].map((name) =>
          answer.headers.get(`ratelimit-${name}`),
        );
        expect(rateLimit).toEqual(['2', '0', '40']);
        clock.advance(40);
        expect((await send()).status).toBe(400);
      }
    });
  });

  it('[D19] count GET and POST, good and bad requests together, and refused ones use no token', async () => {
    await withService(database, { trustedKeys, environment: limits(4) }, async (service) => {
      const token = partner.sign();
      expect((await login(service, 'GET', {})).status).toBe(400);
      expect((await login(service, 'POST', {})).status).toBe(400);
      expect((await login(service, 'GET', { token: partner.sign() })).status).toBe(303);
      expect((await login(service, 'POST', { token: 'x' })).status).toBe(401);
      for (const method of LOGIN_METHODS) {
        expect([method, (await login(service, method, { token })).status]).toEqual([method, 429]);
      }
      // Its jti is still good, for the other flow too.
      expect((await service.exchange({ subject_token: token })).status).toBe(200);
    });
  });

  it('[D27][K29] ignore X-Forwarded-For without a trusted proxy', async () => {
    const environment = { ...limits(3, 3), SVC_PROXY_HOPS: '0' };
    await withService(database, { trustedKeys, environment }, async (service) => {
      const forwarded = (index: number) => ({
        'x-forwarded-for': `203.0.113.${index}`,
        'x-real-ip': `203.0.113.${index}`,
        forwarded: `for=203.0.113.${index}`,
      });
      const expected = [...times(3, 400), 429, 429];
      expect(await statuses(5, (index) => service.embed({}, forwarded(index)))).toEqual(expected);
      expect(await statuses(5, (index) => service.exchange({}, forwarded(index)))).toEqual(expected);
    });
  });

  it('[D27] use the address that a trusted proxy saw rather than one from the client', async () => {
    const environment = { ...limits(2, 2), SVC_PROXY_HOPS: '1' };
    await withService(database, { trustedKeys, environment }, async (service) => {
      const from = (seen: string) => service.embed({}, { 'x-forwarded-for': seen });
      expect(await statuses(3, () => from('203.0.113.1'))).toEqual([400, 400, 429]);
      expect((await from('203.0.113.2')).status).toBe(400);
      const spoofed = (index: number) => from(`198.51.100.${index}, 203.0.113.3`);
      expect(await statuses(3, spoofed)).toEqual([400, 400, 429]);
      // One client has a whole /64 of IPv6.
      expect(await statuses(3, (index) => from(`2001:db8::${index}`))).toEqual([400, 400, 429]);
    });
  });
});
