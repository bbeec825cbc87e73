// Commands while a service uses the embedded database: they use its command socket, and each has an audit event.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Administration } from '../../src/administration/administration.js';
import { Transactions } from '../../src/platform/database/transaction.js';
import { VERSION } from '../../src/platform/version.js';
import type { StoredEvent } from '../support/audit.js';
import { eventsOf } from '../support/audit.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnEmbedded } from '../support/databases.js';
import { CommandLine } from '../support/run-cli.js';
import { whenMeasured } from '../support/series.js';
import { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const LIMIT_BYTES = 256 * 1024;
const REQUEST_ID = expect.stringMatching(/^[0-9a-v]{20}$/) as string;
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

interface ListedUser {
  id: string;
  email: string;
  enabled: boolean;
}

/** A running service, and commands of its version. */
class Beside extends CommandLine {
  service!: TestService;

  constructor(private readonly database: TestDatabase) {
    super(() => database.environment, VERSION);
  }

  get path(): string {
    return socketPathOf(this.database);
  }

  async start(): Promise<void> {
    this.service = await TestService.start(this.database);
  }

  async createUser(email: string): Promise<ListedUser> {
    return JSON.parse(await this.output(['users', 'create', '--email', email])) as ListedUser;
  }

  async users(): Promise<ListedUser[]> {
    return JSON.parse(await this.output(['users', 'list', '--json'])) as ListedUser[];
  }

  /** The last events of the trail, as many as are asked for. */
  async lastEvents(count: number): Promise<Pick<StoredEvent, 'name' | 'payload'>[]> {
    const rows = await eventsOf(this.service);
    return rows.slice(-count).map(({ name, payload }) => ({ name, payload }));
  }

  request(operation: string, input: unknown): Promise<Record<string, unknown>[]> {
    return sendTo(this.path, operation, JSON.stringify(input));
  }

  refused(count = 1) {
    return this.service.log
      .filter(({ msg, outcome }) => msg === 'command' && outcome === 'refused')
      .slice(-count);
  }
}

describeOnEmbedded('[D46] commands beside a service on the embedded database', (database) => {
  const beside = new Beside(database);

  beforeAll(() => beside.start());
  afterAll(() => beside.service.stop());

  it('[D46] each works, and has an audit event with ids and one request in the log', async () => {
    const { id: userId } = await beside.createUser('ann@b.example');
    expect(await beside.output(['users', 'disable', 'ann@b.example'])).toBe(`User ${userId} is disabled.\n`);
    expect((await beside.users()).map(({ id, enabled }) => ({ id, enabled }))).toEqual([
      { id: userId, enabled: false },
    ]);
    expect(await beside.output(['users', 'enable', userId])).toBe(`User ${userId} is enabled.\n`);
    expect(await beside.output(['users', 'list'])).toMatch(/ ann@b\.example +global:member +enabled\n/);
    const performed = (operation: string, targets: Record<string, string> = {}) => ({
      name: 'svc.audit.administration.performed',
      payload: { operation, way: 'service', targets },
    });
    const changed = (payload: object) => ({ name: 'svc.audit.user.changed', payload });
    const listed = {
      name: 'svc.audit.administration.read',
      payload: { operation: 'users list', way: 'service', targets: {} },
    };
    const [enabled, disabled] = [true, false].map((each) => ({ role: 'global:member', enabled: each }));
    expect(await beside.lastEvents(8)).toEqual([
      performed('users create', { userId }),
      changed({ to: enabled }),
      performed('users disable', { userId }),
      changed({ from: enabled, to: disabled }),
      listed,
      performed('users enable', { userId }),
      changed({ from: disabled, to: enabled }),
      listed,
    ]);
    const requestIds = [...new Set((await eventsOf(beside.service)).map((row) => row.requestId))];
    const logged = beside.service.log.filter(({ msg }) => msg === 'command');
    expect(logged.map(({ requestId }) => requestId)).toEqual(requestIds);
    expect(logged[0]).toMatchObject({ command: 'users create', outcome: 'performed' });
  });

  it('[D46] other requests are answered during the largest import', async () => {
    await beside.createUser('large@b.example');
    const nodes = [{ text: 'x'.repeat(80) }];
    const workflows = Array.from({ length: 2_000 }, () => ({ name: 'w', nodes }));
    let isDone = false;
    const imported = beside
      .request('workflows import', { ownerEmail: 'large@b.example', workflows })
      .finally(() => (isDone = true));
    let answered = 0;
    while (!isDone) {
      expect((await beside.service.fetch('/healthz')).status).toBe(200);
      answered += 1;
    }
    expect(await imported).toEqual([{ result: { imported: 2_000 } }]);
    // If the import blocked the event loop, these responses would all come before it or after it.
    expect(answered).toBeGreaterThan(10);
  });

  it('[D46] a failed command reports the same error as without a service, changes nothing, and has an audit event', async () => {
    await beside.createUser('taken@b.example');
    const before = (await beside.users()).length;
    expect(await beside.run(['users', 'create', '--email', 'Taken@b.example'])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: Another user has this e-mail address.\n',
    });
    const failed = (operation: string) => ({
      name: 'svc.audit.administration.failed',
      payload: { operation, way: 'service', reason: 'refused' },
    });
    expect(await beside.lastEvents(1)).toEqual([failed('users create')]);
    expect(await beside.run(['users', 'disable', 'nobody@b.example'])).toMatchObject({
      exitCode: 1,
      stderr: 'error: There is no user with this id or e-mail address.\n',
    });
    expect(await beside.lastEvents(1)).toEqual([failed('users disable')]);
    expect(await beside.users()).toHaveLength(before);
  });

  it.each([[['migrate']], [['credentials', 'rekey']]])(
    '[D46] %j is refused with the process id of the running service',
    async (args) => {
      const { exitCode, stdout, stderr } = await beside.run(args);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(
        new RegExp(
          `^error: The data directory .* is in use by process ${process.pid}\\. Stop that process first`,
        ),
      );
    },
  );

  it('[D46] a command of another version is refused with both versions', async () => {
    const other = new CommandLine(() => database.environment, '9.8.7-other');
    const { exitCode, stderr } = await other.run(['users', 'list']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`version ${VERSION}`);
    expect(stderr).toContain('version 9.8.7-other');
  });

  it.each([
    ['text that cannot be stored', 'users disable', { user: 'secret\0' }, /cannot be stored/],
    [
      'the maximum number of bytes',
      'users disable',
      { user: 'x'.repeat(LIMIT_BYTES - 11) },
      /There is no user/,
    ],
  ])('[D46] an input with %s is refused, and log and trail record it', async (_, operation, input, words) => {
    const [answer, ...more] = (await beside.request(operation, input)) as Record<string, string>[];
    expect(`${answer?.['refusal'] ?? `${answer?.['member']} ${answer?.['rule']}`}`).toMatch(words);
    expect(more).toEqual([]);
    expect(beside.refused()).toMatchObject([{ requestId: REQUEST_ID, command: operation }]);
    const told = await beside.lastEvents(1);
    expect(told).toEqual([
      {
        name: 'svc.audit.administration.failed',
        payload: { operation, way: 'service', reason: 'refused' },
      },
    ]);
    expect(`${beside.service.logText}${JSON.stringify(told)}`).not.toContain('secret');
  });

  it('[D46] accepts at most 256 KiB', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': LIMIT_BYTES + 1 };
    const target = { socketPath: beside.path, path: '/users%20list' };
    const asked = request({ method: 'POST', headers, ...target }).on('error', () => undefined);
    asked.flushHeaders();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    answer.resume();
    asked.destroy();
  });

  it('[D46] thirty-two clients that send nothing, or half of a request, block no command', async () => {
    const idle = await Promise.all(Array.from({ length: 32 }, () => connectTo(beside.path)));
    for (const client of idle.slice(16)) client.write('POST /users%20list HTTP/1.1\r\n');
    let left = 0;
    for (const client of idle) client.resume().once('close', () => (left += 1));
    expect(await beside.users()).not.toEqual([]);
    expect(left).toBe(0);
    for (const client of idle) client.destroy();
  });
  it('[D46] a long list is sent in pages, with each user once', async () => {
    await beside.service.rows(`INSERT INTO user_account (id, email, normalized_email, role)
      SELECT gen_random_uuid(), n || '@long.example', n || '@long.example', 'global:member' FROM generate_series(1, 3000) n`);
    const lines = await beside.request('users list', {});
    const pages = lines.slice(0, -1).map(({ page }) => (page as unknown[]).length);
    expect(lines.at(-1)).toEqual({ result: null });
    expect(Math.max(...pages)).toBe(100);
    const listed = await beside.users();
    expect(listed).toHaveLength(pages.reduce((sum, count) => sum + count, 0));
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
  });

  it('[D46] a client that disconnects during a list causes no failure', async () => {
    const answer = await answerTo(beside.path, 'users list', '{}');
    answer.on('error', () => undefined).once('data', () => answer.destroy());
    await new Promise((resolve) => answer.once('close', resolve));
    expect((await beside.users()).length).toBeGreaterThan(3000);
  });

  it('[D46] an internal error is reported without details, by the request id of its log line', async () => {
    await beside.service.rows('ALTER TABLE project RENAME TO project_gone');
    const { exitCode, stderr } = await beside.run(['users', 'create', '--email', 'fault@b.example']);
    await beside.service.rows('ALTER TABLE project_gone RENAME TO project');
    expect(exitCode).toBe(1);
    const [, requestId] =
      /^error: The operation failed; .* request id ([0-9a-v]{20})\.\n$/.exec(stderr) ?? [];
    expect(beside.service.log).toContainEqual(
      expect.objectContaining({ level: 'error', requestId, command: 'users create' }),
    );
    expect(await beside.lastEvents(1)).toEqual([
      {
        name: 'svc.audit.administration.failed',
        payload: { operation: 'users create', way: 'service', reason: 'internal_error' },
      },
    ]);
    expect((await beside.users()).map(({ email }) => email)).not.toContain('fault@b.example');
  });

  it('[D46] a change or list fails if its audit event cannot be stored', async () => {
    await beside.service.rows('ALTER TABLE audit_event RENAME TO audit_event_gone');
    const results = [
      await beside.run(['users', 'create', '--email', 'untold@b.example']),
      await beside.run(['users', 'list']),
    ];
    await beside.service.rows('ALTER TABLE audit_event_gone RENAME TO audit_event');
    for (const { exitCode, stdout, stderr } of results)
      expect([exitCode, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(/^error: The operation failed/),
      ]);
    expect((await beside.users()).map(({ email }) => email)).not.toContain('untold@b.example');
  });

  it('[D23] no e-mail address of a command is in the log or the trail', async () => {
    const trail = JSON.stringify(await eventsOf(beside.service));
    expect(`${beside.service.logText}${trail}`).not.toMatch(/@(b|long)\.example/);
    expect(beside.service.logText).toContain('users create');
  });
});

