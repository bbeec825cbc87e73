// svc-admin keys keygen and entry: from a new key to a token that its entry lets in.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { Partner } from '../../../demo/partner.js';
import { ALGORITHMS } from '../../../src/token-exchange/trust/algorithms.js';
import { CommandLine } from '../../support/run-cli.js';

const ISSUER = 'https://partner.example';
const AUDIENCE = 'https://instance.example';
const POLICY = [
  '--roles',
  'global:member',
  '--origins',
  'https://product.example',
  '--scopes',
  'workflow:read',
];
const TRUST = [
  '--issuer',
  ISSUER,
  '--audience',
  AUDIENCE,
  '--name',
  'acme',
  '--email-domains',
  '*',
  ...POLICY,
];

const line = new CommandLine();
const read = (name: string) => readFileSync(join(line.folder, name), 'utf8');

describe('keys keygen', () => {
  it.each(ALGORITHMS)(
    'creates a key pair for %s whose tokens verify by its key set and by its entry',
    async (alg) => {
      const told = await line.output(['keys', 'keygen', '--alg', alg, '--out', `${alg}.pem`, '--json']);
      const { kid, ...files } = JSON.parse(told) as Record<string, string>;
      expect(files).toEqual({
        ...{ alg, privateKey: `${alg}.pem`, publicKey: `${alg}.pub.pem`, jwks: `${alg}.jwks.json` },
      });
      expect(statSync(join(line.folder, `${alg}.pem`)).mode & 0o777).toBe(0o600);
      expect(read(`${alg}.pem`)).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
      const keySet = JSON.parse(read(`${alg}.jwks.json`)) as JSONWebKeySet;
      expect(Object.keys(keySet.keys[0] ?? {})).not.toContain('d');
      const who = ['--issuer', ISSUER, '--audience', AUDIENCE, '--subject', 'customer-1', '--alg', alg];
      const token = (await line.output(['token', 'sign', '--key', `${alg}.pem`, ...who])).trim();
      const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(keySet), { issuer: ISSUER });
      expect(protectedHeader).toEqual({ alg, kid, typ: 'JWT' });
      const entry = await line.output([
        'keys',
        'entry',
        '--public-key',
        `${alg}.pub.pem`,
        '--alg',
        alg,
        ...TRUST,
        '--array',
      ]);
      line.write('keys.json', entry);
      const checked = await line.run(['keys', 'check', '--file', 'keys.json', '--json'], {
        SVC_TOKEN_EXCHANGE_STRICT: 'true',
      });
      expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
      expect((JSON.parse(checked.stdout) as { entries: unknown[] }).entries).toMatchObject([
        { entry: 'acme', keys: { kid, algorithms: [alg] } },
      ]);
    },
  );

  it('uses a given kid, and overwrites nothing', async () => {
    await line.output(['keys', 'keygen', '--kid', '2026-11']);
    expect(read('partner.jwks.json')).toContain('"kid": "2026-11"');
    const before = read('partner.pem');
    const again = await line.run(['keys', 'keygen', '--out', 'partner.pem']);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: 'error: partner.pem exists already; --force replaces it\n',
    });
    line.write('half.pub.pem', 'mine');
    expect(await line.run(['keys', 'keygen', '--out', 'half.pem'])).toMatchObject({ exitCode: 1 });
    expect([read('partner.pem'), read('half.pub.pem'), existsSync(join(line.folder, 'half.pem'))]).toEqual([
      before,
      'mine',
      false,
    ]);
  });

  it.each([
    ['', 2],
    ['é'.repeat(256), 0],
    ['é'.repeat(257), 2],
  ])('rejects a kid that no entry accepts: %j', async (kid, exitCode) => {
    const out = `kid-of-${kid.length}.pem`;
    const ended = await line.run(['keys', 'keygen', '--out', out, '--kid', kid]);
    expect([ended.exitCode, existsSync(join(line.folder, out))]).toEqual([exitCode, exitCode === 0]);
  });
});

describe('keys entry', () => {
  const entry = (...args: string[]) => line.run(['keys', 'entry', ...args]);

  it('prints the given values and the key', async () => {
    await line.output(['keys', 'keygen', '--out', 'e.pem', '--kid', 'k 1', '--force']);
    const more = [
      '--flows',
      'exchange',
      '--per-minute',
      '600',
      '--require-actor',
      '--set',
      'linkExistingUsers=false',
    ];
    const { exitCode, stdout } = await entry('--public-key', 'e.pub.pem', '--kid', 'k 1', ...TRUST, ...more);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      ...{ type: 'static', kid: 'k 1', algorithms: ['ES256'], key: read('e.pub.pem'), issuer: ISSUER },
      ...{ expectedAudience: AUDIENCE, name: 'acme', allowedRoles: ['global:member'], flows: ['exchange'] },
      ...{ origins: ['https://product.example'], scopes: ['workflow:read'], perMinute: 600 },
      ...{ requireActor: true, linkExistingUsers: false, emailDomains: ['*'] },
    });
  });

  it('prints a key without the byte order mark of its file', async () => {
    line.write('marked.pem', `\ufeff${read('e.pub.pem')}`);
    const { stdout } = await entry('--public-key', 'marked.pem', ...TRUST);
    expect(JSON.parse(stdout)).toMatchObject({ key: read('e.pub.pem') });
  });

  it('[P.strict] names the properties that the strict policy requires, unless --no-strict is set', async () => {
    const least = ['--jwks-uri', 'https://partner.example/jwks.json', '--issuer', ISSUER];
    const { exitCode, stdout, stderr } = await entry(...least);
    expect([exitCode, stdout]).toEqual([1, '']);
    for (const member of ['expectedAudience', 'allowedRoles', 'origins', 'emailDomains'])
      expect(stderr).toContain(`  - ${member}: is required by the strict policy`);
    const loose = await entry(...least, '--no-strict');
    expect(JSON.parse(loose.stdout)).toEqual({
      type: 'jwks',
      url: 'https://partner.example/jwks.json',
      issuer: ISSUER,
    });
    expect(loose.stderr).toContain('warning: expectedAudience: is not set');
  });

  it('[D32] names the setting that allows an http: key set, and shows nothing of a private key', async () => {
    const http = await entry('--jwks-uri', 'http://partner.example/jwks.json', ...TRUST);
    expect(http.stderr).toContain('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP allows http:');
    line.write('private.pem', Partner.create({ issuer: ISSUER }).privateKeyPem());
    const { exitCode, stderr } = await entry('--public-key', 'private.pem', '--kid', 'k', ...TRUST);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(
        'private.pem must hold a public key as PEM or JWK: it is a private key, and it has left its owner',
      ),
    ]);
    expect(stderr).not.toContain('algorithms');
    expect(stderr).not.toContain('BEGIN');
    expect(await entry(...TRUST)).toMatchObject({
      exitCode: 2,
      stderr: 'error: Give --public-key or --jwks-uri.\n',
    });
  });
});
