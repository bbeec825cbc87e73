// svc-admin config check: the values and sources that the service would use, the errors, and no secrets.
import { generateKeyPairSync } from 'node:crypto';
import { Partner } from '../../../demo/partner.js';
import { ENVIRONMENT_VARIABLES } from '../../../src/config/environment.js';
import type { ConfigurationError } from '../../../src/config/load-config.js';
import { prepareStartup } from '../../../src/instance/prepare-startup.js';
import { licenseEnvironment } from '../../support/license.js';
import { CommandLine } from '../../support/run-cli.js';
import { repositoryFile } from '../../support/source-files.js';

const SECRET = 'marker-5150';
const KEY = Buffer.from(SECRET.padEnd(32)).toString('base64');
const ENTRY = Partner.create({ issuer: 'https://a.example', kid: 'k1' }).staticEntry();

interface Told {
  problems: string[];
  warnings: string[];
  tokenExchange: { available: boolean; reason?: string; explanation?: string };
  license: { until: string; features: string[] } | null;
  goingLive: { title: string; state: string; detail: string }[];
  variables: {
    name: string;
    value: string | null;
    state: string;
    source?: string;
    as?: string;
    file?: string;
  }[];
}

describe('[D32] config check', () => {
  const line = new CommandLine();
  const NOT_ASKED = `Stored entries are not checked: There is no database in ${line.folder}/data.\n`;

  const check = (environment: Record<string, string> = {}, ...words: string[]) =>
    line.run([...words, 'config', 'check'], environment);
  const told = async (environment: Record<string, string>) => {
    const { exitCode, stdout } = await line.run(['config', 'check', '--json'], environment);
    return { exitCode, ...(JSON.parse(stdout) as Told) };
  };
  const rowsOf = (stdout: string) =>
    new Map(
      stdout
        .split('\n')
        .map((row) => row.split(/ {2,}/))
        .map(([name = '', ...cells]) => [name, cells]),
    );

  it('reports every variable with its default if nothing is set', async () => {
    const { exitCode, stdout, stderr } = await check();
    expect([exitCode, stderr]).toEqual([0, NOT_ASKED]);
    expect(stdout).toMatch(
      /^Token exchange and embedded login are off: SVC_ENV_FEAT_TOKEN_EXCHANGE is not set to true\nLicence: none/,
    );
    const rows = rowsOf(stdout);
    expect(ENVIRONMENT_VARIABLES.filter(({ name }) => !rows.has(name))).toEqual([]);
    expect(rows.get('SVC_PORT')).toEqual(['5678', 'default']);
    expect(rows.get('SVC_BASE_URL')).toEqual(['http://localhost:5678', 'default']);
    expect(rows.get('SVC_LICENSE')).toEqual(['(unset)']);
  });

  it('reports the source of each value: environment, --env-file, .env, an alias, a file', async () => {
    line.write('.env', 'SVC_HOST=::1\nSVC_PROXY_HOPS=3\n');
    line.write('chosen.env', 'SVC_HOST=127.0.0.2\n');
    const path = line.write('level', 'debug\n');
    const { stdout } = await check({ PORT: '8080', SVC_LOG_LEVEL_FILE: path }, '--env-file', 'chosen.env');
    line.write('.env', '');
    const rows = rowsOf(stdout);
    expect(rows.get('SVC_HOST')).toEqual(['127.0.0.2', expect.stringMatching(/chosen\.env$/)]);
    expect(rows.get('SVC_PROXY_HOPS')).toEqual(['3', '.env']);
    expect(rows.get('SVC_PORT')).toEqual(['8080', 'environment as PORT']);
    expect(rows.get('SVC_LOG_LEVEL')).toEqual(['debug', `environment, file ${path}`]);
    expect(rows.get('SVC_BASE_URL')).toEqual(['http://localhost:8080', 'default']);
  });

  it('shows no secret, and only the length of long values', async () => {
    const environment: Record<string, string> = {
      ...(await licenseEnvironment()),
      SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
      SVC_TOKEN_EXCHANGE_ENABLED: 'true',
      SVC_DATABASE_URL: `postgres://user:${SECRET}@db.example/name`,
      SVC_ENCRYPTION_KEY: KEY,
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([ENTRY]),
    };
    const { exitCode, stdout } = await check(environment);
    const rows = rowsOf(stdout);
    expect(exitCode).toBe(0);
    for (const name of [
      'SVC_LICENSE',
      'SVC_DATABASE_URL',
      'SVC_ENCRYPTION_KEY',
      'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS',
    ])
      expect(rows.get(name)).toEqual(['(hidden)', 'environment']);
    expect(rows.get('SVC_LICENSE_PUBLIC_KEY')).toEqual([
      `(${environment['SVC_LICENSE_PUBLIC_KEY']?.length} characters)`,
      'environment',
    ]);
    expect(stdout).toContain(
      'Token exchange: on\nEmbedded login: off, and answers 501: SVC_EMBED_LOGIN_ENABLED is not true\n',
    );
    expect(stdout).toMatch(/Licence: until \S+Z; token-exchange, project-members, credentials-list\n/);
    const json = await line.output(['config', 'check', '--json'], environment);
    for (const text of [stdout, json])
      for (const secret of [SECRET, KEY, String(environment['SVC_LICENSE'])])
        expect(text).not.toContain(secret);
  });

  it('recognizes every secret variable by its name', () => {
    const isNamedSo = ({ name }: { name: string }) =>
      /SECRET|PASSWORD|LICENSE$|_KEYS?$|DATABASE_URL|WEBHOOK_URL/.test(name);
    const open = ['SVC_LICENSE_PUBLIC_KEY'];
    const secret = ENVIRONMENT_VARIABLES.filter(
      (variable) => isNamedSo(variable) && !open.includes(variable.name),
    );
    expect(secret.length).toBeGreaterThan(5);
    expect(secret.filter(({ isSecret }) => isSecret !== true).map(({ name }) => name)).toEqual([]);
  });

  it('reports every problem that would prevent startup, and exits with 1', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const environment = {
      SVC_ENV_FEAT_TOKEN_EXCHANGE: 'True',
      SVC_PORT: SECRET,
      SVC_HOSTS: SECRET,
      SVC_SSL_CERT_FILE: '/absent/cert.pem',
      SVC_SSL_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: `[{"kid":"${SECRET}",}]`,
    };
    const start = prepareStartup({ environment, workingDirectory: line.folder });
    const { problems } = (await start.catch((error: unknown) => error)) as ConfigurationError;
    expect(problems).toHaveLength(3);
    const { exitCode, stdout, stderr } = await check(environment);
    expect([exitCode, stderr]).toEqual([
      1,
      `${NOT_ASKED}error: The service would not start with this configuration; problems: 3.\n`,
    ]);
    const rows = stdout.split('\n').filter((row) => row.startsWith('problem: '));
    expect(rows).toEqual(problems.map((problem) => `problem: ${problem}`));
    expect(stdout).toContain('warning: SVC_HOSTS is not a variable of this service');
    expect(rowsOf(stdout).get('SVC_PORT')).toEqual(['(has a problem)', 'environment']);
    expect(rowsOf(stdout).get('SVC_SSL_CERT')?.[0]).toBe('(has a problem)');
    expect(stdout).not.toMatch(/marker|BEGIN/);
  });

  it('reports the same as JSON', async () => {
    const environment = { SVC_ENV_FEAT_TOKEN_EXCHANGE: '1', PORT: '8080', SVC_PROXY_HOPS: 'many' };
    const { exitCode, problems, tokenExchange, license, variables } = await told(environment);
    expect([exitCode, problems.length, license]).toEqual([1, 1, null]);
    expect(tokenExchange).toEqual({
      available: false,
      reason: 'flag_not_true',
      explanation: expect.stringContaining('turns the feature on only as exactly true'),
    });
    expect(variables).toHaveLength(ENVIRONMENT_VARIABLES.length);
    const found = (name: string) => variables.find((variable) => variable.name === name);
    expect(found('SVC_PORT')).toEqual({
      name: 'SVC_PORT',
      value: '8080',
      state: 'set',
      secret: false,
      as: 'PORT',
      source: 'environment',
    });
    expect(found('SVC_PROXY_HOPS')).toMatchObject({ value: null, state: 'problem' });
    expect(found('SVC_SSL_KEY')).toEqual({ name: 'SVC_SSL_KEY', value: null, state: 'unset', secret: true });
    expect(found('SVC_HOST')).toMatchObject({ value: '127.0.0.1', state: 'default' });
  });

  describe('the points of docs/operator/going-live.md', () => {
    const statesOf = async (environment: Record<string, string>) =>
      (await told(environment)).goingLive.map(({ state }) => state).join(' ');
    const entryWith = (members: object) => ({
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([{ ...ENTRY, ...members }]),
    });
    const BASE_URL = 'https://instance.example';
    const READY = {
      SVC_TOKEN_EXCHANGE_STRICT: 'true',
      SVC_EMBED_LOGIN_ENABLED: 'true',
      SVC_BASE_URL: BASE_URL,
      SVC_ENCRYPTION_KEY: KEY,
      SVC_AUDIT_RETENTION_DAYS: '365',
      SVC_THROTTLE_STORE: 'database',
    };
    const GOOD = {
      ...{ expectedAudience: BASE_URL, origins: ['https://product.example'], perMinute: 600 },
      ...{ allowedRoles: ['global:member'], emailDomains: ['product.example'] },
    };

    it('are all checked in the order of the document, as text and as JSON', async () => {
      const titles = [
        ...repositoryFile('docs/operator/going-live.md').text.matchAll(/^\| \d+ \| \*\*(.*?)\.\*\* /gm),
      ];
      const { goingLive } = await told({});
      expect(goingLive.map(({ title }) => title)).toEqual(titles.map(([, title]) => title));
      expect(goingLive).toHaveLength(12);
      const { stdout } = await check(READY);
      expect(stdout).toMatch(/\n12 +Log +check +look for a token in the logs/);
    });

    it.each([
      ['nothing', {}, 'open check good open check open check check open check check check'],
      [
        'what the document asks for',
        { ...READY, ...entryWith(GOOD) },
        'good good good check check check check check good good check check',
      ],
      [
        'an entry for any audience, plain pages, no limit and no metrics',
        {
          ...READY,
          ...entryWith({ origins: ['http://product.example'] }),
          ...{ SVC_TOKEN_EXCHANGE_STRICT: 'false', SVC_METRICS_PORT: '0' },
        },
        'open open open check check check check open good open check check',
      ],
    ])('are reported as done or open: %s', async (_, environment, states) => {
      expect(await statesOf(environment)).toBe(states);
    });
  });
});
