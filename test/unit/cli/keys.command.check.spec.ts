// svc-admin keys check: the check of the service's start, before the start, and what a fetch of key sets brings.
import { Partner } from '../../../demo/partner.js';
import type { ConfigurationError } from '../../../src/config/load-config.js';
import { prepareStartup } from '../../../src/instance/prepare-startup.js';
import { JwksServer } from '../../support/jwks-server.js';
import { CommandLine } from '../../support/run-cli.js';

const PREFIX = 'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: ';

describe('keys check', () => {
  const line = new CommandLine();
  const partner = Partner.create({
    issuer: 'https://a.example',
    kid: 'k1',
    audience: 'https://instance.example',
  });
  const good = partner.staticEntry({ name: 'first', allowedRoles: ['global:member', 'global:admin'] });
  const check = (entries: unknown, environment: Record<string, string> = {}) => {
    line.write('keys.json', JSON.stringify(entries));
    return line.run(['keys', 'check', '--file', 'keys.json'], environment);
  };

  it('shows the entries of a valid file if no variable is set', async () => {
    const open = { type: 'jwks', url: 'https://b.example/keys', issuer: 'https://b.example' };
    const closed = {
      ...good,
      kid: 'k2',
      name: 'two\u001b[2J',
      expectedAudience: undefined,
      allowedRoles: [],
      notAfter: '2021-05-01',
    };
    const { exitCode, stdout, stderr } = await check([good, open, closed]);
    expect([exitCode, stderr]).toEqual([0, '']);
    // Warnings come first.
    const rows = stdout.split('\n').filter((row) => !row.startsWith('warning: '));
    const CONFIGURED = 'configuration|trusted';
    expect(rows.slice(0, 4).map((row) => row.replaceAll(/ {2,}/g, '|'))).toEqual([
      'ENTRY|FROM|STATE|TYPE|ISSUER|KID OR URL|AUDIENCE|UNTIL|CHANGED',
      `first|${CONFIGURED}|static|https://a.example|k1|https://instance.example|no end`,
      `entry-1|${CONFIGURED}|jwks|${open.issuer}|${open.url}|not checked|no end`,
      'two\uFFFD[2J|configuration|ended|static|https://a.example|k2|not checked|2021-05-02T00:00:00Z',
    ]);
    expect(rows.slice(5).map((row) => row.split(/ {2,}/)[0])).toEqual([
      ...['ENTRY', 'first', 'entry-1', 'two\uFFFD[2J', ''],
      'Configured entries are in keys.json: change them there, and restart.',
      '',
    ]);
  });

  it('[P.strict][D54] describes what each entry allows, and warns of missing restrictions', async () => {
    const strict = {
      ...{ ...good, expectedAudience: 'https://instance.example', origins: ['https://product.example'] },
      ...{ allowedRoles: ['global:member'], emailDomains: ['*'], linkExistingUsers: false },
    };
    const { stdout } = await check([strict], { SVC_TOKEN_EXCHANGE_STRICT: 'true' });
    expect(stdout).toContain('warning: entry 0, scopes: is empty, so every token exchange is refused');
    expect(stdout).toContain(
      'signs in users with global:member only; never the owner; may not link to existing users; may create users; may act for no subject',
    );
    expect((await check([good])).stdout).toContain('warning: entry 0, linkPrivileged: a token may take over');
  });

  it('[D32] reports everything that startup would report, and never a value', async () => {
    const entries = [
      { ...good, allowedRole: ['global:admin'], algorithms: ['HS256'], allowedRoles: ['global:owner'] },
      { ...good, key: partner.privateKeyPem() },
      { type: 'jwks', url: 'http://b.example/keys', issuer: 'b', cacheTtlSeconds: 1 },
      good,
      good,
    ];
    const { exitCode, stdout, stderr } = await check(entries);
    const start = prepareStartup({
      environment: { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify(entries) },
      workingDirectory: line.folder,
    });
    const { problems } = (await start.catch((error: unknown) => error)) as ConfigurationError;
    const told = stdout.split('\n').filter((row) => row.startsWith('problem: '));
    expect(told.map((row) => row.replace('problem: ', PREFIX))).toEqual(problems);
    expect(told).toHaveLength(9);
    expect(stdout).toContain('warning: entry 0, allowedRoles: allows 1 role that cannot be assigned');
    expect([exitCode, stderr]).toEqual([
      1,
      'error: The service would not start with these keys; problems: 9.\n',
    ]);
    expect(stdout).not.toMatch(/PRIVATE|PUBLIC|HS256/);
  });

  it('checks the configured keys if there is no --file, from a variable or a file', async () => {
    const text = JSON.stringify([good]);
    const path = line.write('configured.json', `${text}\n`);
    for (const environment of [
      { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: text },
      { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: path },
    ]) {
      const { exitCode, stdout } = await line.run(['keys', 'check'], environment);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('first')]);
    }
  });

  it.each([
    ['no keys at all', [], {}, 'error: There are no trusted keys: give --file'],
    ['a file that is not there', ['--file', 'none.json'], {}, 'error: none.json cannot be read (ENOENT)\n'],
    [
      'a configured file that is not there',
      [],
      { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: '/none.json' },
      'The configuration has 1 problem:\n  - SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: /none.json cannot be read (ENOENT: there is none)\n',
    ],
  ])('reports %s', async (_, args, environment, complaint) => {
    const { exitCode, stdout, stderr } = await line.run(['keys', 'check', ...args], environment);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(complaint);
  });
});

describe('keys check --fetch', () => {
  let server: JwksServer;
  const line = new CommandLine();
  const issuer = 'https://partner.example';
  const partner = Partner.create({ issuer, kid: 'used' });
  beforeAll(async () => {
    server = await JwksServer.listen();
  });
  afterAll(() => server?.close());

  const check = (url: string, allowHttp = true) => {
    const entry = { type: 'jwks', url, issuer, name: 'acme', expectedAudience: 'https://instance.example' };
    line.write('fetched.json', [entry]);
    return line.run(['keys', 'check', '--file', 'fetched.json', '--fetch'], {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: String(allowHttp),
    });
  };

  it('[D33] reports which keys a key set contains, and why others are dropped', async () => {
    const { keys } = partner.jwks() as { keys: object[] };
    server.publish({ keys: [...keys, { kty: 'oct', k: 'c2VjcmV0LW9jdA', kid: 'hmac' }] });
    const { exitCode, stdout } = await check(`${server.url}?secret=1`);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`fetched: acme, ${server.url}: used (ES256)`);
    expect(stdout).toContain('  not used: key 1 (kid "hmac") is symmetric (kty "oct")\n');
    expect(stdout).not.toMatch(/secret/);
  });

  it('[D33] reports why no key was fetched, and exits with 1', async () => {
    server.publish({ keys: [] });
    const empty = await check(server.url);
    expect(empty.stdout).toContain('no usable key');
    expect(empty).toMatchObject({ exitCode: 1, stderr: 'error: Key sets without a usable key: 1.\n' });
    const gone = await check(server.url.replace('.json', '.gone'));
    expect(gone).toMatchObject({ exitCode: 1 });
  });

  it('[D33][D32] names the setting if the address is refused, and sends nothing', async () => {
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
});
