// The admin commands on both databases, and while another process uses the database.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MIGRATIONS, SCHEMA } from '../../src/instance/schema.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnAnyDatabase, describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { LockProcess } from '../support/lock-process.js';
import { CommandLine } from '../support/run-cli.js';

interface ListedUser {
  id: string;
  email: string;
  role: string;
  enabled: boolean;
}

/** Runs commands on a database, and reads what they have stored. */
class Administration extends CommandLine {
  constructor(private readonly database: TestDatabase) {
    super(() => database.environment);
  }

  async createUser(email: string, ...more: string[]): Promise<ListedUser> {
    return JSON.parse(await this.output(['users', 'create', '--email', email, ...more])) as ListedUser;
  }

  async users(): Promise<ListedUser[]> {
    return JSON.parse(await this.output(['users', 'list', '--json'])) as ListedUser[];
  }

  async query<Row>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const opened = await this.database.open(SCHEMA);
    try {
      return await opened.dataSource.query<Row[]>(sql, values);
    } finally {
      await opened.close();
    }
  }
}

describeOnEachDatabase('svc-admin users', (database) => {
  const admin = new Administration(database);

  it('[D47] create creates a user with a personal project, and prints the user as one JSON object', async () => {
    const names = ['--given-name', 'Ann', '--family-name', 'Lee'];
    const printed = await admin.output(['users', 'create', '--email', 'Ann@b.example', ...names]);
    expect(printed).toMatch(/^\{.*\}\n$/);
    const user = JSON.parse(printed) as ListedUser;
    expect(user).toEqual({ id: expect.any(String), email: 'Ann@b.example', role: 'global:member' });
    expect(await personalProjects(admin, user.id)).toEqual([{ type: 'personal', role: 'project:admin' }]);
    expect(await admin.query('SELECT given_name, family_name, enabled FROM user_account')).toEqual([
      { given_name: 'Ann', family_name: 'Lee', enabled: true },
    ]);
  });

  it('[D4] create refuses an e-mail address that is taken, in any case', async () => {
    const { id } = await admin.createUser('taken@b.example');
    const refused = { exitCode: 1, stdout: '', stderr: 'error: Another user has this e-mail address.\n' };
    for (const email of ['taken@b.example', 'TAKEN@B.example'])
      expect(await admin.run(['users', 'create', '--email', email])).toEqual(refused);
    expect(await personalProjects(admin, id)).toHaveLength(1);
  });
});

