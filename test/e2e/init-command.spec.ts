// svc-admin init: what it makes, what it keeps, what it refuses to replace, and what it asks.
import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { databaseEnvironment, describeOnPostgresql } from '../support/databases.js';
import type { CommandResult } from '../support/run-cli.js';
import { CommandLine } from '../support/run-cli.js';
import { describeOutsideMain } from '../support/series.js';

// Each opens an embedded database, where others keep the machine busy.
jest.setTimeout(240_000);

const OWNER = ['--yes', '--owner-email', 'owner@b.example'];
const FILES = [
  '.env',
  'instance/encryption.key',
  'instance/license.jws',
  'instance/trusted-keys.json',
  'instance/vendor.pem',
  'instance/vendor.pub.pem',
  'partner/jwks.json',
  'partner/private.pem',
  'partner/public.pem',
];
const PRIVATE = ['.env', 'instance/encryption.key', 'instance/vendor.pem', 'partner/private.pem'];

interface Told {
  readonly files: { path: string; state: string; backup?: string; wasOpen?: true }[];
  readonly owner: { id: string; email: string; state: string };
  readonly next: { command: string }[];
}

class Folder extends CommandLine {
  async init(...args: string[]): Promise<Told> {
    return JSON.parse(await this.output(['init', ...OWNER, '--json', ...args])) as Told;
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8');
  }

  /** All that init has written, by name. */
  contents(): Record<string, string> {
    return Object.fromEntries(
      FILES.filter((name) => existsSync(join(this.folder, name))).map((name) => [name, this.read(name)]),
    );
  }

  states(told: Told, state: string): string[] {
    return told.files
      .filter((file) => file.state === state)
      .map(({ path }) => path)
      .sort();
  }
}

describeOutsideMain('[D115] svc-admin init', () => {
  const line = new Folder();
  let first: Told;

  beforeAll(async () => {
    first = await line.init('--port', '23456');
  });

  it('[D115] makes all that a trial needs, private files for their owner alone, and says what to type next', () => {
    expect(line.states(first, 'created')).toEqual(FILES);
    for (const name of FILES)
      expect([name, statSync(join(line.folder, name)).mode & 0o777]).toEqual([
        name,
        PRIVATE.includes(name) ? 0o600 : 0o644,
      ]);
    expect(statSync(join(line.folder, 'partner')).mode & 0o777).toBe(0o700);
    expect(first.owner).toEqual({
      id: expect.any(String),
      email: 'owner@b.example',
      role: 'global:owner',
      state: 'created',
    });
    expect(first.next.map(({ command }) => command)).toEqual([
      'npm start',
      'npx svc-admin keys check',
      expect.stringContaining(
        'token sign --key partner/private.pem --kid partner-1 --issuer https://partner.example',
      ),
      expect.stringContaining('curl -s http://localhost:23456/rest/auth/oauth/token'),
      expect.stringContaining('curl -s http://localhost:23456/api/v1/workflows'),
    ]);
    expect(JSON.stringify(first)).not.toContain(line.read('instance/encryption.key').trim());
  });

  it('[D115][P.strict] leaves a configuration with which the service starts, under the strict policy', async () => {
    const { problems, tokenExchange, variables } = JSON.parse(
      await line.output(['config', 'check', '--json']),
    ) as { problems: string[]; tokenExchange: object; variables: { name: string; value: string }[] };
    expect([problems, tokenExchange]).toEqual([[], { available: true, embedLogin: true, exchange: true }]);
    const valueOf = (name: string) => variables.find((variable) => variable.name === name)?.value;
    expect([valueOf('SVC_TOKEN_EXCHANGE_STRICT'), valueOf('SVC_PORT')]).toEqual(['true', '23456']);
    const users = JSON.parse(await line.output(['users', 'list', '--json'])) as object[];
    expect(users).toMatchObject([{ email: 'owner@b.example', role: 'global:owner' }]);
  });

  it('[D115] keeps everything when it is run again, and completes what is half finished', async () => {
    const before = line.contents();
    rmSync(join(line.folder, '.env'));
    rmSync(join(line.folder, 'instance', 'license.jws'));
    const again = await line.init('--port', '23456', '--owner-email', 'other@b.example');
    expect(line.states(again, 'created')).toEqual(['.env', 'instance/license.jws']);
    expect(again.owner).toMatchObject({ email: 'owner@b.example', state: 'kept' });
    const after = line.contents();
    expect({ ...after, 'instance/license.jws': '' }).toEqual({ ...before, 'instance/license.jws': '' });
  });

  it('[D115] takes private files that it keeps away from others, and says so', async () => {
    const paths = PRIVATE.map((name) => join(line.folder, name));
    for (const path of paths) chmodSync(path, 0o644);
    const text = await line.output(['init', ...OWNER, '--port', '23456']);
    expect(text.match(/others could read it; now only its owner can/g)).toHaveLength(PRIVATE.length);
    for (const path of paths) expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await line.init('--port', '23456')).files.filter(({ wasOpen }) => wasOpen)).toEqual([]);
  });

  it('[D115][D116] changes nothing where something does not fit, names it without values, and exits with 3', async () => {
    const before = line.contents();
    const { exitCode, stdout, stderr } = await line.run(['init', ...OWNER, '--port', '23457']);
    expect([exitCode, stdout]).toEqual([3, '']);
    expect(stderr.split('\n').slice(1, -1)).toEqual([
      '  - instance/trusted-keys.json: expects another audience',
      '  - .env: has another value for SVC_BASE_URL, SVC_PORT',
    ]);
    expect(line.contents()).toEqual(before);
  });

  it('[D115] replaces that with --force alone, and keeps what was there', async () => {
    const before = line.contents();
    writeFileSync(join(line.folder, 'partner', 'private.pem'), 'not a key');
    const forced = await line.init('--port', '23457', '--force');
    const replaced = [
      '.env',
      'instance/trusted-keys.json',
      'partner/jwks.json',
      'partner/private.pem',
      'partner/public.pem',
    ];
    expect(line.states(forced, 'replaced')).toEqual(replaced);
    for (const { path, backup } of forced.files.filter(({ state }) => state === 'replaced'))
      expect(line.read(backup ?? '')).toBe(path === 'partner/private.pem' ? 'not a key' : before[path]);
    expect(line.read('.env')).toContain('SVC_PORT=23457\n');
    expect(line.read('instance/vendor.pem')).toBe(before['instance/vendor.pem']);
    expect(readdirSync(line.folder).filter((name) => name.endsWith('.bak'))).toHaveLength(1);
  });

  it('[D115] keeps additions to the settings and the trusted keys', async () => {
    writeFileSync(join(line.folder, '.env'), `${line.read('.env')}SVC_LOG_LEVEL=debug\n`);
    const [entry] = JSON.parse(line.read('instance/trusted-keys.json')) as object[];
    line.write('instance/trusted-keys.json', [
      { ...entry, kid: 'other' },
      { ...entry, perMinute: 60 },
    ]);
    expect(line.states(await line.init('--port', '23457'), 'kept')).toEqual(FILES);
  });

  it.each([
    ['a missing answer', ['--yes'], '--owner-email <address> is needed'],
    ['a missing answer where nobody can be asked', [], '--owner-email <address> is needed'],
    ['an address that is none', ['--owner-email', 'x'], '--owner-email <address> must be an e-mail address'],
    ['a port that is none', [...OWNER, '--port', 'x'], '--port <number> must be a whole number'],
    ['any port', [...OWNER, '--port', '0'], '--port <number> must be from 1 to 65535'],
    [
      'a database that is none',
      [...OWNER, '--database-url', 'mysql://secret'],
      '--database-url <url> must be a postgres:// URL',
    ],
    ['another env file', [...OWNER, '--env-file', 'x.env'], 'leave --env-file out'],
  ])('[D116] takes %s for misuse, and names the option', async (_, args, complaint) => {
    line.write('x.env', '');
    const { exitCode, stdout, stderr } = await line.run(['init', ...args]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
    expect(stderr).not.toContain('secret');
  });
});

