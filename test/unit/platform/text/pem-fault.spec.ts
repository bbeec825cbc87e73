// What is said of texts that should be a PEM and are not, and what is taken for the path of a file.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { PemKind } from '../../../../src/platform/text/pem-fault.js';
import { looksLikePath, pemFault } from '../../../../src/platform/text/pem-fault.js';
import { makeSelfSignedCertificate } from '../../../support/self-signed-certificate.js';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const sealed = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const { cert } = makeSelfSignedCertificate('instance.test');
const path = 'looks like a file path, but must be the content of the file';
const sent =
  'is a private key, which only its owner may have. The owner must create a new key, and send the output of openssl pkey -pubout -in FILE';
const damaged = (kind: PemKind) =>
  `is a damaged ${kind}: a PEM has a BEGIN line, lines of base64 and an END line, and nothing else`;

it.each<[string, PemKind, string, string]>([
  ['nothing', 'public key', ' \n', 'is empty'],
  ['a path', 'public key', '/run/secrets/key.pem', path],
  ['other words', 'private key', 'a secret', 'has no PEM block'],
  ['base64', 'public key', pem.replace(/-----[^-]+-----|\n/g, ''), 'has no PEM block'],
  ['another thing', 'public key', pem.replaceAll('PUBLIC KEY', 'PKCS7'), 'has no PEM block'],
  ['a private key', 'public key', privatePem, sent],
  ['a private SSH key', 'public key', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA', sent],
  ['a certificate', 'public key', cert, 'is a certificate'],
  ['a certificate', 'private key', cert, 'is a certificate'],
  ['a public key', 'private key', pem, 'is a public key'],
  ['a sealed key', 'private key', sealed, 'is a private key with a passphrase'],
  [
    'a key that is sealed in the old way',
    'private key',
    '-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----\n',
    'is a private key with a passphrase',
  ],
  ['line breaks lost altogether', 'certificate', cert.replaceAll('\n', ''), damaged('certificate')],
  ['a lost end', 'public key', pem.slice(0, 100), damaged('public key')],
  ['two keys', 'public key', pem + pem, damaged('public key')],
])('[D32] %s for a %s', (_, wanted, text, fault) => expect(pemFault(text, wanted)).toBe(fault));

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
