// svc-admin partners add: from its questions to the first login and exchange with its output.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import type { Snippet } from '../../src/administration/partners/snippets.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const SOON_MS = 60_000;
const ORIGIN = 'https://product.example';

interface Added {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly stored: boolean;
  readonly privateKey?: string;
  readonly kid: string;
  readonly backend: readonly Snippet[];
  readonly next: readonly { readonly command: string }[];
}

describeOnAnyDatabase('svc-admin partners add', (database) => {
  const commands = CommandLine.beside(database);
  const keySet = JwksServer.forBlock();
  const service = TestService.forBlock(database, {
    environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true', SVC_TOKEN_EXCHANGE_STRICT: 'true' },
  });

  const options = (name: string) => [
    ...['partners', 'add', '--name', name, '--issuer', `https://${name}.example`, '--origins', ORIGIN],
  ];
  const added = async (...args: string[]) => JSON.parse(await commands.output([...args, '--json'])) as Added;
  const read = (name: string) => readFileSync(join(commands.folder, name), 'utf8');

  /** Whether a login and an exchange with tokens of the command's key succeed. */
  async function letsIn(issuer: string, keyFile: string, kid: string): Promise<void> {
    const args = [
      ...['token', 'sign', '--key', keyFile, '--kid', kid, '--issuer', issuer, '--audience', BASE_URL],
    ];
    const user = ['--subject', 'c', '--email', `c@${new URL(issuer).hostname}`, '--email-verified'];
    const token = async () => (await commands.output([...args, ...user])).trim();
    await until('the entry is trusted', SOON_MS, async () => {
      const answer = await service.embed({ token: await token() });
      return answer.status === 303;
    });
    expect((await service.exchange({ subject_token: await token() })).status).toBe(200);
  }

  it('creates a key pair, stores the entry, and prints what leads to a first login and exchange', async () => {
    const { entry, stored, privateKey, kid, backend, next } = await added(...options('paired'), '--new-key');
    expect(entry).toMatchObject({
      ...{ type: 'static', name: 'paired', issuer: 'https://paired.example', expectedAudience: BASE_URL },
      ...{ origins: [ORIGIN], allowedRoles: ['global:member'], emailDomains: ['paired.example'] },
      ...{ scopes: ['workflow:read', 'workflow:write'], perMinute: 600, mayExplain: true },
    });
    expect([stored, privateKey]).toEqual([true, undefined]);
    expect(statSync(join(commands.folder, 'partner-key.pem')).mode & 0o777).toBe(0o600);
    expect(backend.find(({ id }) => id === 'node')?.text).toContain(`kid: '${kid}'`);
    expect(next.map(({ command }) => command).join('\n')).toContain(
      `--kid ${kid} --issuer https://paired.example`,
    );
    await letsIn('https://paired.example', 'partner-key.pem', kid);
  });

  it('accepts the address of a key set, and names the keys that are used', async () => {
    const partner = Partner.create({ issuer: 'https://set.example', kid: 'k1', audience: BASE_URL });
    keySet.publish(partner.jwks());
    commands.write('set.pem', partner.privateKeyPem());
    const line = [...options('set'), '--jwks-uri', keySet.url, '--language', 'python'];
    const { exitCode, stdout, stderr } = await commands.run(line);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('k1 (ES256)')]);
    expect(stdout).toContain('jwt.encode(claims, KEY, algorithm="ES256", headers={"kid": "k1"})');
    expect(stdout).toContain('<embedded-instance');
    expect(stdout).toContain(`frame-src ${BASE_URL}`);
    await letsIn('https://set.example', 'set.pem', 'k1');
  });

  it('asks what no option says, with recommended answers, and again after a bad answer', async () => {
    const typed = [
      'asked',
      'https://asked.example',
      '',
      'king',
      '',
      'shop, desk',
      'nowhere',
      ORIGIN,
      '60',
      '50',
      '',
    ];
    const questions: string[] = [];
    const ask = (question: string) => {
      questions.push(question);
      return Promise.resolve(typed.shift() ?? '');
    };
    const line = ['partners', 'add', '--no-store', '--agent-file', 'embed.md'];
    const { exitCode, stdout } = await commands.run(line, undefined, '', { terminal: { ask }, typed: [] });
    expect(exitCode).toBe(1);
    expect(stdout).toBe('');
    expect(questions.join('\n')).toContain('It must be global:member or global:admin.');
    expect(questions.join('\n')).toContain('It must be an origin such as https://product.example.');
    // The file of the first test is kept.
    expect(existsSync(join(commands.folder, 'embed.md'))).toBe(false);
    typed.push('asked', 'https://asked.example', '', '', 'shop, desk', ORIGIN, '60', '50');
    const again = await commands.run([...line, '--new-key', 'asked.pem'], undefined, '', {
      terminal: { ask },
    });
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toContain('"mayAssign": [\n      "shop",\n      "desk"\n    ]');
    expect(again.stdout).toContain('"maxTokenTtlSeconds": 60');
    expect(again.stdout).toContain('"maxUsers": 50');
    expect(read('embed.md')).toContain('https://asked.example');
    expect(read('embed.md')).not.toContain('PRIVATE KEY');
    expect(await commands.output(['keys', 'list'])).not.toContain('asked');
  });

  it('prints a private key only if it is asked to', async () => {
    const { privateKey = '' } = await added(...options('printed'), '--no-store', '--new-key', '-');
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  it.each([
    [['--new-key', 'x.pem', '--origins', 'product.example'], 2, '--origins <list> must be an origin such as'],
    [['--new-key', 'x.pem', '--email-domains', 'a@b'], 2, '--email-domains <list> must be a domain such as'],
    [['--new-key', 'x.pem', '--issuer', 'acme'], 2, '--issuer <url> must be a URL'],
    [
      ['--new-key', 'x.pem', '--role', 'global:owner'],
      2,
      '--role <role> must be global:member or global:admin',
    ],
    [['--new-key', 'x.pem', '--max-token-ttl', '1'], 1, 'maxTokenTtlSeconds: must be a whole number from 5'],
    [
      ['--new-key', 'x.pem', '--name', 'paired'],
      1,
      'There is a stored entry with the name "paired" already.',
    ],
    [
      ['--new-key', 'x.pem', '--alg', 'EdDSA', '--language', 'java'],
      2,
      '--language java has no program for EdDSA',
    ],
    [['--jwks-uri', 'somewhere'], 2, '--jwks-uri must be a URL'],
    [[], 2, 'Give --jwks-uri, --public-key or --new-key.'],
  ])('refuses %j, and leaves no file', async (args, code, message) => {
    const { exitCode, stdout, stderr } = await commands.run([...options('bad'), ...args]);
    expect([exitCode, stdout, stderr]).toEqual([code, '', expect.stringContaining(message)]);
    expect(existsSync(join(commands.folder, 'x.pem'))).toBe(false);
  });
});