describeOnAnyDatabase('svc-admin users, with either database', (database) => {
  const admin = new Administration(database);

  it('list reports an empty list on standard error, but not with --json', async () => {
    const empty = { exitCode: 0, stdout: '', stderr: 'There is no user.\n' };
    expect(await admin.run(['users', 'list'])).toEqual(empty);
    expect(await admin.run(['users', 'list', '--json'])).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
  });

  it.each([
    [['--email', 'nobody'], '--email must be an e-mail address.'],
    [
      ['--email', 'a@b.example', '--given-name', 'x'.repeat(33)],
      '--given-name must have at most 32 characters.',
    ],
  ])('refuses %j', async (options, complaint) => {
    const { exitCode, stderr } = await admin.run(['users', 'create', ...options]);
    expect([exitCode, stderr]).toEqual([2, `error: ${complaint}\n`]);
  });

  it('list prints every user of several pages once, sorted by e-mail address, as JSON and as a table', async () => {
    await admin.createUser('Ann@b.example', '--given-name', 'Ann', '--family-name', 'Lee');
    await admin.query(`INSERT INTO user_account (id, email, normalized_email, role)
      SELECT gen_random_uuid(), n || '@many.example', n || '@many.example', 'global:member' FROM generate_series(1, 1001) n`);
    const emails = (await admin.users()).map(({ email }) => email.toLowerCase());
    const expected = Array.from({ length: 1001 }, (_, index) => `${index + 1}@many.example`);
    expect(emails).toEqual([...expected, 'ann@b.example'].sort());
    await admin.createUser('аnn@b.example');
    const table = await admin.output(['users', 'list']);
    expect(table).toMatch(/аnn@b\.example \(not ASCII\) /);
    expect(table).toMatch(/^ID +E-MAIL +NAME +ROLE +STATE\n/);
    expect(table).toMatch(/\n[0-9a-f-]{36} +Ann@b\.example +Ann Lee +global:member +enabled\n/);
  });

  it('list needs only the variables of the database, so others may be invalid', async () => {
    const environment = {
      ...database.environment,
      SVC_ENCRYPTION_KEY: undefined,
      SVC_ENV_FEAT_TOKEN_EXCHANGE: 'true',
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS_FILE: '/none.json',
      SVC_LICENSE: 'not a licence',
      SVC_PORT: 'none',
    };
    expect(await admin.run(['users', 'list', '--json'], environment)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });
});

/** Imports into the personal project of Ann. */
class WorkflowImport extends Administration {
  importing(workflows: unknown, email = 'ann@b.example') {
    this.write('workflows.json', JSON.stringify(workflows));
    return this.run(['workflows', 'import', '--file', 'workflows.json', '--owner-email', email]);
  }

  stored() {
    return this.query<{ name: string; nodes: unknown }>(
      `SELECT w.name, w.active, w.nodes, w.connections, u.email, p.type FROM workflow w
       JOIN project p ON p.id = w.project_id JOIN user_account u ON u.id = p.personal_owner_id ORDER BY w.name`,
    );
  }
}

describeOnEachDatabase('svc-admin workflows import', (database) => {
  const admin = new WorkflowImport(database);

  beforeAll(() => admin.createUser('Ann@b.example'));

  it("[D47] imports all workflows of a file unchanged into the user's personal project", async () => {
    const nodes = [{ z: 'sché\u2028ma', a: [1, { deep: null }] }];
    const full = { name: 'b', active: true, nodes, connections: { x: { main: [[{ node: 'y' }]] } } };
    expect(await admin.importing([{ name: 'a' }, full])).toEqual({
      exitCode: 0,
      stdout: 'Imported 2 workflows.\n',
      stderr: '',
    });
    const place = { email: 'Ann@b.example', type: 'personal' };
    const rows = await admin.stored();
    expect(rows).toEqual([
      { name: 'a', active: false, nodes: [], connections: {}, ...place },
      { ...full, ...place },
    ]);
    expect(JSON.stringify(rows[1]?.nodes)).toBe(JSON.stringify(nodes));
  });
});

describeOnEachDatabase('svc-admin migrate', (database) => {
  const admin = new Administration(database);

  it('migrates an empty database, and reports the migrations', async () => {
    if (database.kind === 'postgresql') await admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const environment = database.kind === 'postgresql' ? database.environment : { SVC_DATA_DIR: 'new/data' };
    const byNumber = MIGRATIONS.map(({ name }) => name).toSorted((one, other) =>
      one.slice(-13).localeCompare(other.slice(-13)),
    );
    const applied = byNumber.map((name) => `Applied ${name}.\n`).join('');
    expect(await admin.output(['migrate'], environment)).toBe(applied);
    expect(await admin.output(['users', 'list', '--json'], environment)).toBe('[]\n');
    expect(await admin.output(['migrate'], environment)).toBe('The schema was up to date.\n');
  });
});

describe('[D46] svc-admin beside a process that holds the embedded database', () => {
  const line = new CommandLine();
  let holder: LockProcess;

  beforeAll(async () => {
    holder = await LockProcess.start();
    await holder.take(join(line.folder, 'data'));
  });
  afterAll(async () => {
    await holder.kill();
  });

  it('waits a while for a command socket, then reports the process and the remedy, and writes no file', async () => {
    const before = readdirSync(join(line.folder, 'data'));
    const began = Date.now();
    const commands = [
      ['users', 'list'],
      ['users', 'create', '--email', 'a@b.example'],
    ];
    for (const { exitCode, stdout, stderr } of await Promise.all(commands.map((args) => line.run(args)))) {
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toBe(
        `error: The data directory ${join(line.folder, 'data')} is in use by process ${holder.processId}, which accepts no commands. ` +
          'A starting service accepts commands once it is ready; a service that cannot accept them logs the reason. ' +
          'Otherwise stop that process first.\n',
      );
    }
    expect(Date.now() - began).toBeGreaterThan(4_000);
    expect(readdirSync(join(line.folder, 'data'))).toEqual(before);
  });

  it('waits for a process that ends, then does its work', async () => {
    const data = join(line.folder, 'brief');
    const brief = await LockProcess.start();
    await brief.take(data);
    const listed = line.run(['users', 'list', '--json'], { SVC_DATA_DIR: data });
    await setTimeout(300);
    await brief.release();
    expect(await listed).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
    await brief.kill();
  });
});

describeOnPostgresql('svc-admin beside others on one PostgreSQL database', (database) => {
  const admin = new Administration(database);

  it('[D47] only one of eight concurrent commands creates an owner', async () => {
    const owners = Array.from({ length: 8 }, (_, n) => [
      'users',
      'create',
      '--email',
      `o${n}@b.example`,
      '--role',
      'global:owner',
    ]);
    const results = await Promise.all(owners.map((args) => admin.run(args)));
    expect(results.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
    for (const { stderr } of results)
      expect(stderr).toMatch(/^(error: The instance has an owner already.*\n)?$/);
    expect((await admin.users()).filter(({ role }) => role === 'global:owner')).toHaveLength(1);
  });
});
function personalProjects(admin: Administration, userId: string): Promise<unknown[]> {
  return admin.query(
    `SELECT p.type, m.role FROM project p JOIN project_member m ON m.project_id = p.id AND m.user_id = p.personal_owner_id
     WHERE p.personal_owner_id = $1`,
    [userId],
  );
}
