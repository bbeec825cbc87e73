// Every limit of the lists of docs/reference/limits.md: its setting and default are as the page says, and so is what a running
// service answers beyond it.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { ENVIRONMENT_VARIABLES } from '../../src/config/environment.js';
import { defaultOf } from '../../src/config/variable.js';
import { ConcurrencyLimit } from '../../src/platform/http/concurrency-limit.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import { JwksServer, silence } from '../support/jwks-server.js';
import { meStatus } from '../support/logins.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';
import { MetricSamples } from '../support/metric-samples.js';
import { sendBytes, sendRaw } from '../support/raw-http.js';
import { CommandLine } from '../support/run-cli.js';
import { isMainScope } from '../support/series.js';
import { repositoryFile } from '../support/source-files.js';
import { BASE_URL, GRANT_TYPE, TestService } from '../support/test-service.js';
import { EVENTS_PATH } from '../support/transmitter.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const PATIENCE_MS = 60_000;
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const publisher = Partner.create({ issuer: 'https://publisher.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const JSON_TYPE = { 'content-type': 'application/json' };
const CLOSED = 'connection closed';
/** A connection that stays open after the answers is left. */
const LEAVES_AFTER_MS = 1_000;

interface Row {
  readonly limit: string;
  readonly byDefault: string;
  readonly setting: string | undefined;
  /** A status with its word, or what else becomes of it. */
  readonly answer: string;
}

/** Each list has the answer beyond its limits in the line before, which ends with a colon. */
function rowsOf(page: string): Row[] {
  const lists = page.matchAll(/^(?:Answer )?(.+):\n\n((?:- .+\n)+)/gm);
  return [...lists].flatMap(([, answer = '', items = '']) =>
    [...items.matchAll(/^- (.+): (.+?)(?: \(`(\w+)`\))?$/gm)].map(
      ([, limit = '', byDefault = '', setting]) => ({
        ...{ limit, byDefault, setting },
        answer: `${answer.charAt(0).toLowerCase()}${answer.slice(1)}`
          .replaceAll('`', '')
          .replace(', within a minute', ''),
      }),
    ),
  );
}

const ROWS = rowsOf(repositoryFile('docs/reference/limits.md').text);

/** Goes beyond a limit, and tells what became of it as the page does. */
type Excess = (service: TestService, world: ApiWorld) => Promise<string>;

interface Case {
  /** It waits for real time, or sends more than a thousand requests: `npm test` leaves it to `npm run test:all`. */
  readonly isSlow?: true;
  /** It changes limits of the running service, which others would meet. */
  readonly isAlone?: true;
  /** Low values of settings, so that the limit is near. */
  readonly environment?: Record<string, string>;
  readonly excess: Excess;
}

const told = async (answer: Response | Promise<Response>): Promise<string> => {
  const { status } = await answer;
  const { error } = (await (await answer).json().catch(() => ({}))) as { error?: string };
  return `${status} ${error ?? ''}`.trim();
};
const toldRaw = (answer: { status: number; body: string } | undefined): string => {
  if (answer === undefined) return CLOSED;
  return `${answer.status} ${(JSON.parse(answer.body) as { error: string }).error}`;
};

const call = (service: TestService, token: string, path: string, body?: unknown, method = 'POST') =>
  service.fetch(`/api/v1/${path}`, {
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { method, body: JSON.stringify(body) }),
  });

/** Makes two objects in sequence. The limit is one, so the second is refused. */
const second = async (make: () => Promise<Response>): Promise<string> => {
  const first = await make();
  if (!first.ok && first.status !== 303) throw new Error(`the first was answered ${first.status}`);
  return told(make());
};

const nested = (levels: number) => `{"name":"n","nodes":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** One request of each kind within a minute. They are counted apart, so that one service shows all of them. */
const ONE_A_MINUTE = {
  SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '1',
  SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1',
  SVC_TOKEN_EXCHANGE_INTROSPECTION_PER_MINUTE: '1',
  SVC_TOKEN_EXCHANGE_LOGOUT_PER_MINUTE: '1',
  SVC_SIGNALS_PER_MINUTE: '1',
};

const CASES: Readonly<Record<string, Case>> = {
  'Body of a request': {
    excess: (service) => told(service.embed({ token: 'a'.repeat(256 * 1024) })),
  },
  'Headers and address of a request': {
    excess: async ({ address }) => toldRaw(await sendRaw(address, { target: `/?${'a'.repeat(17 * 1024)}` })),
  },
  'Number of headers of a request': {
    excess: async ({ address }) => {
      const headers = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']));
      // Host and Connection are there as well.
      const most = await sendRaw(address, { target: '/healthz', headers: headers(98) });
      expect(most?.status).toBe(200);
      return toldRaw(await sendRaw(address, { target: '/healthz', headers: headers(99) }));
    },
  },
  'Time for the headers of a request': {
    isSlow: true,
    excess: async ({ address, server }) => {
      expect(server.headersTimeout).toBe(15_000);
      server.headersTimeout = 1_000;
      return toldRaw(await sendBytes(address, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n')));
    },
  },
  'Time for a whole request': {
    isSlow: true,
    excess: async ({ address, server }) => {
      expect(server.requestTimeout).toBe(30_000);
      server.headersTimeout = server.requestTimeout = 1_000;
      const type = 'Content-Type: application/x-www-form-urlencoded';
      const head = `POST /rest/auth/embed HTTP/1.1\r\nHost: a\r\n${type}\r\nContent-Length: 10\r\n\r\nabc`;
      return toldRaw(await sendBytes(address, Buffer.from(head)));
    },
  },
  'Time between two requests on a connection': {
    isSlow: true,
    environment: { SVC_KEEP_ALIVE_SECONDS: '1' },
    excess: async ({ address }) => {
      const socket = await openConnection(address);
      return (await endOf(socket)) ? CLOSED : 'open';
    },
  },
  'Time in which a client reads nothing': {
    isSlow: true,
    excess: async ({ address, server }) => {
      expect(server.timeout).toBe(60_000);
      server.setTimeout(3_000);
      const { hostname, port } = new URL(address);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      // More than the system holds of answers on their way.
      const count = 16;
      socket.write('GET /api/v1/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count));
      socket.pause();
      // The time begins anew with what the system took at first.
      await pause(10_000);
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => (text += part));
      await endOf(socket);
      return text.split('HTTP/1.1 ').length - 1 < count ? CLOSED : 'answered';
    },
  },
  'Unanswered requests of a connection': {
    excess: async ({ address }) => {
      const ask = (count: number) =>
        sendBytes(
          address,
          Buffer.from('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count)),
          LEAVES_AFTER_MS,
        );
      expect((await ask(16))?.status).toBe(200);
      return (await ask(17)) === undefined ? CLOSED : 'answered';
    },
  },
  'Connections of an instance': {
    isAlone: true,
    excess: async (service) => {
      expect(service.server.maxConnections).toBe(4_096);
      service.server.maxConnections = 2;
      const sockets = [await openConnection(service.address), await openConnection(service.address)];
      try {
        return toldRaw(await sendRaw(service.address, { target: '/healthz' }));
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    },
  },
  'Memory of all unfinished requests': {
    isAlone: true,
    excess: async ({ address, server }) => {
      // The time for a whole request would end it, too.
      server.requestTimeout = 0;
      const part = 'a'.repeat(256 * 1024 - 1);
      const open = async () => {
        const socket = await openConnection(address);
        socket.write(
          `POST /rest/auth/embed HTTP/1.1\r\nHost: a\r\nContent-Length: ${part.length + 1}\r\n\r\n`,
        );
        socket.write(part);
        return socket;
      };
      const [oldest, ...others] = await Promise.all(Array.from({ length: 260 }, open));
      await until('the oldest is closed', PATIENCE_MS, () => oldest?.resume().destroyed === true);
      for (const socket of others) socket.destroy();
      return CLOSED;
    },
  },
  'Requests in progress in a process': {
    isAlone: true,
    excess: (service) => {
      const limit = service.part(ConcurrencyLimit);
      expect(limit.most).toBe(4_000);
      limit.most = 1;
      return besideOneInProgress(service, () => told(service.embed({ token: partner.sign() })));
    },
  },
  'Fields of a form, or parameters of a login by GET': {
    excess: (service) => {
      const more = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x${index}`, '1']));
      return told(service.exchange({ subject_token: partner.sign(), ...more }));
    },
  },
  'Parameters of an API call': {
    excess: async (service, world) =>
      told(call(service, await administrator(world), 'workflows?limit=1&other=1')),
  },
  'Array elements and object members of a JSON body': {
    excess: async (service, world) => {
      const nodes = Array.from({ length: 5_000 }, () => ({}));
      return told(call(service, await administrator(world), 'workflows', { name: 'n', nodes }));
    },
  },
  'Nesting levels of a JSON body': {
    excess: async (service, world) => {
      const headers = { authorization: `Bearer ${await administrator(world)}`, ...JSON_TYPE };
      const send = (body: string) => service.fetch('/api/v1/workflows', { method: 'POST', headers, body });
      return told(send(nested(32)));
    },
  },
  'Rows of a page': {
    excess: async (service, world) => told(call(service, await administrator(world), 'users?limit=251')),
  },
  'Token exchanges of an address': {
    environment: ONE_A_MINUTE,
    excess: (service) => second(() => service.exchange({ subject_token: partner.sign() })),
  },
  'Embedded logins of an address': {
    environment: ONE_A_MINUTE,
    excess: (service) => second(() => service.embed({ token: partner.sign() })),
  },
  'Revocations of an address': {
    excess: async (service) => {
      const revoke = () => service.post('/rest/auth/oauth/revoke', { token: 'a' });
      for (let count = 0; count < 60; count++) expect((await revoke()).status).toBe(200);
      return told(revoke());
    },
  },
  'Introspections of an address': {
    environment: ONE_A_MINUTE,
    excess: async (service) => {
      const ask = () => service.post('/rest/auth/oauth/introspect', { token: 'a' });
      expect((await ask()).status).toBe(401);
      return told(ask());
    },
  },
  'Questions about refusals of an address': {
    environment: ONE_A_MINUTE,
    excess: async (service) => {
      const ask = () => service.post('/rest/auth/explain', { proof: 'a' });
      expect((await ask()).status).toBe(404);
      return told(ask());
    },
  },
  'Security events of an address, and of a transmitter': {
    environment: ONE_A_MINUTE,
    excess: async (service) => {
      const headers = { 'content-type': 'application/secevent+jwt' };
      const send = () => service.fetch(EVENTS_PATH, { method: 'POST', headers, body: 'no token' });
      await send();
      const answer = await send();
      return `${answer.status} ${((await answer.json()) as { err: string }).err}`;
    },
  },
  'Logouts of an address, and verified ones of an issuer': {
    environment: ONE_A_MINUTE,
    excess: (service) =>
      second(() => service.post(LOGOUT_PATH, { logout_token: logoutToken(partner, { sub: 'ada' }) })),
  },
  'Calls of the API of a user': {
    environment: { SVC_API_CALLS_PER_MINUTE: '1' },
    excess: async (service, world) => {
      const token = await administrator(world);
      return second(() => call(service, token, 'users?limit=1'));
    },
  },
  "Calls of the operator's API of an address": {
    isSlow: true,
    environment: { SVC_ADMIN_ENABLED: 'true' },
    excess: async (service) => {
      const knock = () => service.fetch('/rest/admin/session');
      // Of all these each would be a 401.
      for (let count = 0; count < 1_200; count++) await (await knock()).arrayBuffer();
      return told(knock());
    },
  },
  'Workflows of a project': {
    excess: async (service, world) => {
      const user = await world.createUser();
      const token = await world.token(user);
      await world.fillWorkflows(user, 1_999);
      return second(() => call(service, token, 'workflows', { name: 'n' }));
    },
  },
  'Credentials of a project': {
    excess: async (service, world) => {
      const user = await world.createUser();
      const token = await world.token(user);
      await world.fillCredentials(user, 999);
      return second(() => call(service, token, 'credentials', credential()));
    },
  },
  'Members of a project': {
    excess: async (service, world) => {
      const token = await administrator(world);
      const project = await teamOf(service, token);
      await world.fillMembers(project, 9_998);
      return second(async () => call(service, token, `projects/${project}/users`, await memberOf(world)));
    },
  },
  'Projects of a user, the personal one included': {
    excess: async (service, world) => {
      const user = await world.createUser('global:admin');
      const token = await world.token(user);
      // The personal one is there.
      await world.fillProjects(user, 98);
      return second(() => call(service, token, 'projects', { name: 'n' }));
    },
  },
  'Live sessions of a user': {
    environment: { SVC_EMBED_MAX_SESSIONS_PER_USER: '1' },
    excess: async (service) => {
      const token = () => partner.sign(partner.claims({ sub: 'many-sessions' }));
      const cookies = [await service.sessionCookie(token()), await service.sessionCookie(token())];
      const statuses = () => Promise.all(cookies.map((cookie) => meStatus(service, cookie)));
      expect(await statuses()).toEqual([200, 200]);
      await service.purge('session-purge');
      expect(await statuses()).toEqual([401, 200]);
      return 'the purge ends the least recently used, every two minutes';
    },
  },
};

