// svc-admin init: the files it creates, its refusals, the files it moves aside, and its questions.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeOnPostgresql } from '../support/databases.js';
import type { CommandResult } from '../support/run-cli.js';
import { CommandLine } from '../support/run-cli.js';
import { describeOutsideMain } from '../support/series.js';

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
  readonly files: { path: string }[];
  readonly backup?: string;
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
}

const namesOf = ({ files }: Told) => files.map(({ path }) => path).sort();

describeOutsideMain('svc-admin init', () => {
  const line = new Folder();
  let first: Told;

  beforeAll(async () => {
    first = await line.init('--port', '23456');
  });

  it('makes all that a trial needs, private files for their owner alone, and says what to type next', () => {
    expect(namesOf(first)).toEqual(FILES);
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
      'npx embedded-token-exchange',
      'npx svc-admin keys check',
      expect.stringContaining(
        'token sign --key partner/private.pem --kid partner-1 --issuer https://partner.example',
      ),
      expect.stringContaining('curl -s http://localhost:23456/rest/auth/oauth/token'),
      expect.stringContaining('curl -s http://localhost:23456/api/v1/workflows'),
    ]);
    expect(JSON.stringify(first)).not.toContain(line.read('instance/encryption.key').trim());
  });

  it.each([
    [{ access_token: 'eyJ' }, { status: 0, stdout: 'eyJ\n' }],
    [{ error: 'invalid_grant' }, { status: 1, stdout: '', stderr: expect.stringContaining('invalid_grant') }],
  ])('prints an exchange that, answered with %j, shows the access token or the error', (answer, shown) => {
    const exchange = first.next.find(({ command }) => command.startsWith('ACCESS_TOKEN='));
    const reader = /\| (node .*)\)$/.exec(exchange?.command ?? '')?.[1] ?? '';
    const options = { input: JSON.stringify(answer), encoding: 'utf8' } as const;
    expect(spawnSync('sh', ['-c', reader], options)).toMatchObject(shown);
  });

  it('[P.strict] leaves a configuration with which the service starts, under the strict policy', async () => {
    const { problems, tokenExchange, variables } = JSON.parse(
      await line.output(['config', 'check', '--json']),
    ) as { problems: string[]; tokenExchange: object; variables: { name: string; value: string }[] };
    expect([problems, tokenExchange]).toEqual([[], { available: true, embedLogin: true, exchange: true }]);
    const valueOf = (name: string) => variables.find((variable) => variable.name === name)?.value;
    expect([valueOf('SVC_TOKEN_EXCHANGE_STRICT'), valueOf('SVC_PORT')]).toEqual(['true', '23456']);
    const users = JSON.parse(await line.output(['users', 'list', '--json'])) as object[];
    expect(users).toMatchObject([{ email: 'owner@b.example', role: 'global:owner' }]);
    // More users than one address may sign in.
    expect(JSON.parse(line.read('instance/trusted-keys.json'))).toMatchObject([{ perMinute: 600 }]);
  });

  it('changes nothing where one of its files is there, names it, and exits with 3', async () => {
    const before = line.contents();
    const { exitCode, stdout, stderr } = await line.run(['init', ...OWNER, '--port', '23457']);
    expect([exitCode, stdout]).toEqual([3, '']);
    expect(stderr.split('\n').slice(1, -1).sort()).toEqual(FILES.map((name) => `  - ${name}`));
    expect(line.contents()).toEqual(before);
    const half = new Folder();
    mkdirSync(join(half.folder, 'partner'));
    half.write('partner/jwks.json', {});
    expect((await half.run(['init', ...OWNER])).stderr.split('\n').slice(1, -1)).toEqual([
      '  - partner/jwks.json',
    ]);
  });

  it('with --force moves them aside, keeps sealing key and own lines of .env, and the instance starts', async () => {
    writeFileSync(
      join(line.folder, '.env'),
      `${line.read('.env')}SVC_LOG_LEVEL=debug\n# mine\nOTHER='two words'\n`,
    );
    const before = line.contents();
    line.write('instance/own.json', {});
    const forced = await line.init('--port', '23457', '--force', '--owner-email', 'other@b.example');
    expect(namesOf(forced)).toEqual(FILES);
    expect(forced.owner).toMatchObject({ email: 'owner@b.example', state: 'kept' });
    for (const name of FILES) expect(line.read(join(forced.backup ?? '', name))).toBe(before[name]);
    expect(statSync(join(line.folder, forced.backup ?? '')).mode & 0o777).toBe(0o700);
    const settings = line.read('.env').split('\n');
    for (const own of ['SVC_PORT=23457', 'SVC_LOG_LEVEL=debug', "OTHER='two words'"])
      expect(settings).toContain(own);
    expect(line.read('instance/encryption.key')).toBe(before['instance/encryption.key']);
    expect(line.read('partner/private.pem')).not.toBe(before['partner/private.pem']);
    expect(line.read('instance/own.json')).toBe('{}');
    expect((await line.run(['config', 'check'])).exitCode).toBe(0);
  });

  it('completes with --force what broke off before its settings, under the same sealing key', async () => {
    const key = line.read('instance/encryption.key');
    rmSync(join(line.folder, '.env'));
    await line.init('--force');
    expect(line.read('instance/encryption.key')).toBe(key);
  });

  it.each([
    ['a missing answer', ['--yes'], '--owner-email <address> is needed'],
    ['a missing answer where nobody can be asked', [], '--owner-email <address> is needed'],
    ['an address that is none', ['--owner-email', 'x'], '--owner-email <address> must be an e-mail address'],
    ['any port', [...OWNER, '--port', '0'], '--port <number> must be from 1 to 65535'],
    [
      'a database that is none',
      [...OWNER, '--database-url', 'mysql://secret'],
      '--database-url <url> must be a postgres:// URL',
    ],
    ['another env file', [...OWNER, '--env-file', 'x.env'], 'Omit --env-file'],
  ])('takes %s for misuse, and names the option', async (_, args, complaint) => {
    const empty = new Folder();
    empty.write('x.env', '');
    const { exitCode, stdout, stderr } = await empty.run(['init', ...args]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
    expect(stderr).not.toContain('secret');
  });
});

