// svc-admin as such: help, version, misuse, exit codes.
import { leavesOf, wholeProgram } from '../../../scripts/docs/commands.js';
import { CommandLine, TEST_VERSION } from '../../support/run-cli.js';

const COMMANDS = leavesOf(wholeProgram()).map(({ name }) => name);

describe('svc-admin', () => {
  const line = new CommandLine();

  it('reports its version', async () => {
    expect(await line.run(['--version'])).toEqual({ exitCode: 0, stdout: `${TEST_VERSION}\n`, stderr: '' });
  });

  it.each(['', ...COMMANDS])('explains itself, with an example: %s --help', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { exitCode, stdout, stderr } = await line.run([...words, '--help']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: ${['svc-admin', ...words].join(' ')} [options]`);
    expect(stdout).toMatch(new RegExp(`Example:\n  svc-admin .*${command}`));
  });

  it.each([
    [[], 'Usage: svc-admin'],
    [['license'], 'Usage: svc-admin license'],
    [['frobnicate'], "error: unknown command 'frobnicate'"],
    [['users', 'creat'], 'Did you mean create?'],
    [['migrate', '--fast'], "error: unknown option '--fast'"],
    [['migrate', 'now'], 'error: too many arguments'],
    [['users', 'create'], "error: required option '--email <address>' not specified"],
    [
      ['users', 'create', '--email', 'a@b.example', '--role', 'king'],
      'Allowed choices are global:owner, global:admin',
    ],
    [['users', 'disable'], "error: missing required argument 'id-or-email'"],
  ])('exits with 2 and says how it is used: %j', async (args, complaint) => {
    const { exitCode, stdout, stderr } = await line.run(args);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(complaint);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  it('[D32] lists what is wrong with an env file', async () => {
    expect(await line.run(['--env-file', 'none.env', 'users', 'list'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^The configuration has 1 problem:\n {2}- env file .*none\.env: .*ENOENT/,
      ),
    });
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

  it('reports in one line of a database that does not answer, without its password', async () => {
    const environment = { SVC_DATABASE_URL: 'postgres://somebody:secret@localhost:1/nothing' };
    const { exitCode, stdout, stderr } = await line.run(['migrate'], environment);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: The database cannot be reached: connection refused: no server listens at this address \(ECONNREFUSED\)\..*\n$/,
    );
    expect(stderr).not.toContain('secret');
  });

  it('reports in one line of a data directory that cannot be made', async () => {
    const environment = { SVC_DATA_DIR: line.write('a-file', '') };
    const { exitCode, stderr } = await line.run(['users', 'list'], environment);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: The database cannot be opened: EEXIST.*\n$/);
  });
});
