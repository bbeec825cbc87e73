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
const base64 = pem.replace(/-----[^-]+-----|\n/g, '');
const ssh = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMarkermarkermarkermarkermarkermarkermark me@host';

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
    ['an SSH key', 'public key', ssh, 'is an SSH key: ssh-keygen -e -m PKCS8 -f FILE writes PEM'],
    [
      'a private SSH key',
      'private key',
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${base64}\n-----END OPENSSH PRIVATE KEY-----\n`,
      'is an SSH key: ssh-keygen -p -m PKCS8 -f FILE makes PEM of it',
    ],
    [
      'an exported SSH key',
      'public key',
      '---- BEGIN SSH2 PUBLIC KEY ----\nAAAA',
      'is an SSH key: ssh-keygen -e -m PKCS8 -f FILE writes PEM',
    ],
    [
      'a JWK',
      'public key',
      JSON.stringify(publicKey.export({ format: 'jwk' })),
      'looks like JSON, such as a JWK',
    ],
    ['base64 alone', 'public key', base64, 'has no first line -----BEGIN PUBLIC KEY-----'],
    ['other words', 'private key', 'a secret', 'has no first line -----BEGIN PRIVATE KEY-----'],
    ['other words', 'certificate', 'a secret', 'has no first line -----BEGIN CERTIFICATE-----'],
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
    ['a sealed key', 'private key', sealed, 'is sealed with a passphrase'],
    [
      'a key that is sealed in the old way',
      'private key',
      `-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n${base64}\n-----END EC PRIVATE KEY-----\n`,
      'is sealed with a passphrase',
    ],
    ['another thing', 'public key', pem.replaceAll('PUBLIC KEY', 'PKCS7'), 'is a PEM of another kind'],
    [
      'literal line breaks',
      'public key',
      pem.replaceAll('\n', '\\n'),
      'has a backslash and an n where its line breaks belong: JSON needs \\n with one backslash, all else real line breaks',
    ],
    [
      'lost line breaks',
      'public key',
      pem.replaceAll('\n', ' '),
      'has lost its line breaks: first line, base64 and last line each stand alone',
    ],
    [
      'line breaks lost altogether',
      'certificate',
      cert.replaceAll('\n', ''),
      'has lost its line breaks: first line, base64 and last line each stand alone',
    ],
    ['a lost end', 'public key', pem.slice(0, 100), 'has no last line: its end is missing'],
    ['two keys', 'public key', pem + pem, 'holds more than one PEM, and should hold one'],
    ['text behind', 'public key', `${pem}{"d":1}`, 'has more text before or behind the PEM'],
    ['text before', 'public key', `key: ${pem}`, 'has more text before or behind the PEM'],
    [
      'a lost character',
      'public key',
      pem.replace(base64.slice(0, 9), base64.slice(0, 8)),
      'is damaged: a character of its base64 is missing, or one does not belong there',
    ],
    [
      'a strange character',
      'public key',
      pem.replace(base64.slice(0, 4), '****'),
      'is damaged: a character of its base64 is missing, or one does not belong there',
    ],
    [
      'no base64 at all',
      'public key',
      '-----BEGIN PUBLIC KEY-----\n\n-----END PUBLIC KEY-----',
      'is damaged: a character of its base64 is missing, or one does not belong there',
    ],
    [
      'a lost line',
      'public key',
      pem.replace(/\n[^-\n]+\n/, '\n'),
      'holds no public key that can be read: a part of it may be missing',
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
