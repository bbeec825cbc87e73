// Which licences are taken, and for how long.
import type { KeyObject } from 'node:crypto';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { License, LicenseError, readLicense } from '../../../src/config/license.js';

const EXPIRES = 1_800_000_000;
const vendor = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const good = { customer: 'Marker Ltd', features: ['token-exchange'], exp: EXPIRES };

const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const vendorPem = pem(vendor.publicKey);
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

type Signer = (input: Buffer) => Buffer;
const byVendor: Signer = (input) => sign(null, input, vendor.privateKey);

function issue(payload: unknown, header: object = { alg: 'EdDSA' }, signer: Signer = byVendor): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  return `${input}.${signer(Buffer.from(input)).toString('base64url')}`;
}

describe('a licence of the vendor', () => {
  it('[D39] includes its features before its end, but not at its end', async () => {
    const license = await readLicense(issue(good), vendorPem);
    expect(license.includes('token-exchange', EXPIRES * 1000 - 1)).toBe(true);
    expect(license.includes('token-exchange', EXPIRES * 1000)).toBe(false);
  });

  it.each([[[]], [['later']]])(
    '[D39] includes nothing with the features %j, like a missing licence',
    async (features) => {
      const license = await readLicense(issue({ ...good, features }), vendorPem);
      for (const one of [license, License.NONE]) expect(one.includes('token-exchange', 0)).toBe(false);
    },
  );

  it('[D39] may have surrounding white space, as files do', async () => {
    await expect(readLicense(` ${issue(good)}\n`, vendorPem)).resolves.toBeInstanceOf(License);
  });
});

describe('an invalid vendor licence', () => {
  const [header, , signature] = issue(good).split('.');
  const hmac: Signer = (input) => createHmac('sha256', vendorPem).update(input).digest();

  it.each([
    ['signed by another', issue(good, { alg: 'EdDSA' }, (input) => sign(null, input, stranger.privateKey))],
    ['with a changed payload', `${header}.${base64url({ ...good, exp: EXPIRES + 1 })}.${signature}`],
    ['with alg none', `${base64url({ alg: 'none' })}.${base64url(good)}.`],
    ['with alg HS256 over the public key', issue(good, { alg: 'HS256' }, hmac)],
    ['with an unknown crit', issue(good, { alg: 'EdDSA', crit: ['x'], x: 1 })],
    ['that is no JWS', 'marker'],
  ])('[D39] is one %s', async (_, text) => {
    const reading = readLicense(text, vendorPem);
    await expect(reading).rejects.toThrow(LicenseError);
    await expect(reading).rejects.toThrow('its signature does not verify with the public key');
  });

  it.each([
    ['features', { exp: EXPIRES }],
    ['features', { ...good, features: 'token-exchange' }],
    ['exp', { ...good, exp: `${EXPIRES}` }],
    ['exp', JSON.stringify(good).replace(`${EXPIRES}`, '1e999')],
    ['payload', 'null'],
    ['payload', 'marker {'],
  ])('[D39] is one with a wrong %s: %j', async (member, payload) => {
    const reading = readLicense(issue(payload), vendorPem);
    await expect(reading).rejects.toThrow(LicenseError);
    await expect(reading).rejects.toThrow(new RegExp(member));
    await expect(reading).rejects.not.toThrow(/marker/i);
  });
});

describe('the vendor key', () => {
  const privatePem = vendor.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it.each([
    ['a private key', privatePem, 'the public key is a private key'],
    ['an RSA key', pem(rsa.publicKey), 'the public key is not an Ed25519 key'],
    ['no PEM', 'marker', 'the public key is not PEM: it has no PEM block'],
  ])('[D39] cannot be %s', async (_, key, message) => {
    await expect(readLicense(issue(good), key)).rejects.toThrow(new LicenseError(message));
  });
});
