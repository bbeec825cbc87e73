// What is said of texts that should be a PEM and are not.
import { execFileSync } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { X509Certificate, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const privateDer = privateKey.export({ type: 'pkcs8', format: 'der' });
const { privateKey: rsa, publicKey: rsaPublic } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const certificateDer = new X509Certificate(cert).raw;
const burnt =
  'is a private key, and it has left its owner: the owner makes a new key and sends what openssl pkey -pubout -in FILE writes of it';
const damaged = (kind: PemKind) =>
  `is a damaged ${kind}: a PEM is a first line, lines of base64 and a last line, complete and alone`;

describe('[D32] a PEM problem', () => {
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
    ['a JWK', 'certificate', JSON.stringify(publicKey.export({ format: 'jwk' })), 'is JSON, such as a JWK'],
    ['DER', 'certificate', '0\ufffd\u0001\ufffd', 'is DER: openssl x509 -inform DER -in FILE writes PEM'],
    ['a private JWK', 'public key', JSON.stringify(privateKey.export({ format: 'jwk' })), burnt],
    ['a private key in DER', 'public key', privateDer.toString(), burnt],
    ['a private key in base64', 'public key', privateDer.toString('base64'), burnt],
    [
      'a private key in PKCS #1',
      'public key',
      rsa.export({ type: 'pkcs1', format: 'der' }).toString(),
      burnt,
    ],
    [
      'a private key in SEC 1',
      'public key',
      privateKey.export({ type: 'sec1', format: 'der' }).toString(),
      burnt,
    ],
    ['a private SSH key', 'public key', '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA', burnt],
    ['a public key and a private one', 'public key', pem + privatePem, burnt],
    ['other words', 'private key', 'a secret', 'is no PEM'],
    ['a private key', 'public key', privatePem, burnt],
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
    [
      'literal line breaks',
      'public key',
      pem.replaceAll('\n', '\\n'),
      'is a damaged public key: write line breaks instead of the two characters \\n',
    ],
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

describe('[D32] the conversion command for other key formats', () => {
  const ed = generateKeyPairSync('ed25519').publicKey;
  const jwk = JSON.stringify(publicKey.export({ format: 'jwk' }));
  it.each<[string, string | Buffer, string, string]>([
    ['DER', der, 'is DER: openssl pkey ', pem],
    [
      'an RSA key in DER',
      rsaPublic.export({ type: 'spki', format: 'der' }),
      'is DER: openssl pkey ',
      spki(rsaPublic),
    ],
    ['an Ed25519 key in DER', ed.export({ type: 'spki', format: 'der' }), 'is DER: openssl pkey ', spki(ed)],
    [
      'base64',
      base64,
      'is base64 without the first and last line of a PEM: base64 -d FILE | openssl pkey ',
      pem,
    ],
    ['base64 in lines', `${base64.replace(/.{64}/g, '$&\n')}\n`, 'is base64 without ', pem],
    ['a certificate in DER', certificateDer, 'is a certificate in DER: openssl x509 ', spkiOfCert()],
    [
      'a certificate in base64',
      certificateDer.toString('base64'),
      'is a certificate in base64 ',
      spkiOfCert(),
    ],
    ['a certificate', cert, 'is a certificate: openssl x509 ', spkiOfCert()],
    ['a JWK', jwk, 'is JSON, such as a JWK: node -p ', pem],
  ])('writes the public key of %s', (_, content, beginning, expected) => {
    const file = join(mkdtempSync(join(tmpdir(), 'pem-')), 'key');
    writeFileSync(file, content);
    const fault = pemFault(content.toString(), 'public key');
    expect(fault).toContain(beginning);
    const [, command = ''] = /: (\S+ .*) writes /.exec(fault) ?? [];
    const written = execFileSync('bash', ['-c', command.replace('FILE', file)], { encoding: 'utf8' });
    expect(written.trimEnd()).toBe(expected.trimEnd());
  });
});

function spki(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

function spkiOfCert(): string {
  return spki(new X509Certificate(cert).publicKey);
}

/** As a trusted key entry is checked: the PEM, and nothing beside it. */
function isPublicPemAlone(text: string): boolean {
  try {
    createPublicKey(text);
    return /^-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----\n$/.test(text);
  } catch {
    return false;
  }
}
