// The built commands while the built service runs on the embedded database: kills, races, unusual folders.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, lstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { runAdmin, ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt, logOf, surroundingsOf } from '../support/built-service.js';
import { REPOSITORY } from '../support/source-files.js';
import { until } from '../support/until.js';

/** An account that owns nothing. */
const NOBODY = 65_534;

type Surroundings = ServiceSurroundings & { baseUrl: string };

interface ListedUser {
  id: string;
  email: string;
}

describeBuilt('[D46] built commands beside the built service', () => {
  const folders: string[] = [];
  const running = new Set<ServiceProcess>();

  afterEach(async () => {
    for (const service of running) await service.stop();
    running.clear();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  /** Gives each process its own folder. `dataDirectory` sets the folder of the data. */
  const surroundings = async (dataDirectory?: string): Promise<Surroundings> => {
    const made = await surroundingsOf({ SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]', SVC_DATA_DIR: dataDirectory });
    folders.push(made.directory);
    return made;
  };
  const start = async (where: Surroundings) => {
    const service = await ServiceProcess.start(where, where.baseUrl);
    running.add(service);
    return service;
  };
  const kill = async (service: ServiceProcess) => {
    // No public method of the class kills.
    service['child'].kill('SIGKILL');
    await service.exited;
    running.delete(service);
  };
  const stop = async (service: ServiceProcess) => {
    running.delete(service);
    return service.stop();
  };
  /** Waits until the log has `count` commands, because lines are written a moment later. */
  const commandsOf = async (service: ServiceProcess, count: number) => {
    const find = async () => (await logOf(service)).filter(({ msg }) => msg === 'command');
    await until(`${count} commands are logged`, 60_000, async () => (await find()).length >= count);
    return (await find()).map(({ command }) => command);
  };
  const createUser = async (where: Surroundings, email: string) =>
    JSON.parse(await runAdmin(where, ['users', 'create', '--email', email])) as ListedUser;
  const users = async (where: Surroundings) => {
    const listed = JSON.parse(await runAdmin(where, ['users', 'list', '--json'])) as ListedUser[];
    return listed.map(({ email }) => email).sort();
  };

  it('[D46] after kill -9 a command opens the database itself, and the next start replaces the socket', async () => {
    const where = await surroundings();
    const path = join(where.directory, 'data', 'admin', 'socket');
    const killed = await start(where);
    await createUser(where, 'first@b.example');
    await kill(killed);
    expect(lstatSync(path).isSocket()).toBe(true);
    await createUser(where, 'second@b.example');
    expect(lstatSync(path).isSocket()).toBe(true);
    const service = await start(where);
    expect(await users(where)).toEqual(['first@b.example', 'second@b.example']);
    expect(await stop(service)).toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('[D46] a command that runs while the service starts waits for it', async () => {
    const where = await surroundings();
    await stop(await start(where));
    const starting = start(where);
    while (!existsSync(join(where.directory, 'data', 'process.lock')))
      await new Promise((resolve) => setTimeout(resolve, 10));
    const { id } = await createUser(where, 'early@b.example');
    const service = await starting;
    expect(await commandsOf(service, 1)).toEqual(['users create']);
    await until('the user is logged', 60_000, async () => JSON.stringify(await logOf(service)).includes(id));
  });

  const program = join(REPOSITORY, 'dist', 'src', 'cli', 'svc-admin.js');

  it.each([
    [
      [],
      'error: Standard output cannot be written (ENOSPC): check whether the command succeeded before you repeat it.\n',
    ],
    [
      ['--json'],
      `${JSON.stringify({ error: { exitCode: 1, message: 'Standard output cannot be written (ENOSPC): check whether the command succeeded before you repeat it.', details: [] } })}\n`,
    ],
  ])('a full disk behind standard output is reported in one line with options %j', (options, stderr) => {
    const full = openSync('/dev/full', 'w');
    const args = [program, 'keys', 'keygen', '--help', ...options];
    const ended = spawnSync(process.execPath, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    expect([ended.status, ended.stderr]).toEqual([1, stderr]);
  });

  if (process.getuid?.() !== 0 || !canNobodyRead(program)) {
    const reason = 'only root can run a command as another account, which has to be able to read it';
    it.skip(`skipped: ${reason}`, () => undefined);
    return;
  }

  it('[D46] another account may not connect, and gets the reason', async () => {
    const where = await surroundings();
    const data = join(where.directory, 'data');
    await start(where);
    const child = spawn(process.execPath, [program, 'users', 'list'], {
      cwd: '/',
      env: { ...where.environment, SVC_DATA_DIR: data },
      uid: NOBODY,
      gid: NOBODY,
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(said).toMatch(/for the service's own account and root \(EACCES\)/);
  });
});

/** Not below /root, which is closed to other accounts. */
function canNobodyRead(file: string): boolean {
  const attempt = ['-e', 'fs.accessSync(process.argv[1])', file];
  return spawnSync(process.execPath, attempt, { cwd: '/', uid: NOBODY, gid: NOBODY }).status === 0;
}