describeOnEmbedded('[D46] the command socket at a stop', (database) => {
  it('[D46] closes with the service, even with clients that send nothing, send half a request, or do not read', async () => {
    const service = await TestService.start(database);
    await service.rows(`INSERT INTO user_account (id, email, normalized_email, role)
      SELECT gen_random_uuid(), n || '@long.example', n || '@long.example', 'global:member' FROM generate_series(1, 9000) n`);
    const path = socketPathOf(database);
    const clients = await Promise.all(Array.from({ length: 3 }, () => connectTo(path)));
    clients[0]?.write('POST /users%20list HTTP/1.1\r\n');
    const unread = await answerTo(path, 'users list', '{}');
    const closed = [...clients, unread.on('error', () => undefined)].map(
      (one) => new Promise((resolve) => one.once('close', resolve)),
    );
    for (const client of clients) client.resume();
    const began = Date.now();
    await service.stop();
    const tookMs = Date.now() - began;
    whenMeasured(() => expect(tookMs).toBeLessThan(20_000));
    expect(existsSync(path)).toBe(false);
    unread.resume();
    await Promise.all(closed);
  });

  it('[D46] finishes and answers the requests that it received earlier', async () => {
    const service = await TestService.start(database);
    let release!: () => void;
    const gate = new Promise<void>((resolve) => (release = resolve));
    // The one connection of the database: the command waits for it.
    const held = service.part(Transactions).run(() => gate);
    const newUser = { email: 'late@b.example', givenName: '', familyName: '', role: 'global:member' };
    const answer = sendTo(socketPathOf(database), 'users create', JSON.stringify(newUser));
    const administration = service.part(Administration);
    await until('the request is read', 60_000, () => administration['changes'].size === 1);
    const stopped = service.stop();
    // Longer than the time limit for clients to read their responses.
    await pause(1_000);
    release();
    await Promise.all([held, stopped]);
    expect(await answer).toEqual([{ result: { id: UUID, email: 'late@b.example', role: 'global:member' } }]);
  });
});

/** Where the service on an embedded database of the tests has its socket. */
function socketPathOf({ settings }: TestDatabase): string {
  if (settings.kind !== 'embedded') throw new Error('only the embedded database has a command socket');
  return `${settings.directory}/admin/socket`;
}

async function connectTo(path: string): Promise<Socket> {
  const socket = createConnection(path);
  // What a test sends may be refused while it is still on its way.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The beginning of the answer to a request for an operation. */
async function answerTo(path: string, operation: string, body: string): Promise<IncomingMessage> {
  const headers = { 'x-version': VERSION, 'content-type': 'application/json' };
  const target = { socketPath: path, path: `/${encodeURIComponent(operation)}` };
  const asked = request({ method: 'POST', headers, ...target }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/** The answer line by line. */
async function sendTo(path: string, operation: string, body: string): Promise<Record<string, unknown>[]> {
  const lines = (await text(await answerTo(path, operation, body))).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}
