// svc-admin keys keygen: from a new key to a token that its entry lets in; and the public keys that commands read.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Partner } from '../../../demo/partner.js';
import { ALGORITHMS } from '../../../src/token-exchange/trust/algorithms.js';
import { CommandLine } from '../../support/run-cli.js';

const ISSUER = 'https://partner.example';
const AUDIENCE = 'https://instance.example';
const POLICY = {
  ...{ expectedAudience: AUDIENCE, allowedRoles: ['global:member'], emailDomains: ['*'] },
  ...{ origins: ['https://product.example'], scopes: ['workflow:read'] },
};
const ADD = [
  ...['partners', 'add', '--no-store', '--name', 'acme', '--issuer', ISSUER],
  ...['--audience', AUDIENCE, '--origins', 'https://product.example'],
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
      const key = read(`${alg}.pub.pem`);
      const entry = { type: 'static', name: 'acme', issuer: ISSUER, kid, algorithms: [alg], key, ...POLICY };
      line.write('keys.json', [entry]);
      const checked = await line.run(['keys', 'check', '--file', 'keys.json', '--json'], {
        SVC_TOKEN_EXCHANGE_STRICT: 'true',
      });
      expect(checked).toMatchObject({ exitCode: 0, stderr: '' });
      expect((JSON.parse(checked.stdout) as { entries: unknown[] }).entries).toMatchObject([
        { entry: 'acme', state: 'trusted', keys: { kid } },
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

describe('the public key of an entry', () => {
  it('[D32] may not be a private key, of which nothing is shown', async () => {
    line.write('private.pem', Partner.create({ issuer: ISSUER }).privateKeyPem());
    const { exitCode, stderr } = await line.run([...ADD, '--public-key', 'private.pem']);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining(
        'private.pem must contain a public key as PEM or JWK: it is a private key, which only its owner may have',
      ),
    ]);
    expect(stderr).not.toContain('BEGIN');
  });
});
