// What is said of texts that should be a PEM and are not.
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
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
const der = publicKey.export({ type: 'spki', format: 'der' });
const base64 = pem.replace(/-----[^-]+-----|\n/g, '');
const ssh = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMarkermarkermarkermarkermarkermarkermark me@host';
const sshKey = 'an OpenSSH key: ssh-keygen -e -m PKCS8 -f FILE writes PEM';
const damaged = (kind: PemKind) =>
  `is a damaged ${kind}: a PEM is a first line, lines of base64 and a last line, complete and alone`;

describe('[D83] what is wrong with a PEM', () => {
  it.each<[string, PemKind, string, string]>([
    ['nothing', 'public key', ' \n', 'is empty'],
    [
      'a path',
      'public key',
      '/run/secrets/key.pem',
      'looks like the path of a file, and should be what the file holds',
    ],
    [
      'a bare name',
      'certificate',
      'cert.pem',
      'looks like the path of a file, and should be what the file holds',
    ],
    ['an SSH key', 'public key', ssh, `is ${sshKey}`],
    ['an exported SSH key', 'public key', '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA', `is ${sshKey}`],
    [
      'a private SSH key',
      'private key',
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${base64}\n-----END OPENSSH PRIVATE KEY-----\n`,
      'is an OpenSSH key: ssh-keygen -p -m PKCS8 -f FILE makes PEM of it',
    ],
    ['a JWK', 'public key', JSON.stringify(publicKey.export({ format: 'jwk' })), 'is JSON, such as a JWK'],
    ['base64 alone', 'public key', base64, 'is base64 without the first and last line of a PEM'],
    ['DER', 'public key', der.toString(), 'is DER: openssl converts it with -inform DER'],
    [
      'DER read as UTF-8',
      'certificate',
      '0\ufffd\u0001\ufffd',
      'is DER: openssl converts it with -inform DER',
    ],
    ['other words', 'private key', 'a secret', 'is no PEM'],
    ['a private key', 'public key', privatePem, 'is a private key'],
    [
      'a certificate',
      'public key',
      cert,
      'is a certificate: openssl x509 -pubkey -noout -in FILE writes its public key',
    ],
    ['a certificate', 'private key', cert, 'is a certificate'],
    ['a public key', 'private key', pem, 'is a public key'],
    ['a public key', 'certificate', pem, 'is a public key'],
    ['a sealed key', 'private key', sealed, 'is a private key with a passphrase'],
    [
      'a key that is sealed in the old way',
      'private key',
      `-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n${base64}\n-----END EC PRIVATE KEY-----\n`,
      'is a private key with a passphrase',
    ],
    ['another thing', 'public key', pem.replaceAll('PUBLIC KEY', 'PKCS7'), 'is a PEM of another kind'],
    ['literal line breaks', 'public key', pem.replaceAll('\n', '\\n'), damaged('public key')],
    ['line breaks lost altogether', 'certificate', cert.replaceAll('\n', ''), damaged('certificate')],
    ['a lost end', 'public key', pem.slice(0, 100), damaged('public key')],
    ['two keys', 'public key', pem + pem, damaged('public key')],
    ['text behind', 'public key', `${pem}{"d":1}`, damaged('public key')],
    [
      'no base64 at all',
      'public key',
      '-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----',
      damaged('public key'),
    ],
  ])('%s for a %s', (_, wanted, text, fault) => {
    if (wanted === 'public key') expect(isPublicPemAlone(text)).toBe(false);
    expect(pemFault(text, wanted)).toBe(fault);
  });
});

/** As a trusted key entry is checked: the PEM, and nothing beside it. */
function isPublicPemAlone(text: string): boolean {
  try {
    createPublicKey(text);
    return /^-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n$/.test(text);
  } catch {
    return false;
  }
}