/** The access token of a new one. */
const administrator = async (world: ApiWorld) => world.token(await world.createUser('global:admin'));

const credential = () => ({
  name: 'n',
  type: 'httpBasicAuth',
  data: { user: 'ada', password: 'correct horse' },
});

async function teamOf(service: TestService, token: string): Promise<string> {
  const made = await call(service, token, 'projects', { name: 'Team' });
  expect(made.status).toBe(201);
  return ((await made.json()) as { id: string }).id;
}

const memberOf = async (world: ApiWorld) => ({ userId: await world.createUser(), role: 'project:viewer' });

/** A connection that the service has answered a request on. */
async function openConnection(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

/** Whether the service ends it, in good time. */
function endOf(socket: Socket): Promise<boolean> {
  socket.resume();
  return new Promise((resolve) => {
    const patience = setTimeout(() => socket.destroy(), PATIENCE_MS);
    socket.once('end', () => resolve(true));
    socket.once('close', () => {
      clearTimeout(patience);
      resolve(false);
    });
  });
}

/** An exchange that the service has begun, and goes on with until its key set is published. */
async function begun(service: TestService, signal?: AbortSignal): Promise<{ waiting: Promise<Response> }> {
  await until('the first fetch of the key set is over', PATIENCE_MS, async () => {
    const answer = await sendRaw(service.address, { target: '/healthz/readiness' });
    return answer?.status === 200;
  });
  jwks.answerWith(silence());
  const before = jwks.requestCount;
  const body = new URLSearchParams({
    grant_type: GRANT_TYPE,
    subject_token: publisher.sign(publisher.claims(), { kid: 'unknown' }),
  });
  const waiting = service.fetch('/rest/auth/oauth/token', { method: 'POST', body, signal: signal ?? null });
  waiting.catch(() => undefined);
  await until('the key set is asked for', PATIENCE_MS, () => jwks.requestCount > before);
  return { waiting };
}

function endExchange(): void {
  jwks.publish(publisher.jwks());
  jwks.breakConnections();
}

/** Works while the service waits for a key set that does not come, for the sake of one request. */
async function besideOneInProgress<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const { waiting } = await begun(service);
  try {
    return await work();
  } finally {
    endExchange();
    await (await waiting).text();
  }
}

