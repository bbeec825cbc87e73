// What is taken for the path of a file, and that no secret is.
import { randomBytes } from 'node:crypto';
import { looksLikePath } from '../../../../src/platform/text/pem-fault.js';

describe('[D32] path detection', () => {
  it.each([
    '/run/secrets/tls-key',
    '/etc/ssl/private/instance.example.pem',
    './license.jws',
    '~/keys/vendor.pub.pem',
    'C:\\keys\\cert.pem',
    'license.jws',
    'trusted-keys.json',
    'keys/trusted keys.json',
    '/srv/schlüssel/key.pem',
  ])('recognizes %s', (text) => expect(looksLikePath(text)).toBe(true));

  it.each([
    '',
    'secret',
    'a secret',
    '[]',
    '[{"type":"static"}]',
    '-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n',
    'postgres://user:secret@db.example/name',
    'postgres://user:secret@db.example/name.txt',
    'https://instance.example/jwks.json',
    'eyJhbGciOiJFZERTQSJ9.eyJmZWF0dXJlcyI6W119.c2lnbmF0dXJlc2lnbmF0dXJl',
    '/aB3dEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeF',
    `/${'a'.repeat(600)}.pem`,
    'key.pem\n',
  ])('does not match %j', (text) => expect(looksLikePath(text)).toBe(false));

  it('never matches a key in base64 or hexadecimal', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const key = randomBytes(32);
      for (const text of [key.toString('base64'), key.toString('hex')])
        expect([text, looksLikePath(text)]).toEqual([text, false]);
    }
  });
});
