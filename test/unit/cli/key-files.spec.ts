// svc-admin keys keygen, entry and check --fetch, and token sign: from a new key to a token that its entry lets in.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { Partner } from '../../../demo/partner.js';
import { ALGORITHMS } from '../../../src/token-exchange/trust/algorithms.js';
import { JwksServer } from '../../support/jwks-server.js';
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
    'makes a pair for %s, of which tokens verify by its key set and its entry is taken',
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

  it('takes a kid, and overwrites nothing', async () => {
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
});

describe('token sign', () => {
  it('signs by the algorithm of the key, for a minute, with the claims that were asked for', async () => {
    await line.output(['keys', 'keygen', '--alg', 'EdDSA', '--out', 'signer.pem']);
    const who = [
      '--subject',
      's',
      '--email',
      'a@product.example',
      '--email-verified',
      '--role',
      'global:member',
    ];
    const printed = await line.output([
      ...['token', 'sign', '--key', 'signer.pem', '--issuer', ISSUER, '--audience', AUDIENCE, ...who],
    ]);
    const { iat = 0, jti, ...claims } = decodeJwt(printed.trim());
    expect(claims).toEqual({
      ...{ iss: ISSUER, aud: AUDIENCE, sub: 's', exp: iat + 60, role: 'global:member' },
      ...{ email: 'a@product.example', email_verified: true },
    });
    expect(jti).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('keys entry', () => {
  const entry = (...args: string[]) => line.run(['keys', 'entry', ...args]);

  it('prints what was said, and the key', async () => {
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

  it('[P.strict] names what the strict policy asks for, and lets it be left out by --no-strict', async () => {
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

  it('[D83] names the setting that allows an http: key set, and nothing of a private key', async () => {
    const http = await entry('--jwks-uri', 'http://partner.example/jwks.json', ...TRUST);
    expect(http.stderr).toContain('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP allows http:');
    line.write('private.pem', Partner.create({ issuer: ISSUER }).privateKeyPem());
    const { exitCode, stderr } = await entry('--public-key', 'private.pem', '--kid', 'k', ...TRUST);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(
        'private.pem must hold a PEM public key: it is a private key, and it has left its owner',
      ),
    ]);
    expect(stderr).not.toContain('algorithms');
    expect(stderr).not.toContain('BEGIN');
    expect(await entry(...TRUST)).toMatchObject({
      exitCode: 1,
      stderr: 'error: Give --public-key or --jwks-uri.\n',
    });
  });
});

describe('keys check --fetch', () => {
  let server: JwksServer;
  const partner = Partner.create({ issuer: ISSUER, kid: 'used' });
  beforeAll(async () => {
    server = await JwksServer.listen();
  });
  afterAll(() => server?.close());

  const check = (url: string, allowHttp = true) => {
    const entry = { type: 'jwks', url, issuer: ISSUER, name: 'acme', expectedAudience: AUDIENCE };
    line.write('fetched.json', [entry]);
    return line.run(['keys', 'check', '--file', 'fetched.json', '--fetch'], {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: String(allowHttp),
    });
  };

  it('[D33] says which keys come, and why others are dropped', async () => {
    const { keys } = partner.jwks() as { keys: object[] };
    server.publish({ keys: [...keys, { kty: 'oct', k: 'c2VjcmV0LW9jdA', kid: 'hmac' }] });
    const { exitCode, stdout } = await check(`${server.url}?secret=1`);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`fetched: acme, ${server.url}: used (ES256)`);
    expect(stdout).toContain('  not used: key 1 (kid "hmac") is symmetric (kty "oct")\n');
    expect(stdout).not.toMatch(/secret/);
  });

  it('[D33] says why none comes, and exits with 1', async () => {
    server.publish({ keys: [] });
    const empty = await check(server.url);
    expect(empty.stdout).toContain('no usable key');
    expect(empty).toMatchObject({ exitCode: 1, stderr: 'error: Key sets without a usable key: 1.\n' });
    const gone = await check(server.url.replace('.json', '.gone'));
    expect(gone).toMatchObject({ exitCode: 1 });
  });

  it('[D33][D83] names the setting where the address is refused, and sends nothing', async () => {
    const before = server.requestCount;
    const refused = await check(server.url, false);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stdout).toContain('SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP allows http:');
    const loopback = await check(server.url.replace('http:', 'https:'), false);
    expect(loopback.stdout).toMatch(
      /not fetched: .* \(see SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP or SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE\)/,
    );
    expect(server.requestCount).toBe(before);
  });

  it('is not done without being asked for', async () => {
    const before = server.requestCount;
    line.write('silent.json', [{ type: 'jwks', url: server.url, issuer: ISSUER }]);
    await line.run(['keys', 'check', '--file', 'silent.json'], {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
    });
    expect(server.requestCount).toBe(before);
  });
});