/** Of the service that runs: an unknown kid has the key set of one address asked for once in 30 seconds. */
let jwks: JwksServer;

const withWorld = async (
  database: Parameters<typeof withService>[0],
  environment: Record<string, string>,
  work: (service: TestService, world: ApiWorld) => Promise<unknown>,
) => {
  jwks = await JwksServer.listen();
  jwks.publish(publisher.jwks());
  const entries = [...trustedKeys, { type: 'jwks', url: jwks.url, issuer: publisher.issuer }];
  const settings = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true', ...environment };
  const options = { trustedKeys: entries, environment: settings };
  await withService(database, options, (service) =>
    work(service, new ApiWorld(service, `limits-${worlds++}`)),
  ).finally(() => jwks.close());
};
let worlds = 0;

describe('docs/reference/limits.md', () => {
  it('has a case for each row, and no other', () => {
    expect(ROWS.length).toBeGreaterThan(20);
    expect(ROWS.map(({ limit }) => limit).sort()).toEqual(Object.keys(CASES).sort());
  });

  it.each(ROWS.filter(({ setting }) => setting !== undefined))(
    'names $setting with its default',
    ({ setting, byDefault }) => {
      const variable = ENVIRONMENT_VARIABLES.find(({ name }) => name === setting);
      expect(variable && defaultOf(variable)).toBe(byDefault.replace(/ s$/, ''));
    },
  );

  it('names each setting of a limit', () => {
    const limits = ENVIRONMENT_VARIABLES.map(({ name }) => name).filter((name) =>
      /_MAX_(?!TOKEN_TTL|LIFETIME|DAYS)|PER_MINUTE|KEEP_ALIVE/.test(name),
    );
    const named = ROWS.map(({ setting }) => setting);
    expect(limits.filter((name) => !named.includes(name))).toEqual([]);
  });
});