describe('svc-admin init at a terminal', () => {
  const line = new Folder();

  it('asks what no option says, again where the answer is wrong, and offers defaults', async () => {
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
      'Public address of the instance [http://localhost:23458]: ',
    ]);
    expect(questions.some((question) => question.startsWith('Issuer'))).toBe(false);
    expect(questions.at(-1)).toContain('[login.acme.example]');
    expect(stdout).toContain("npx embedded-token-exchange --env-file 'new place/.env'\n");
    expect(line.read('new place/.env')).toContain(
      `SVC_DATA_DIR='${join(line.folder, 'new place', 'data')}'\n`,
    );
  });

  it('takes over the sealing key of data that are there already', async () => {
    const key = readFileSync(join(line.folder, 'new place', 'instance', 'encryption.key'), 'utf8');
    const used = new Folder();
    cpSync(join(line.folder, 'new place', 'data'), join(used.folder, 'data'), { recursive: true });
    used.write('data/encryption.key', key);
    const told = await used.init();
    expect(told.owner.state).toBe('kept');
    expect(used.read('instance/encryption.key')).toBe(key);
  });
});

describeOnPostgresql('svc-admin init on PostgreSQL', (database) => {
  const line = new Folder(() => database.environment);

  it('makes the owner there, and keeps the address of the database in .env', async () => {
    const { SVC_DATABASE_URL: url = '' } = database.environment;
    const told = JSON.parse(
      (await line.run(['init', ...OWNER, '--json', '--database-url', url], {})).stdout,
    ) as Told;
    expect(told.owner.state).toBe('created');
    expect(line.read('.env')).toContain(url);
    expect(line.read('.env')).not.toContain('SVC_DATA_DIR');
    expect(existsSync(join(line.folder, 'data'))).toBe(false);
    expect(JSON.stringify(told)).not.toContain(url);
    // The existing settings are the default answers.
    const settings = line.read('.env');
    await line.init('--force');
    expect(line.read('.env')).toBe(settings);
  });
});
