// svc-admin as a whole: version, misuse, exit codes. Every command has a description, an example, and JSON output on request.
import { examplesOf, leavesOf, wholeProgram } from '../../../scripts/docs/commands.js';
import { CommandLine, TEST_VERSION } from '../../support/run-cli.js';
import { repositoryFiles } from '../../support/source-files.js';

const leaves = leavesOf(wholeProgram());

describe('svc-admin', () => {
  const line = new CommandLine();

  it('reports its version', async () => {
    expect(await line.run(['--version'])).toEqual({ exitCode: 0, stdout: `${TEST_VERSION}\n`, stderr: '' });
  });

  it.each([
    [[], 'Usage: svc-admin'],
    [['license'], 'Usage: svc-admin license'],
    [['frobnicate'], "error: unknown command 'frobnicate'"],
    [['users', 'creat'], 'Did you mean create?'],
    [['migrate', '--fast'], "error: unknown option '--fast'"],
    [['users', 'create'], "error: required option '--email <address>' not specified"],
    [
      ['users', 'create', '--email', 'a@b.example', '--role', 'king'],
      'Allowed choices are global:owner, global:admin',
    ],
    [['users', 'disable'], "error: missing required argument 'id-or-email'"],
    [['keys', 'add', '--like', 'acme'], 'error: Give either --file, or --like and --key.'],
    [
      ['projects', 'set-key', '1', '--issuer', 'a', '--key', 'b'],
      'error: <project-id> must be the id of a project.',
    ],
    [
      ['keys', 'policy', 'a', '--set', 'b=1', '--unset', 'b'],
      'error: --set and --unset both have "b". Use one of them.',
    ],
    [['audit', 'list', '--since', '2031-05-02', '--until', '2031-05-01'], 'error: --since '],
    [['data', 'copy'], 'error: Give the address of the new database'],
  ])('exits with 2 and says what is wrong: %j', async (args, complaint) => {
    const { exitCode, stdout, stderr } = await line.run(args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('[D32] lists what is wrong with the variables of the database, all at once, and nothing else', async () => {
    const environment = {
      SVC_DATABASE_URL: 'mysql://secret',
      SVC_DATABASE_POOL_SIZE: 'many',
      SVC_PORT: 'none',
    };
    const { exitCode, stderr } = await line.run(['users', 'list'], environment);
    expect(exitCode).toBe(1);
    expect(stderr.split('\n')).toEqual([
      'The configuration has 2 problems:',
      '  - SVC_DATABASE_URL: must be a postgres:// URL',
      expect.stringContaining('  - SVC_DATABASE_POOL_SIZE: must be'),
      '',
    ]);
  });

  it('reports an unreachable database in one line without its password', async () => {
    const environment = { SVC_DATABASE_URL: 'postgres://somebody:secret@localhost:1/nothing' };
    const { exitCode, stdout, stderr } = await line.run(['migrate'], environment);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: The database cannot be reached: connection refused: no server listens at this address \(ECONNREFUSED\)\..*\n$/,
    );
    expect(stderr).not.toContain('secret');
  });
});

describe('every command', () => {
  const line = new CommandLine();
  const names = leaves.map(({ name }) => name);

  it.each(names)('has help, --json and an example: %s', async (name) => {
    const { exitCode, stdout } = await line.run([...name.split(' '), '--help']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Usage: svc-admin ${name} [options]`);
    expect(stdout).toMatch(/\n {2}--json +print the result as one JSON document/);
    const { command } = leaves.find((leaf) => leaf.name === name) ?? {};
    const required = command?.options.filter(({ mandatory }) => mandatory) ?? [];
    expect(stdout.match(/\(required\)/g) ?? []).toHaveLength(required.length);
    expect(command && examplesOf(command)).toMatch(
      new RegExp(`^(.*\n)*svc-admin (--env-file \\S+ )?${name}( |$)`),
    );
    expect(command?.description()).toMatch(/^[a-z].*[^.]$/);
  });

  it.each(names)('exits with 2 on misuse, and prints JSON if requested: %s', async (name) => {
    const wrong = [...name.split(' '), '--no-such-option'];
    expect(await line.run(wrong)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: /),
    });
    const { exitCode, stdout, stderr } = await line.run([...wrong, '--json']);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        exitCode: 2,
        message: expect.stringMatching(/no-such-option|not specified|missing required argument/),
        details: [],
      },
    });
  });
});

/** The commands that a text names between backquotes, as `users list --json`. */
function commandsIn(text: string): string[] {
  const spans = text.replaceAll(/```[^]*?```/g, '').matchAll(/`(?:npx )?svc-admin ([^`]+)`/g);
  return [...spans].map(([, command = '']) => command.replaceAll(/\s+/g, ' ').replace(/\\$/, ''));
}

/** Whether there is such a command, or a group of commands, with such options. */
function isThere(text: string): boolean {
  const words = text.replace(/^--env-file \S+ /, '').split(' ');
  const named = words.slice(0, 2).filter((word) => /^[a-z-]+$/.test(word));
  const leaf = leaves.find(({ name }) => [named.join(' '), named[0]].includes(name));
  const isGroup = leaves.some(({ name }) => name.startsWith(`${named.join(' ')} `));
  const options = text.match(/(?<= )--[a-z-]+/g) ?? [];
  const known = ['--json', ...(leaf?.command.options.map(({ long }) => long) ?? [])];
  return (
    ['COMMAND --help', '--version'].includes(text) ||
    isGroup ||
    (leaf !== undefined && options.every((one) => known.includes(one)))
  );
}

describe('documents, refusals and messages', () => {
  it('name only existing commands and options of svc-admin', () => {
    const files = repositoryFiles().filter(({ path }) => /\.md$|^src\/.*\.(ts|js)$/.test(path));
    const named = files.flatMap(({ path, text }) => commandsIn(text).map((command) => ({ path, command })));
    expect(named.length).toBeGreaterThan(80);
    expect(named.filter(({ command }) => !isThere(command))).toEqual([]);
    expect(['users lists', 'users list --pages'].filter(isThere)).toEqual([]);
  });
});

describe('errors as JSON', () => {
  const line = new CommandLine();
  const told = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await line.run([...args, '--json'], {
      SVC_PORT: 'none',
      SVC_PROXY_HOPS: 'x',
    });
    expect(stderr).toMatch(/^(\{"remark":.*\}\n)?\{.*\}\n$/);
    const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as {
      error: { exitCode: number; message: string; details: string[] };
    };
    expect(error.exitCode).toBe(exitCode);
    return { stdout, ...error };
  };

  it('report the parts of a failure', async () => {
    expect(await told('keys', 'check', '--file', 'none.json')).toEqual({
      ...{ stdout: '', exitCode: 1, message: 'none.json cannot be read (ENOENT)', details: [] },
    });
    line.write('workflows.json', '[{"name":1}]');
    const options = ['--file', 'workflows.json', '--owner-email', 'a@b.example'];
    const imported = await told('workflows', 'import', ...options);
    expect(imported.details).toEqual([expect.stringContaining('workflow 0, name')]);
  });

  it('[D32] list the configuration problems', async () => {
    const { message, details } = await told('init', '--owner-email', 'a@b.example');
    expect(message).toBe('The configuration has problems.');
    expect(details).toEqual([expect.stringContaining('SVC_PORT: must be')]);
  });

  it('are printed together with the result', async () => {
    const { stdout, message } = await told('config', 'check');
    expect((JSON.parse(stdout) as { problems: string[] }).problems).toHaveLength(2);
    expect(message).toContain('problems: 2');
  });
});