describeOnAnyDatabase('[B.connections][B.headerCount][D102][D124] beyond a limit', (database) => {
  const due = ROWS.filter(({ limit }) => !isMainScope || !CASES[limit]?.isSlow);
  const isShared = ({ limit }: Row) =>
    CASES[limit]?.isAlone === undefined && CASES[limit]?.isSlow === undefined;
  const settingsOf = ({ limit }: Row) => CASES[limit]?.environment;
  const expectExcess = async ({ limit, answer }: Row, service: TestService, world: ApiWorld) =>
    expect(await CASES[limit]!.excess(service, world)).toBe(answer);

  describe.each([...new Set(due.filter(isShared).map(settingsOf))].map((settings) => ({ settings })))(
    '[B.headers] with settings $settings',
    ({ settings }) => {
      const service = TestService.forBlock(database, { trustedKeys, environment: settings });
      const world = new ApiWorld(service, `limits-${worlds++}`);

      it.each(due.filter((row) => isShared(row) && settingsOf(row) === settings))('$limit: $answer', (row) =>
        expectExcess(row, service, world),
      );
    },
  );

  it.each(due.filter((row) => !isShared(row)))('$limit: $answer', async (row) => {
    await withWorld(database, settingsOf(row) ?? {}, (service, world) => expectExcess(row, service, world));
  });
});

