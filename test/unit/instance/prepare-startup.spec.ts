// The checks before the start: all problems of configuration, licence and trusted keys are reported at once.
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Partner } from '../../../demo/partner.js';
import type { Environment } from '../../../src/config/load-config.js';
import { ConfigurationError } from '../../../src/config/load-config.js';
import { encryptionKeys, prepareStartup } from '../../../src/instance/prepare-startup.js';
import { metricsAddress } from '../../../src/metrics/metrics.listener.js';
import { licenseEnvironment } from '../../support/license.js';

const MARKER = 'marker-5150';
const ENTRY = Partner.create({ issuer: 'https://a.example', kid: 'k1' }).staticEntry();
const KEYS = { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([ENTRY]) };
const FLAG = { SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true' };
const DATABASE = { SVC_DATABASE_URL: 'postgres://user:secret@db.example/name' };

let workingDirectory: string;
beforeEach(() => (workingDirectory = mkdtempSync(join(tmpdir(), 'startup-'))));
afterEach(() => rmSync(workingDirectory, { recursive: true }));

const start = (environment: Environment, envFile?: string) =>
  prepareStartup({ environment, workingDirectory, ...(envFile === undefined ? {} : { envFile }) });

async function problemsOf(environment: Environment): Promise<readonly string[]> {
  const error: unknown = await start(environment).catch((reason: unknown) => reason);
  if (error instanceof ConfigurationError) return error.problems;
  throw new Error('it started');
}

function write(name: string, text: string): string {
  const path = join(workingDirectory, name);
  writeFileSync(path, text);
  return path;
}

describe('startup', () => {
  it('[1.4] requires nothing if the feature is off', async () => {
    const { config, license, trustedKeys, warnings } = await start({});
    expect(config.featureFlag).toBe(false);
    expect(license.includes('token-exchange', 0)).toBe(false);
    expect([trustedKeys, warnings]).toEqual([[], []]);
  });

  it('[2.1] loads the configured trusted keys and licence', async () => {
    const { license, trustedKeys } = await start({ ...FLAG, ...KEYS, ...(await licenseEnvironment()) });
    expect(trustedKeys).toMatchObject([{ type: 'static', issuer: 'https://a.example' }]);
    expect(license.includes('token-exchange', Date.now())).toBe(true);
  });

  it('[D32][P.scopes] reports warnings of configuration and of trusted keys', async () => {
    const entries = JSON.stringify([
      {
        ...ENTRY,
        allowedRoles: ['global:owner'],
        expectedAudience: 'instance',
        linkPrivileged: false,
        scopes: ['workflow:red'],
      },
    ]);
    const { warnings } = await start({ SVC_HOSTS: MARKER, SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: entries });
    expect(warnings.map((warning) => warning.split(/[ :]/)[0])).toEqual([
      'SVC_HOSTS',
      ...['SVC_TOKEN_EXCHANGE_TRUSTED_KEYS', 'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'],
    ]);
  });
});

describe('startup fails', () => {
  it('[2.1] without trusted keys if the feature is on', async () => {
    expect(await problemsOf(FLAG)).toEqual([
      'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: is required when SVC_ENV_FEAT_TOKEN_EXCHANGE is true',
    ]);
  });

  it('[1.4] on any free port without an address', async () => {
    expect(await problemsOf({ SVC_PORT: '0' })).toEqual(['SVC_BASE_URL: is required when SVC_PORT is 0']);
  });

  it("[D126] with an entry of the instance's own issuer", async () => {
    const own = { SVC_BASE_URL: 'https://own.example', ...FLAG };
    const entry = { ...ENTRY, issuer: 'https://own.example/' };
    const keys = { SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([entry]) };
    expect(await problemsOf({ ...own, ...keys })).toEqual([
      'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: entry 0, issuer: must not be the address of this instance, which signs no external tokens',
    ]);
  });

  it('[D45][K20] without an encryption key on PostgreSQL', async () => {
    expect(await problemsOf(DATABASE)).toEqual([
      'SVC_ENCRYPTION_KEY: is required with SVC_DATABASE_URL; openssl rand -base64 32 generates one',
    ]);
  });

  it('[D91] if metrics use the port of the service', async () => {
    const same = ['SVC_METRICS_PORT: must be another port than SVC_PORT'];
    expect(await problemsOf({ SVC_METRICS_PORT: '5678' })).toEqual(same);
    expect(await problemsOf({ SVC_METRICS_PORT: '5678', SVC_METRICS_HOST: '127.0.0.1' })).toEqual(same);
    expect(await problemsOf({ SVC_METRICS_PORT: '5678', SVC_METRICS_HOST: '::' })).toEqual(same);
  });

  it('[D39] with a licence and no key to verify it', async () => {
    const { SVC_LICENSE } = await licenseEnvironment();
    expect(await problemsOf({ SVC_LICENSE })).toEqual([
      'SVC_LICENSE_PUBLIC_KEY: is required with SVC_LICENSE',
    ]);
  });

  it.each([MARKER, `${MARKER}.${MARKER}.${MARKER}`])('[D39] with the licence %s', async (text) => {
    const { SVC_LICENSE_PUBLIC_KEY } = await licenseEnvironment();
    const problems = await problemsOf({ SVC_LICENSE: text, SVC_LICENSE_PUBLIC_KEY });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^SVC_LICENSE: its signature does not verify/);
    expect(problems[0]).not.toContain(MARKER);
  });

  it('[D32] with problems of all kinds in one list, without a value', async () => {
    const problems = await problemsOf({
      ...{ ...FLAG, ...DATABASE, SVC_PORT: MARKER, SVC_LICENSE: MARKER, SVC_LICENSE_PUBLIC_KEY: MARKER },
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([{ ...ENTRY, key: MARKER }, { type: MARKER }]),
    });
    expect(problems.map((problem) => problem.split(':')[0]).sort()).toEqual([
      'SVC_ENCRYPTION_KEY',
      'SVC_LICENSE_PUBLIC_KEY',
      'SVC_PORT',
      ...Array<string>(problems.length - 3).fill('SVC_TOKEN_EXCHANGE_TRUSTED_KEYS'),
    ]);
    expect(problems.join()).toMatch(/entry 0, key: .*entry 1, type: /s);
    expect(new ConfigurationError(problems).message).not.toMatch(/marker|secret/);
  });
});

