// Checks the demo partner with jose, so that what the other tests sign with is known to be right.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose';
import { Partner } from '../../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../../demo/signing-key.js';

const issuer = 'https://login.partner.example';

describe.each(SIGNING_ALGORITHMS)('partner signing with %s', (algorithm) => {
  const partner = Partner.create({ issuer, algorithm, kid: 'first' });

  it('makes tokens that verify with its PEM key and with its key set', async () => {
    const token = partner.sign();
    const key = await importSPKI(partner.publicKeyPem(), algorithm);
    const byPem = await jwtVerify(token, key, { issuer, algorithms: [algorithm] });
    const bySet = await jwtVerify(token, createLocalJWKSet(partner.jwks()), { issuer });
    expect(byPem.protectedHeader).toEqual({ alg: algorithm, typ: 'JWT', kid: 'first' });
    expect(bySet.payload).toEqual(byPem.payload);
  });

  it('exports a private key that belongs to the public one, and no private member in the key set', () => {
    const fromPrivate = createPublicKey(createPrivateKey(partner.privateKeyPem()));
    expect(fromPrivate.export({ type: 'spki', format: 'pem' })).toBe(partner.publicKeyPem());
    const [jwk] = partner.jwks().keys;
    expect(jwk).toMatchObject({ kid: 'first', alg: algorithm, use: 'sig' });
    expect(jwk).not.toHaveProperty('d');
  });

  it('does not make a signature that another key of the same kind accepts', async () => {
    const stranger = Partner.create({ issuer, algorithm, kid: 'first' });
    const key = await importSPKI(stranger.publicKeyPem(), algorithm);
    await expect(jwtVerify(partner.sign(), key)).rejects.toThrow('signature verification failed');
  });
});

describe('partner claims', () => {
  const partner = Partner.create({ issuer });

  it('are complete, fresh, and live 55 seconds', () => {
    const before = Math.floor(Date.now() / 1000);
    const claims = partner.claims();
    const after = Date.now() / 1000;
    expect(claims).toMatchObject({
      iss: issuer,
      sub: 'customer-1',
      email: 'customer-1@login.partner.example',
    });
    expect(claims.aud).toEqual(expect.any(String));
    expect(Number(claims.exp) - Number(claims.iat)).toBe(55);
    expect(Number(claims.iat)).toBeGreaterThanOrEqual(before);
    expect(Number(claims.iat)).toBeLessThanOrEqual(after);
    expect(partner.claims().jti).not.toBe(claims.jti);
  });

  it('take overrides, drop what is undefined, and let exp and e-mail follow', () => {
    const claims = partner.claims({ iat: 1000, sub: 'ada', jti: undefined, role: 'global:admin' });
    expect(claims).toMatchObject({ iat: 1000, exp: 1055, email: 'ada@login.partner.example' });
    expect(claims.role).toBe('global:admin');
    expect(claims).not.toHaveProperty('jti');
  });

  it('reach the token as they are, and header overrides too', () => {
    const token = partner.sign({ sub: 7, note: 'é\u0000' }, { kid: undefined, jku: 'https://x.example' });
    expect(decodeJwt(token)).toEqual({ sub: 7, note: 'é\u0000' });
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'JWT', jku: 'https://x.example' });
  });
});

describe('partner key entry', () => {
  it('holds the required members only, unless an audience or overrides are given', () => {
    const partner = Partner.create({ issuer, kid: 'k1', algorithm: 'EdDSA' });
    const required = {
      type: 'static',
      kid: 'k1',
      algorithms: ['EdDSA'],
      issuer,
      key: partner.publicKeyPem(),
    };
    expect(partner.staticEntry()).toStrictEqual(required);
    expect(partner.staticEntry({ kid: undefined, allowedRoles: [] })).not.toHaveProperty('kid');
  });

  it('expects the audience that the claims carry', () => {
    const partner = Partner.create({ issuer, audience: 'https://flow.example' });
    expect(partner.staticEntry().expectedAudience).toBe('https://flow.example');
    expect(partner.claims().aud).toBe('https://flow.example');
  });
});

describe('partner raw signing and rotation', () => {
  it('signs any text, byte for byte', () => {
    const partner = Partner.create({ issuer });
    const [header, payload] = partner.signRaw('{"alg":"none",}', new Uint8Array([0xff, 0x00])).split('.');
    expect(Buffer.from(header ?? '', 'base64url').toString()).toBe('{"alg":"none",}');
    expect([...Buffer.from(payload ?? '', 'base64url')]).toEqual([0xff, 0x00]);
  });

  it('goes over to a new key and keeps publishing the old one', async () => {
    const partner = Partner.create({ issuer, kid: 'old' });
    const before = partner.sign();
    const newKid = partner.rotate();
    const keySet = createLocalJWKSet(partner.jwks());
    expect(partner.kid).toBe(newKid);
    expect(decodeProtectedHeader(partner.sign()).kid).toBe(newKid);
    await expect(jwtVerify(partner.sign(), keySet)).resolves.toBeDefined();
    await expect(jwtVerify(before, keySet)).resolves.toBeDefined();
  });
});
