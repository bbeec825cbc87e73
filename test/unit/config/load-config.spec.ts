// How the variables become the configuration: sources, files, defaults, ranges, and error messages.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENVIRONMENT_VARIABLES } from '../../../src/config/environment.js';
import type { Environment } from '../../../src/config/load-config.js';
import { ConfigurationError, readConfig, readEnvFile } from '../../../src/config/load-config.js';
import { rangeOf } from '../../../src/config/variable.js';

/** Stands in every bad value, so that a message that repeats a value shows it. */
const MARKER = 'marker-5150';
const KEY = Buffer.alloc(32, 1).toString('base64');

const directory = mkdtempSync(join(tmpdir(), 'configuration-'));
afterAll(() => rmSync(directory, { recursive: true }));

const read = (...sources: Environment[]) => readConfig(sources);

function file(content: string | Uint8Array): string {
  const path = join(directory, `${Math.random()}`);
  writeFileSync(path, content);
  return path;
}

describe('sources', () => {
  it('[D32] the strongest source that has a variable wins', () => {
    const { config, problems } = read(
      { SVC_HOST: 'first' },
      { SVC_HOST: 'second', SVC_PORT: '2' },
      { SVC_HOST: 'third', SVC_PORT: '3', SVC_PROXY_HOPS: '4' },
    );
    expect(config).toMatchObject({ host: 'first', port: 2, proxyHops: 4 });
    expect(problems).toEqual([]);
  });

  it.each(ENVIRONMENT_VARIABLES.map(({ name }) => name))('[2.1.file] %s may be read from a file', (name) => {
    const path = join(directory, 'absent');
    const { problems, warnings } = read({ [`${name}_FILE`]: path });
    expect(problems).toEqual([`${name}_FILE: ${path} cannot be read (ENOENT: there is none)`]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['text', 'text'],
    ['text\n', 'text'],
    ['text\r\n', 'text'],
    ['text \n\n', 'text \n'],
  ])('[D32] one trailing newline of a file is removed: %j', (content, value) => {
    expect(read({ SVC_SSL_CERT_FILE: file(content) }).config.tlsCertificate).toBe(value);
  });

  it.each(ENVIRONMENT_VARIABLES.map(({ name }) => name))(
    '[D32] %s together with its file variable is an error',
    (name) => {
      const { problems } = read({ [name]: MARKER, [`${name}_FILE`]: file(MARKER) });
      expect(problems).toEqual([`${name}: both ${name} and ${name}_FILE are set; give one`]);
    },
  );

  it.each<[string, Environment]>([
    ['an empty variable', { SVC_PORT: '' }],
    ['an empty file path', { SVC_PORT_FILE: '' }],
    ['an undefined variable', { SVC_PORT: undefined }],
  ])('[2.1.file] an empty %s is unset', (_, environment) => {
    expect(read(environment, { SVC_PORT: '7' })).toMatchObject({ config: { port: 7 }, problems: [] });
  });

  it('[D32] an env file must exist only if it was requested', () => {
    const absent = join(directory, 'absent');
    expect(() => readEnvFile(absent, true)).toThrow(ConfigurationError);
    expect(readEnvFile(absent, false)).toEqual({});
    expect(readEnvFile(file('SVC_HOST="quoted"\n# SVC_PORT=1\n'), true)).toEqual({ SVC_HOST: 'quoted' });
  });
});

describe('defaults', () => {
  it('suit a trial on one machine', () => {
    expect(read().config).toMatchObject({ host: '127.0.0.1', port: 5678, baseUrl: 'http://localhost:5678' });
  });

  it('the base address follows the port, and PORT is accepted too', () => {
    expect(read({ PORT: '8080' }).config).toMatchObject({ port: 8080, baseUrl: 'http://localhost:8080' });
    expect(read({ PORT_FILE: file('8081\n') }).config.port).toBe(8081);
    expect(read({ PORT: '8080', SVC_PORT: '9090' }).config.port).toBe(9090);
  });

  it.each([
    ['[8.1] issued tokens live 900 seconds at most', 'maxTokenLifetimeSeconds', 900],
    ['[8.2] keys are refreshed every 300 seconds', 'keyRefreshIntervalSeconds', 300],
    ['[8.3] replay records are purged every 60 seconds', 'jtiCleanupIntervalSeconds', 60],
    ['[8.4] a purge deletes 1000 records', 'jtiCleanupBatchSize', 1000],
    ['[8.5] the embed endpoint takes 20 requests a minute', 'embedLoginsPerMinute', 20],
    ['[8.6] the exchange endpoint takes 20 requests a minute', 'exchangesPerMinute', 20],
    ['[5.1.1] the feature is off', 'featureFlag', false],
    ['[5.1.3] embedded login is off', 'embedLoginEnabled', false],
    ['[5.1.4] token exchange is off', 'exchangeEnabled', false],
    ['[D25] the cookie is partitioned', 'partitionedCookie', true],
    ['[D27] no proxy is believed', 'proxyHops', 0],
    ['[D33] no http: key set is fetched', 'jwksAllowHttp', false],
    ['[D33] no private network is allowed', 'jwksAllowPrivate', []],
    ['[D45] there is no built-in encryption key', 'encryptionKeys', []],
    ['[D49] a request waits 1.8 seconds for the database', 'databaseWaitMs', 1_800],
  ] as const)('%s unless configured', (_, key, value) => expect(read().config[key]).toEqual(value));

  it('[D32] the configuration cannot be changed', () => expect(Object.isFrozen(read().config)).toBe(true));
});

describe('the feature flag', () => {
  it.each([
    ['true', true],
    ['True', false],
    ['1', false],
    ['true ', false],
    ['false', false],
  ])('[5.1.1] %j means %s', (text, value) => {
    const { config, problems, given } = read({ SVC_ENV_FEAT_TOKEN_EXCHANGE: text });
    expect(config.featureFlag).toBe(value);
    expect(problems).toEqual([]);
    const isMistaken = text !== 'true' && text !== 'false';
    expect(given.get('SVC_ENV_FEAT_TOKEN_EXCHANGE')?.remark !== undefined).toBe(isMistaken);
  });
});

describe('numbers', () => {
  it.each([
    ['[D32] SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE', 1, 1_000_000],
    ['[D32] SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE', 1, 1_000_000],
    ['[D32] SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL', 5, 86_400],
    ['[D32] SVC_TOKEN_EXCHANGE_KEY_REFRESH_INTERVAL_SECONDS', 1, 86_400],
    ['[D32] SVC_TOKEN_EXCHANGE_JTI_CLEANUP_INTERVAL_SECONDS', 1, 86_400],
    ['[D32] SVC_TOKEN_EXCHANGE_JTI_CLEANUP_BATCH_SIZE', 1, 100_000],
    ['[D26] SVC_EMBED_SESSION_TTL_SECONDS', 60, 86_400],
  ])('%s ranges from %d to %d', (title, min, max) => {
    const [, name = ''] = title.split(' ');
    const accepts = (text: string) => read({ [name]: text }).problems.length === 0;
    expect([min - 1, min, max, max + 1].map((value) => accepts(`${value}`))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(read({ [name]: `${max + 1}` }).problems).toEqual([
      `${name}: must be a whole number from ${min} to ${max}`,
    ]);
  });

  it.each(['1.5', '1e2', '+30', '-30', ' 30', '30 ', '0x1e', '3_0', '٣٠', '30s', 'NaN', '1'.repeat(400)])(
    '[D32] %j is not an integer',
    (text) => expect(read({ SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL: text }).problems).toHaveLength(1),
  );
});

describe('other kinds of value', () => {
  it.each([
    ['SVC_EMBED_LOGIN_ENABLED', 'True'],
    ['SVC_LOG_LEVEL', 'trace'],
    ['SVC_BASE_URL', 'other.example'],
    ['SVC_BASE_URL', 'https://other.example/path'],
    ['SVC_DATABASE_URL', 'mysql://host/name'],
    ['SVC_EMBED_FRAME_ANCESTORS', 'https://product.example/path'],
    ['SVC_EMBED_FRAME_ANCESTORS', `https://${'product.'.repeat(499)}example`],
    ['SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE', '10.0.0.0/33'],
    ['SVC_ENCRYPTION_KEY', Buffer.alloc(31).toString('base64')],
    ['SVC_ENCRYPTION_KEY', Buffer.alloc(32).toString('hex')],
    ['SVC_ENCRYPTION_KEY', `${KEY},`],
  ])('[D32][K20] %s does not accept %j', (name, text) => {
    const { problems } = read({ [name]: text });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: `));
    expect(problems[0]).not.toContain(text);
  });

  it('[D32] a byte order mark is not part of a value or an env file', () => {
    const path = file('\ufeffdb.example\n');
    const { config, problems } = read({ SVC_BASE_URL: '\ufeffhttps://other.example', SVC_HOST_FILE: path });
    expect([config.baseUrl, config.host, problems]).toEqual(['https://other.example', 'db.example', []]);
    expect(readEnvFile(file('\ufeffSVC_PORT=1\n'), true)).toEqual({ SVC_PORT: '1' });
  });

  it('[D32] a file in another encoding is reported', () => {
    const utf16 = (text: string) => file(Buffer.from(`\ufeff${text}`, 'utf16le'));
    const path = utf16('db.example');
    const latin1 = file(Buffer.from('postgres://ü', 'latin1'));
    expect(read({ SVC_HOST_FILE: path, SVC_DATABASE_URL_FILE: latin1 }).problems).toEqual([
      `SVC_HOST_FILE: ${path} is UTF-16 and must be UTF-8`,
      `SVC_DATABASE_URL_FILE: ${latin1} is not UTF-8, but perhaps Windows-1252`,
    ]);
    const env = utf16('SVC_PORT=1');
    expect(() => readEnvFile(env, false)).toThrow(`env file ${env}: is UTF-16 and must be UTF-8`);
  });

  it('[D45] several encryption keys are used in their order', () => {
    const second = Buffer.alloc(32, 2).toString('base64');
    const { encryptionKeys } = read({ SVC_ENCRYPTION_KEY: `${KEY}, ${second}` }).config;
    expect(encryptionKeys.map((key) => key[0])).toEqual([1, 2]);
  });
});

describe('single-line strings', () => {
  const names = ['SVC_DATA_DIR', 'SVC_HOST', 'SVC_METRICS_HOST', 'SVC_AUDIT_WEBHOOK_SECRET', 'SVC_BASE_URL'];
  const text = 'https://a-text-of-more-than-32-characters.example';

  it.each([
    [`'${text}'`, 'has quotes around it'],
    [`${text}\u0007${text}`, 'contains a control character'],
  ])('[D32] %j is rejected with the name of its variable, without its value', (value, problem) => {
    for (const name of names) {
      expect(read({ [name]: value }).problems).toEqual([
        expect.stringMatching(`^${name}: (member 1 )?${problem}`),
      ]);
      expect(read({ [name]: value }).problems.join()).not.toContain(text);
    }
  });

  it.each([' ', '\t', '\r', '\n', '\u00A0', '\u200B'])('[D32] %j at either end is rejected', (blank) => {
    for (const value of [blank + text, text + blank])
      expect(read({ SVC_DATA_DIR: value }).problems).toEqual([
        'SVC_DATA_DIR: begins or ends with a blank, or with the end of a line',
      ]);
    expect(read({ SVC_DATA_DIR_FILE: file(`${text}\n`) }).config.dataDirectory).toBe(text);
  });
});

describe('problems and warnings', () => {
  const bad = Object.fromEntries(
    ENVIRONMENT_VARIABLES.filter((variable) => rangeOf(variable)?.startsWith('exactly') === false).map(
      ({ name }) => [name, MARKER],
    ),
  );

  it('[D32] every problem is reported at once, by variable and without its value', () => {
    const { problems } = read(bad);
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(Object.keys(bad));
    expect(problems.length).toBeGreaterThan(20);
    expect(new ConfigurationError(problems).message).not.toContain(MARKER);
    for (const problem of problems) expect(new ConfigurationError(problems).message).toContain(problem);
  });

  it('[D32] a problem in a file is reported in the same way, without the content', () => {
    const path = file(MARKER);
    const { problems } = read({ SVC_PORT_FILE: path, SVC_ENCRYPTION_KEY_FILE: directory });
    expect(problems).toEqual([
      `SVC_PORT (in ${path}): must be a whole number from 0 to 65535`,
      `SVC_ENCRYPTION_KEY_FILE: ${directory} cannot be read (EISDIR: it is a folder)`,
    ]);
  });

  it('[D32] variables that Kubernetes sets for a service named svc are recognized, one line each', () => {
    const links = { SVC_PORT_80_TCP: MARKER, SVC_PORT_80_TCP_PROTO: MARKER, SVC_SERVICE_HOST: MARKER };
    const { problems, warnings } = read({ ...links, SVC_PORT: 'tcp://10.0.0.1:80' });
    const remedy =
      'Kubernetes sets such variables for a service that is called svc: set enableServiceLinks: false in the pod';
    expect(problems).toEqual([`SVC_PORT: must be a whole number from 0 to 65535; ${remedy}`]);
    expect(warnings).toEqual([
      `SVC_PORT_80_TCP, SVC_PORT_80_TCP_PROTO, SVC_SERVICE_HOST: without effect; ${remedy}`,
    ]);
  });

  it('[D32] an unknown variable of the service causes a warning without its value', () => {
    const { problems, warnings } = read(
      { SVC_TOKEN_EXCHANGE_MAX_TTL: MARKER, OTHER: MARKER },
      { SVC_HOSTS: MARKER },
    );
    expect(problems).toEqual([]);
    expect(warnings).toEqual([
      'SVC_HOSTS is not a variable of this service and has no effect; did you mean SVC_HOST?',
      'SVC_TOKEN_EXCHANGE_MAX_TTL is not a variable of this service and has no effect; did you mean SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL?',
    ]);
  });

  it.each([
    ['SVC_TOKEN_EXCHANGE_TRUSTED_KEYSFILE', 'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE'],
    ['svc_port', 'SVC_PORT'],
    ['SVC_SOMETHING_ELSE_ENTIRELY', undefined],
  ])('[D32] for the unknown variable %s the warning suggests %s', (name, meant) => {
    const question = meant === undefined ? '' : `; did you mean ${meant}?`;
    expect(read({ [name]: MARKER }).warnings).toEqual([
      `${name} is not a variable of this service and has no effect${question}`,
    ]);
  });

  it.each<[string, Environment, string]>([
    [
      'the whole path where a part was given',
      { SVC_HOST_FILE: 'absent.txt' },
      `SVC_HOST_FILE: ${resolve('absent.txt')} cannot be read (ENOENT: there is none)`,
    ],
    [
      'no path where a value stands in its place',
      { SVC_ENCRYPTION_KEY_FILE: KEY },
      'SVC_ENCRYPTION_KEY_FILE: the file cannot be read (ENOENT: there is none); if this is the value and not its path, set SVC_ENCRYPTION_KEY',
    ],
    [
      'the variable for a file where a path is no value',
      { SVC_ENCRYPTION_KEY: '/run/secrets/encryption-key' },
      'SVC_ENCRYPTION_KEY: member 1 is not 32 bytes in base64; openssl rand -base64 32 makes such a key; did you mean SVC_ENCRYPTION_KEY_FILE, with this path?',
    ],
    [
      'what a database address needs',
      { SVC_DATABASE_URL: `postgres://user:${MARKER}#%@[host/name` },
      'SVC_DATABASE_URL: must be a postgres:// URL; its user name and password are percent-encoded',
    ],
  ])('[D32] a problem names %s', (_, environment, problem) => {
    expect(read(environment).problems).toEqual([problem]);
    expect(problem).not.toContain(MARKER);
  });

  it('[D32] the source of each variable is known, even if its value is rejected', () => {
    const path = file('7\n');
    const { given } = read(
      { SVC_PORT_FILE: path, SVC_STRICT: 'x' },
      { SVC_PORT: '8', SVC_LOG_LEVEL: MARKER, SVC_HOST: '' },
      { SVC_ENV_FEAT_TOKEN_EXCHANGE: 'True' },
    );
    expect([...given]).toEqual([
      [
        'SVC_ENV_FEAT_TOKEN_EXCHANGE',
        { as: 'SVC_ENV_FEAT_TOKEN_EXCHANGE', source: 2, remark: expect.any(String) },
      ],
      ['SVC_PORT', { as: 'SVC_PORT_FILE', source: 0, path }],
      ['SVC_LOG_LEVEL', { as: 'SVC_LOG_LEVEL', source: 1 }],
    ]);
  });

  it('[D32] the path of an unreadable file is not reported, since it may be the value', () => {
    const { given } = read({ SVC_AUDIT_WEBHOOK_SECRET_FILE: MARKER });
    expect([...given]).toEqual([
      ['SVC_AUDIT_WEBHOOK_SECRET', { as: 'SVC_AUDIT_WEBHOOK_SECRET_FILE', source: 0 }],
    ]);
  });
});