describe('[D32] an actionable problem', () => {
  const VENDOR = 'SVC_LICENSE_PUBLIC_KEY';
  const { privateKey } = generateKeyPairSync('ed25519');
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it.each<[string, () => Promise<Environment> | Environment, string[]]>([
    [
      'keys whose file is not there are not missing too',
      () => ({ ...FLAG, SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: '/absent/keys.json' }),
      ['SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: /absent/keys.json cannot be read (ENOENT: there is none)'],
    ],
    [
      'nor a certificate',
      () => ({ SVC_SSL_CERT_FILE: '/absent/cert.pem', SVC_SSL_KEY: privatePem }),
      ['SVC_SSL_CERT_FILE: /absent/cert.pem cannot be read (ENOENT: there is none)'],
    ],
    [
      'keys that were given by their path',
      () => ({ ...FLAG, SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: './trusted-keys.json' }),
      [
        'SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: not valid JSON (line 1, column 1); did you mean SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE, with this path?',
      ],
    ],
    [
      'a licence that was given by its path',
      async () => ({ ...(await licenseEnvironment()), SVC_LICENSE: 'license.jws' }),
      [
        'SVC_LICENSE: its signature does not verify with the public key; did you mean SVC_LICENSE_FILE, with this path?',
      ],
    ],
    [
      'a private key in the place of the vendor key',
      async () => ({ ...(await licenseEnvironment()), [VENDOR]: privatePem }),
      [`${VENDOR}: the public key is a private key`],
    ],
  ])('%s', async (_, environment, problems) => {
    expect(await problemsOf(await environment())).toEqual(problems);
    expect(problems.join()).not.toContain(MARKER);
  });

  it('contains the file of keys', async () => {
    const path = write('keys.json', JSON.stringify([{ ...ENTRY, kid: '' }]));
    expect(await problemsOf({ ...FLAG, SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: path })).toEqual([
      `SVC_TOKEN_EXCHANGE_TRUSTED_KEYS (in ${path}): entry 0, kid: must be a non-empty string`,
    ]);
  });
});

describe('[D91] the metrics address', () => {
  const addressIn = async (environment: Environment) => metricsAddress(await start(environment));

  it('is the loopback interface even if the service uses another one, and port 0 disables it', async () => {
    const standard = { host: '127.0.0.1', port: 9464 };
    expect(await addressIn({ SVC_HOST: '::' })).toEqual({ ...standard, isChosen: false });
    expect(await addressIn({ SVC_METRICS_PORT: '9464' })).toEqual({ ...standard, isChosen: true });
    expect(await addressIn({ SVC_METRICS_PORT: '0' })).toBeUndefined();
  });
});

describe('the encryption key for secrets', () => {
  it('[D45] is created once in the data folder, readable by its owner only', async () => {
    const { config } = await start({ SVC_DATA_DIR: workingDirectory });
    const [made] = encryptionKeys(config);
    expect(made).toHaveLength(32);
    expect(encryptionKeys(config)).toEqual([made]);
    const path = join(workingDirectory, 'encryption.key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8').trim()).toBe(made?.toString('base64'));
  });

  const made = async () => {
    const { config } = await start({ SVC_DATA_DIR: workingDirectory });
    encryptionKeys(config);
    return { config, path: join(workingDirectory, 'encryption.key') };
  };

  it.each([0o604, 0o602, 0o666])(
    '[D45] is rejected with mode %o, with the command that corrects it',
    async (mode) => {
      const { config, path } = await made();
      chmodSync(path, mode);
      expect(() => encryptionKeys(config)).toThrow(
        `${path}: other accounts may read or write it. Correct it: chmod 600 '${path}'`,
      );
      // The mode in a Kubernetes volume with `fsGroup`.
      chmodSync(path, 0o660);
      expect(encryptionKeys(config)).toHaveLength(1);
    },
  );

  it('[D45] is rejected if it belongs to another account, with the command that corrects it', async () => {
    const { config, path } = await made();
    const account = process.getuid?.() ?? 0;
    const spy = jest.spyOn(process, 'getuid').mockReturnValue(account + 1);
    expect(() => encryptionKeys(config)).toThrow(
      `${path}: belongs to account ${account}, and the service runs as ${account + 1}. If the key is yours: sudo chown ${account + 1} '${path}'`,
    );
    spy.mockRestore();
  });

  it('[D45] is never written to a file that another account has planted in a world-writable folder', async () => {
    const { config } = await start({ SVC_DATA_DIR: workingDirectory });
    chmodSync(workingDirectory, 0o777);
    const stolen = join(workingDirectory, 'stolen');
    symlinkSync(stolen, join(workingDirectory, 'encryption.key.new'));
    expect(encryptionKeys(config)).toHaveLength(1);
    expect(existsSync(stolen)).toBe(false);
  });
});
