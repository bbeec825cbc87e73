// The client for partners' backends with a key of its own: tokens that only it can use, with and without nonces of the instance.
import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Partner, PartnerOptions } from '../../packages/partner/src/index.js';
import { createPartner } from '../../packages/partner/src/index.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { SentForms } from './support/sent-forms.js';

const ISSUER = 'https://partner.example';
const KEY = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
const ADA = { sub: 'ada', email: 'ada@partner.example', email_verified: true };
const ME = `${BASE_URL}/rest/me?a=b`;

describe.each(['false', 'true'])('the client with a key, nonces: %s', (nonces) => {
  describeOnAnyDatabase('of an instance', (database: TestDatabase) => {
    let service: TestService;
    let sent: SentForms;

    beforeAll(async () => {
      const key = await partner().publicKeyPem();
      const { keys } = await partner().jwks();
      const entry = { type: 'static', issuer: ISSUER, kid: keys[0]?.kid, algorithms: ['ES256'], key };
      const environment = { SVC_DPOP_NONCE: nonces };
      service = await TestService.start(database, { trustedKeys: [entry], environment });
    });
    afterAll(() => service?.stop());
    beforeEach(() => (sent = new SentForms()));

    /** Maps the service's public address to its local network address. */
    const local = (url: Parameters<typeof fetch>[0]) => new URL(new URL(url).pathname, service.address);
    const partner = (more: Partial<PartnerOptions> = {}): Partner => {
      const send: typeof fetch = (url, init) => sent.fetch(local(url), init);
      const given = { issuer: ISSUER, baseUrl: BASE_URL, key: KEY, dpop: true, fetch: send };
      return createPartner({ ...given, ...more });
    };
    const call = async (by: Partner, accessToken: string, nonce?: string) => {
      const headers = await by.headersFor({ accessToken, method: 'GET', url: ME, nonce });
      return service.fetch('/rest/me?a=b', { headers });
    };

    it('exchanges bound tokens for bound tokens, and calls the API with them', async () => {
      const own = partner();
      const { accessToken, tokenType } = await own.exchange({
        subject: ADA,
        actor: { ...ADA, sub: 'agent' },
      });
      const { cnf } = decodeJwt(accessToken);
      expect([tokenType, cnf]).toEqual(['DPoP', { jkt: expect.any(String) }]);
      expect(sent.count).toBe(nonces === 'true' ? 2 : 1);
      // Those that the nonce was asked for are not used up, so they are sent again.
      expect(new Set(sent.jtis()).size).toBe(2);
      expect(sent.claims().map((claims) => claims['cnf'])).toEqual(sent.claims().map(() => cnf));
      const first = await call(own, accessToken);
      expect(first.status).toBe(nonces === 'true' ? 401 : 200);
      const nonce = first.headers.get('dpop-nonce') ?? undefined;
      for (let times = 0; times < 2; times += 1)
        expect((await call(own, accessToken, nonce)).status).toBe(200);
      // Another process of the same partner has another key.
      expect((await call(partner(), accessToken, nonce)).status).toBe(401);
    });

    it('gets Bearer tokens without the option', async () => {
      const plain = partner({ dpop: undefined });
      const { accessToken, tokenType } = await plain.exchange({ subject: ADA });
      expect([tokenType, decodeJwt(accessToken)['cnf']]).toEqual(['Bearer', undefined]);
      const headers = await plain.headersFor({ accessToken, method: 'GET', url: ME });
      expect(headers).toEqual({ authorization: `Bearer ${accessToken}` });
    });

    it('refuses a token that is not bound, since the proof may have been removed', async () => {
      const stripped: typeof fetch = (url, init) => {
        const { accept } = init?.headers as Record<string, string>;
        return fetch(local(url), {
          ...init,
          headers: { accept: accept ?? '' },
        });
      };
      // The instance refuses the exchange because the request is bound to a key.
      const refused = partner({ fetch: stripped }).exchange({ subject: ADA });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_dpop_proof', status: 400 });
      const answer = { access_token: 'a', token_type: 'Bearer', expires_in: 60 };
      const careless = partner({ fetch: async () => Response.json(answer) }).exchange({ subject: ADA });
      await expect(careless).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 });
    });

    it('requests a nonce once, and reports invalid options or arguments', async () => {
      const asking = async () =>
        Response.json({ error: 'use_dpop_nonce' }, { status: 400, headers: { 'dpop-nonce': 'n' } });
      const counting = jest.fn(asking);
      const never = partner({ fetch: counting }).exchange({ subject: ADA });
      await expect(never).rejects.toMatchObject({ code: 'use_dpop_nonce', status: 400 });
      expect(counting).toHaveBeenCalledTimes(2);
      expect(() => partner({ dpop: 'yes' as never })).toThrow('dpop must be true or false');
      const others = [{ nonce: 5 }, { dpopNonce: 'n' }];
      for (const wrong of [{ accessToken: '' }, { method: 7 }, { url: '/rest/me' }, ...others]) {
        const given = { accessToken: 'a', method: 'GET', url: ME, ...wrong } as never;
        await expect(partner().headersFor(given)).rejects.toMatchObject({ code: 'invalid_option' });
      }
    });
  });
});
