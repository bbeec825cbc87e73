// The frame's proofs, checked by the service's code, and the page's corrections after a refused proof.
import { calculateJwkThumbprint } from 'jose';
import { DpopAuthentication } from '../../../../pages/shared/dpop-authentication.js';
import { ProofKey } from '../../../../pages/shared/proof-key.js';
import { verifyProof } from '../../../../src/token-exchange/dpop/proof-checks.js';

const BASE_URL = 'https://instance.example';
const now = Date.now() / 1000;

describe('a proof by the page', () => {
  const sent = (proof: unknown, method: string, path: string) => ({
    text: String(proof),
    method,
    address: BASE_URL + path,
  });

  it('is valid for its request, and has the key that the page reports to its host page', async () => {
    const key = await ProofKey.create();
    const url = `${BASE_URL}/rest/auth/embed`;
    const proof = await key.proof({ method: 'POST', url, now });
    const verified = await verifyProof(sent(proof, 'POST', '/rest/auth/embed'), { now });
    expect(verified.thumbprint).toBe(key.thumbprint);
    const jwk = await crypto.subtle.exportKey('jwk', key.keys.publicKey);
    expect(await calculateJwkThumbprint(jwk)).toBe(key.thumbprint);
    await expect(verifyProof(sent(proof, 'GET', '/rest/auth/embed'), { now })).rejects.toThrow();
    await expect(crypto.subtle.exportKey('jwk', key.keys.privateKey)).rejects.toThrow();
  });

  it("contains the session token's hash for a call but not for a new login, and omits the query", async () => {
    const authentication = new DpopAuthentication(await ProofKey.create(), BASE_URL, now);
    authentication.token = 'svs_token';
    const call = await authentication.prepare({ method: 'GET', path: '/api/v1/workflows?limit=50' });
    const { authorization, dpop } = call.headers as Record<string, string>;
    expect([call.credentials, authorization]).toEqual(['omit', 'DPoP svs_token']);
    await verifyProof(sent(dpop, 'GET', '/api/v1/workflows'), { now, accessToken: 'svs_token' });
    const login = await authentication.prepare({
      method: 'POST',
      path: '/rest/auth/embed',
      isAnonymous: true,
    });
    expect(Object.keys(login.headers as object)).toEqual(['dpop']);
  });

  it('has the requested time and nonce', async () => {
    // The visitor's clock is two hours behind the instance's.
    const ahead = now + 7200;
    const authentication = new DpopAuthentication(await ProofKey.create(), BASE_URL, now);
    const prepare = async () => {
      const { headers } = await authentication.prepare({ method: 'GET', path: '/rest/me' });
      return JSON.parse(
        Buffer.from(
          String((headers as Record<string, string>)['dpop']).split('.')[1] ?? '',
          'base64url',
        ).toString(),
      ) as { iat: number; nonce?: string };
    };
    expect(Math.abs((await prepare()).iat - now)).toBeLessThan(5);
    const answer = new Response(null, { headers: { 'dpop-nonce': 'a-nonce' } });
    expect(authentication.learn(answer, { error: 'use_dpop_nonce', serverTime: ahead })).toBe(true);
    const { iat, nonce } = await prepare();
    expect(Math.abs(iat - ahead)).toBeLessThan(5);
    expect(nonce).toBe('a-nonce');
    expect(authentication.learn(new Response(), { error: 'invalid_token' })).toBe(false);
  });
});
