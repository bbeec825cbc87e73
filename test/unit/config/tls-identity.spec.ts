// The certificate and key for direct TLS: both or neither, readable, and of one pair.
import { generateKeyPairSync } from 'node:crypto';
import { readTlsIdentity } from '../../../src/config/tls-identity.js';
import { makeSelfSignedCertificate } from '../../support/self-signed-certificate.js';

describe('[1.4] the settings for HTTPS', () => {
  const { cert, key } = makeSelfSignedCertificate('instance.test');
  const other = makeSelfSignedCertificate('instance.test');
  const problems = (...pair: Parameters<typeof readTlsIdentity>) => readTlsIdentity(...pair).problems;

  it('are accepted as a pair, with a chain after the certificate', () => {
    expect(readTlsIdentity(cert, key)).toEqual({ identity: { cert, key }, problems: [] });
    expect(problems(cert + other.cert, key)).toEqual([]);
  });

  it.each([
    ['no key', cert, undefined, ['SVC_SSL_KEY: is required with SVC_SSL_CERT']],
    ['no certificate', undefined, key, ['SVC_SSL_CERT: is required with SVC_SSL_KEY']],
    [
      'a key of another pair',
      cert,
      other.key,
      ['SVC_SSL_KEY: is not the key of the certificate in SVC_SSL_CERT'],
    ],
    [
      'other texts',
      'a secret',
      'a secret',
      [
        'SVC_SSL_CERT: must be a PEM certificate: it has no PEM block',
        'SVC_SSL_KEY: must be a PEM private key without a passphrase: it has no PEM block',
      ],
    ],
  ])('are rejected with %s, without their values', (_, certificate, privateKey, expected) => {
    expect(problems(certificate, privateKey)).toEqual(expected);
  });

  it('[D32] suggest the file variable if a value is a path', () => {
    expect(problems('certs/cert.pem', '/run/secrets/key')).toEqual([
      expect.stringMatching(/^SVC_SSL_CERT: .*; did you mean SVC_SSL_CERT_FILE, with this path\?$/),
      expect.stringMatching(/^SVC_SSL_KEY: .*; did you mean SVC_SSL_KEY_FILE, with this path\?$/),
    ]);
  });

  it('[D32] name the file of a bad value, and do not report an unreadable file as missing', () => {
    const given = new Map([
      ['SVC_SSL_CERT', { as: 'SVC_SSL_CERT_FILE', source: 0, path: '/absent/cert.pem' }],
      ['SVC_SSL_KEY', { as: 'SVC_SSL_KEY_FILE', source: 0, path: '/there/key.pem' }],
    ]);
    expect(problems(undefined, cert, given)).toEqual([
      'SVC_SSL_KEY (in /there/key.pem): must be a PEM private key without a passphrase: it is a certificate',
    ]);
    expect(problems(undefined, key, given)).toEqual([]);
    expect(readTlsIdentity(cert, undefined, given)).toEqual({ problems: [] });
  });

  it('reject a key with a passphrase', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const sealed = privateKey.export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    });
    expect(problems(cert, String(sealed))).toEqual([expect.stringContaining('without a passphrase')]);
  });
});