describe('[D115] svc-admin init at a terminal', () => {
  const line = new Folder();

  it('[D115] asks what no option says, again where the answer is wrong, and offers defaults', async () => {
    const questions: string[] = [];
    const typed = ['nobody', 'owner@b.example', '23458'];
    const ask = (question: string) => {
      questions.push(question);
      return Promise.resolve(typed.shift() ?? '');
    };
    cpSync(join(__dirname, 'init-command.spec.ts'), join(line.folder, 'unrelated'));
    const args = ['init', '--dir', 'new place', '--partner-issuer', 'https://login.acme.example'];
    const { exitCode, stdout }: CommandResult = await line.run(args, {}, '', { terminal: { ask } });
    expect(exitCode).toBe(0);
    expect(questions.slice(0, 4)).toEqual([
      'E-mail address of the owner of the instance: ',
      'It must be an e-mail address.\nE-mail address of the owner of the instance: ',
      'TCP port to listen on [5678]: ',
      'Address under which browsers and partners reach the instance [http://localhost:23458]: ',
    ]);
    expect(questions.some((question) => question.startsWith('Issuer'))).toBe(false);
    expect(questions.at(-1)).toContain('[login.acme.example]');
    expect(stdout).toContain("npm start -- --env-file 'new place/.env'\n");
    expect(line.read('new place/.env')).toContain(
      `SVC_DATA_DIR='${join(line.folder, 'new place', 'data')}'\n`,
    );
  });

  it('[D115] takes over the sealing key of data that are there already', async () => {
    const key = readFileSync(join(line.folder, 'new place', 'instance', 'encryption.key'), 'utf8');
    const used = new Folder();
    cpSync(join(line.folder, 'new place', 'data'), join(used.folder, 'data'), { recursive: true });
    used.write('data/encryption.key', key);
    const told = await used.init();
    expect(told.owner.state).toBe('kept');
    expect(used.read('instance/encryption.key')).toBe(key);
  });
});

describeOnPostgresql('[D115] svc-admin init on PostgreSQL', (database) => {
  const line = new Folder(() => databaseEnvironment(database));

  it('[D115] makes the owner there, and keeps the address of the database in .env', async () => {
    const { SVC_DATABASE_URL: url = '' } = databaseEnvironment(database);
    const told = JSON.parse(
      (await line.run(['init', ...OWNER, '--json', '--database-url', url], {})).stdout,
    ) as Told;
    expect(told.owner.state).toBe('created');
    expect(line.read('.env')).toContain(url);
    expect(line.read('.env')).not.toContain('SVC_DATA_DIR');
    expect(existsSync(join(line.folder, 'data'))).toBe(false);
    expect(JSON.stringify(told)).not.toContain(url);
    // What the environment says is the default of what is asked.
    expect(line.states(await line.init(), 'kept')).toEqual(FILES);
  });
});
