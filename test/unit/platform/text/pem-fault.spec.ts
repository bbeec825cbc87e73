// What is said of texts that should be a PEM and are not.
import { generateKeyPairSync } from 'node:crypto';
import type { PemKind } from '../../../../src/platform/text/pem-fault.js';
import { pemFault } from '../../../../src/platform/text/pem-fault.js';
import { makeSelfSignedCertificate } from '../../../support/self-signed-certificate.js';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const sealed = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const { cert } = makeSelfSignedCertificate('instance.test');
const path = 'looks like the path of a file, and should be what the file holds';
const sent =
  'is a private key, and it has left its owner: the owner makes a new key and sends what openssl pkey -pubout -in FILE writes of it';
const damaged = (kind: PemKind) =>
  `is a damaged ${kind}: a PEM is a first line, lines of base64 and a last line, complete and alone`;

it.each<[string, PemKind, string, string]>([
  ['nothing', 'public key', ' \n', 'is empty'],
  ['a path', 'public key', '/run/secrets/key.pem', path],
  ['a bare name', 'certificate', 'cert.pem', path],
  ['other words', 'private key', 'a secret', 'is no PEM'],
  ['base64', 'public key', pem.replace(/-----[^-]+-----|\n/g, ''), 'is no PEM'],
  ['another thing', 'public key', pem.replaceAll('PUBLIC KEY', 'PKCS7'), 'is no PEM'],
  ['a private key', 'public key', privatePem, sent],
  ['a private SSH key', 'public key', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA', sent],
  ['a public key and a private one', 'public key', pem + privatePem, sent],
  ['a certificate', 'public key', cert, 'is a certificate'],
  ['a certificate', 'private key', cert, 'is a certificate'],
  ['a public key', 'private key', pem, 'is a public key'],
  ['a public key', 'certificate', pem, 'is a public key'],
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