describeOnAnyDatabase('[D102] more requests in progress than there may be', (database) => {
  it('[D102] are refused without effect and counted, and the log has one warning', async () => {
    await withWorld(database, {}, async (service) => {
      const subject_token = partner.sign();
      await besideOneInProgress(service, async () => {
        service.part(ConcurrencyLimit).most = 1;
        expect((await service.exchange({ subject_token })).status).toBe(503);
        const samples = await MetricSamples.read(service);
        expect(samples.value('svc_requests_in_progress')).toBe(1);
        expect(samples.value('svc_requests_shed_total')).toBe(1);
      });
      expect((await service.exchange({ subject_token })).status).toBe(200);
      const warnings = service.log.filter(({ msg }) => String(msg).includes('too many are in progress'));
      expect(warnings).toMatchObject([{ level: 'warn', count: 1 }]);
    });
  });

  it('[D102] the request of a disconnected client is counted until its work is done', async () => {
    await withWorld(database, {}, async (service) => {
      const gone = new AbortController();
      const { waiting } = await begun(service, gone.signal);
      service.part(ConcurrencyLimit).most = 1;
      gone.abort();
      await expect(waiting).rejects.toThrow();
      expect((await MetricSamples.read(service)).value('svc_requests_in_progress')).toBe(1);
      endExchange();
      const inProgress = async () => (await MetricSamples.read(service)).value('svc_requests_in_progress');
      await until('the work is done', PATIENCE_MS, async () => (await inProgress()) === 0);
    });
  });
});

describeOnEachDatabase('quotas', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const world = new ApiWorld(service, `quotas-${worlds++}`);
  /** Makes ten objects at once. Only `free` more are allowed. */
  async function race(make: () => Promise<Response>, free: number, limit: number): Promise<unknown[]> {
    const answers = await Promise.all(Array.from({ length: 10 }, make));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(free).fill(201), ...Array(10 - free).fill(409)]);
    const refused = answers.find(({ status }) => status === 409);
    expect(await refused?.json()).toMatchObject({
      error: 'quota_exceeded',
      message: expect.stringContaining(` at most ${limit} `),
    });
    const made = answers.filter(({ status }) => status === 201);
    return Promise.all(made.map((answer) => answer.json()));
  }

  it('allow three of ten simultaneous workflows, and one more after a deletion', async () => {
    const user = await world.createUser();
    const token = await world.token(user);
    await world.fillWorkflows(user, 1_997);
    const make = () => call(service, token, 'workflows', { name: 'n' });
    const [first, second] = (await race(make, 3, 2_000)) as { id: string }[];
    const headers = { authorization: `Bearer ${token}` };
    await service.fetch(`/api/v1/workflows/${first?.id}`, { method: 'DELETE', headers });
    await race(make, 1, 2_000);
    // As after the limit was lowered: what exists can be changed.
    await world.fillWorkflows(user, 1);
    const change = { name: 'm', nodes: [{}] };
    expect(await told(call(service, token, `workflows/${second?.id}`, change, 'PATCH'))).toBe('200');
    expect(await told(make())).toBe('409 quota_exceeded');
  });

  it('allow importing workflows up to the limit, and none of a file beyond it', async () => {
    const command = CommandLine.beside(database, () => trustedKeys);
    const email = world.freshEmail();
    await world.fillWorkflows(await world.createUser('global:member', email), 1_998);
    const importing = (count: number) => {
      command.write('workflows.json', Array(count).fill({ name: 'n' }));
      return command.run(['workflows', 'import', '--file', 'workflows.json', '--owner-email', email]);
    };
    expect(await importing(3)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('A project has at most 2000 workflows.'),
    });
    expect(await importing(2)).toMatchObject({ exitCode: 0 });
    expect(await importing(1)).toMatchObject({ exitCode: 1 });
  });
});
