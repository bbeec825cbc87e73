// One instance with two workers: what it is to its clients, and what becomes of it when its processes end.
import { request } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { Partner } from '../../demo/partner.js';
import type { TestDatabase } from '../support/databases.js';
import type { LogLine } from '../support/test-service.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { BASE_URL, GRANT_TYPE } from '../support/test-service.js';
import { until } from '../support/until.js';
import { SteadyTraffic } from './support/traffic.js';

/** A worker starts in two seconds, or in ten where the machine is busy; to replace both takes two starts and two stops. */
const SOON_MS = 60_000;
const WORKERS = 2;
const WIDTH = 8;
const SUCCEEDED = 'svc_token_exchanges_total{outcome="succeeded",reason="",';

jest.setTimeout(180_000);

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

/** An instance with two workers, as its clients and its operators see it. */
class WorkingInstance {
  readonly partner = Partner.create({ issuer: 'https://partner.example' });
  private cluster: ServiceCluster | undefined;

  constructor(private readonly database: TestDatabase) {}

  async start(environment?: Record<string, string>): Promise<void> {
    await this.startFirst(environment);
    await this.untilLogged('the service is ready');
  }

  /** Until one worker answers requests. */
  async startFirst(environment?: Record<string, string>): Promise<void> {
    this.cluster = await ServiceCluster.start(1, this.database, {
      trustedKeys: [this.partner.staticEntry()],
      environment: { SVC_WORKERS: String(WORKERS), SVC_THROTTLE_STORE: 'database', ...environment },
    });
    await this.untilLogged('a worker answers requests');
  }

  /** Stops what still runs, by a second signal where the first has come already. */
  async remove(): Promise<void> {
    await this.cluster?.stop();
  }

  get one(): ServiceInstance {
    if (this.cluster === undefined) throw new Error('the instance was not started');
    return this.cluster.instance(0);
  }

  signal(signal: NodeJS.Signals): void {
    this.one['running']['child'].kill(signal);
  }

  get exited(): Promise<number | string> {
    return this.one['running'].exited;
  }

  configure(line: string): void {
    writeFileSync(join(this.one['directory'], '.env'), `${line}\n`);
  }

  lines(message: string): LogLine[] {
    return this.one.log().filter(({ msg }) => String(msg).startsWith(message));
  }

  /** @throws SyntaxError where a line is not whole */
  allLines(): Record<string, unknown>[] {
    const lines = readFileSync(this.one['running'].logFile, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  untilLogged(message: string, times = 1): Promise<number> {
    return until(message, SOON_MS, () => this.lines(message).length >= times);
  }

  /** All workers there ever were, the latest last. */
  workers(): { worker: number; pid: number }[] {
    return this.lines('a worker answers requests').map(({ worker, pid }) => ({
      worker: Number(worker),
      pid: Number(pid),
    }));
  }

  latestOf(seat: number): number {
    return this.workers().findLast(({ worker }) => worker === seat)!.pid;
  }

  /** On a connection of its own: each goes to the next worker. */
  ask(path: string, { body, ...headers }: Record<string, string> = {}, timeout?: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const method = body === undefined ? 'GET' : 'POST';
      const options = { agent: false, method, timeout, headers: { ...form, ...headers } };
      const asked = request(new URL(path, `http://${this.one.address}`), options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('error', reject);
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: text, headers: answer.headers }),
        );
      });
      asked.on('timeout', () => asked.destroy(new Error('timeout')));
      asked.on('error', reject).end(body);
    });
  }

  exchange(subjectToken = this.partner.sign()): Promise<Answer> {
    const form = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: subjectToken });
    return this.ask('/rest/auth/oauth/token', { body: form.toString() });
  }

  /** Twice as many questions as there are workers, so that each is asked. */
  async askAll(path: string, headers: Record<string, string> = {}): Promise<number[]> {
    const statuses: number[] = [];
    for (let turn = 0; turn < 2 * WORKERS; turn++) statuses.push((await this.ask(path, headers)).status);
    return statuses;
  }

  /** Its value of each worker, as each that is asked answers once nobody has a text of before. @param name with the beginning of its labels */
  async metric(name: string): Promise<Record<string, number>[]> {
    await pause(1_100);
    const answers: Record<string, number>[] = [];
    for (let turn = 0; turn < WORKERS; turn++) {
      const { body } = await this.ask('/metrics');
      const lines = body.split('\n').filter((line) => line.startsWith(name));
      answers.push(
        Object.fromEntries(
          lines.map((line) => [/worker="(\d+)"/.exec(line)?.[1] ?? '', Number(line.split(' ').at(-1))]),
        ),
      );
    }
    return answers;
  }

  async sumOf(name: string): Promise<number[]> {
    const answers = await this.metric(name);
    return answers.map((values) => Object.values(values).reduce((sum, value) => sum + value, 0));
  }
}

describeWithProcesses('[D123] an instance with two workers', (database) => {
  const instance = new WorkingInstance(database);
  beforeAll(() => instance.start());
  afterAll(() => instance.remove());

  const leaders = () => instance.lines('this instance is the leader now').map(({ worker }) => worker);

  it('reports once that it is ready, and has one candidate to lead', () => {
    expect(instance.lines('the service is ready')).toEqual([expect.objectContaining({ workers: WORKERS })]);
    expect(leaders()).toEqual([1]);
  });

  it('what one worker has ended no worker takes any more, and each takes what the other gave', async () => {
    const { access_token: token } = JSON.parse((await instance.exchange()).body) as { access_token: string };
    const bearer = { authorization: `Bearer ${token}` };
    expect(await instance.askAll('/rest/me', bearer)).toEqual([200, 200, 200, 200]);
    expect((await instance.ask('/rest/auth/oauth/revoke', { body: `token=${token}` })).status).toBe(200);
    await until('all refuse it', SOON_MS, async () =>
      (await instance.askAll('/rest/me', bearer)).every((status) => status === 401),
    );
    const login = await instance.ask('/rest/auth/embed', { body: `token=${instance.partner.sign()}` });
    const cookie = String(login.headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(await instance.askAll('/rest/me', { cookie })).toEqual([200, 200, 200, 200]);
    const logout = await instance.ask('/rest/auth/logout', { cookie, origin: BASE_URL, body: '' });
    expect(logout.status).toBe(204);
    expect(await instance.askAll('/rest/me', { cookie })).toEqual([401, 401, 401, 401]);
  });

  it('of one token sent sixteen times at once one passes', async () => {
    const token = instance.partner.sign();
    const answers = await Promise.all(Array.from({ length: 16 }, () => instance.exchange(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('answers the metrics of each worker, whichever is asked', async () => {
    const [before = NaN] = await instance.sumOf(SUCCEEDED);
    for (let sent = 0; sent < 9; sent++) expect((await instance.exchange()).status).toBe(200);
    expect(await instance.sumOf(SUCCEEDED)).toEqual([before + 9, before + 9]);
    for (const values of await instance.metric(SUCCEEDED)) expect(Object.keys(values)).toEqual(['1', '2']);
    expect(await instance.sumOf('svc_database_pool_size{')).toEqual([10, 10]);
    expect(await instance.metric('svc_leader{')).toEqual([
      { 1: 1, 2: 0 },
      { 1: 1, 2: 0 },
    ]);
  });

  it('is led by another worker when the one that leads is killed; that comes back and counts anew', async () => {
    process.kill(instance.latestOf(1), 'SIGKILL');
    await instance.untilLogged('a worker answers requests', WORKERS + 1);
    await until('another leads', SOON_MS, () => leaders().length === 2);
    expect(leaders()).toEqual([1, 2]);
    const died = instance.lines('a worker has died');
    expect(died).toEqual([expect.objectContaining({ worker: 1, signal: 'SIGKILL' })]);
    for (const values of await instance.metric(SUCCEEDED)) {
      expect(values['1'] ?? 0).toBe(0);
      expect(values['2']).toBeGreaterThan(0);
    }
  });

  it('a worker that hangs is killed and replaced within thirty seconds, and another leads', async () => {
    const hanging = Number(leaders().at(-1));
    const answering = instance.workers().length;
    process.kill(instance.latestOf(hanging), 'SIGSTOP');
    const frozenAt = Date.now();
    await instance.untilLogged('a worker has given no sign of life');
    await instance.untilLogged('a worker answers requests', answering + 1);
    const [killed] = instance.lines('a worker has given no sign of life');
    expect(killed).toMatchObject({ worker: hanging, seconds: 20 });
    expect(Date.parse(String(killed?.['time'])) - frozenAt).toBeLessThan(25_000);
    await until('another leads', SOON_MS, () => leaders().length === 3);
    expect(leaders().at(-1)).not.toBe(hanging);
    expect(await instance.askAll('/metrics')).toEqual([200, 200, 200, 200]);
    expect(await instance.askAll('/healthz/readiness')).toEqual([200, 200, 200, 200]);
  });

  it('SIGHUP replaces all workers by such with the configuration of now, and no request fails', async () => {
    const clients = Array.from({ length: WIDTH }, () => instance.one);
    const traffic = new SteadyTraffic(clients, () => instance.partner.sign(), 25);
    const before = instance.workers();
    instance.configure('SVC_HEADERS_TIMEOUT_SECONDS=nonsense');
    instance.signal('SIGHUP');
    await instance.untilLogged('the workers stay as they are');
    expect(instance.workers()).toEqual(before);
    instance.configure('SVC_EMBED_FRAME_ANCESTORS=https://product.example');
    instance.signal('SIGHUP');
    await instance.untilLogged('the workers are replaced');
    // What comes meanwhile is not forgotten.
    instance.signal('SIGHUP');
    await instance.untilLogged('all workers have been replaced', 2).finally(() => traffic.end());
    expect(traffic.refusals).toEqual([]);
    expect(instance.workers()).toHaveLength(before.length + 2 * WORKERS);
    const answers = [await instance.ask('/'), await instance.ask('/')];
    for (const { headers } of answers)
      expect(headers['content-security-policy']).toContain('https://product.example');
  });

  it('[D93] what comes while it stops is answered or has had no effect, and every line is whole', async () => {
    const told = () =>
      instance.allLines().filter(({ event }) => String(event).endsWith('exchange.succeeded'));
    await pause(100);
    const before = told().length;
    const outcomes: (number | string)[] = [];
    const loop = async () => {
      for (let outcome: number | string = 200; outcome === 200; outcomes.push(outcome))
        outcome = await instance.one.exchangeStatus(instance.partner.sign()).catch(causeOf);
    };
    const loops = Promise.all(Array.from({ length: WIDTH }, loop));
    await until('three hundred exchanges', SOON_MS, () => outcomes.length > 300);
    instance.signal('SIGTERM');
    await loops;
    expect(await instance.exited).toBe(0);
    const answered = outcomes.filter((outcome) => outcome === 200);
    expect(outcomes).toHaveLength(answered.length + WIDTH);
    // Each loop ends by the first connection that is refused, or that nobody had taken, or that closes before its request has come
    // (UND_ERR_SOCKET).
    const ends = [200, 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'];
    for (const outcome of outcomes) expect(ends).toContain(outcome);
    const since = told().slice(before);
    expect(since).toHaveLength(answered.length);
    expect(new Set(since.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  });
});

describeWithProcesses('[D123] the end of an instance with two workers', (database) => {
  let instance: WorkingInstance;
  beforeEach(() => (instance = new WorkingInstance(database)));
  afterEach(() => instance.remove());

  it('[D93] with a delay it is not ready at once and answers meanwhile; limits by the minute are of all workers', async () => {
    await instance.start({
      SVC_SHUTDOWN_DELAY_SECONDS: '4',
      SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '3',
    });
    const startedAt = performance.now();
    instance.signal('SIGTERM');
    await instance.untilLogged('stopping');
    await until('not ready', SOON_MS, async () =>
      (await instance.askAll('/healthz/readiness')).every((status) => status === 503),
    );
    // A service manager may send it to all of them.
    for (const { pid } of instance.workers()) process.kill(pid, 'SIGTERM');
    const statuses: number[] = [];
    for (let sent = 0; sent < 6; sent++) statuses.push((await instance.exchange()).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await instance.exited).toBe(0);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(4_000);
    expect(tookMs).toBeLessThan(11_000);
  });

  it('[D93] a second signal ends all at once', async () => {
    await instance.start({ SVC_SHUTDOWN_DELAY_SECONDS: '60' });
    const pids = instance.workers().map(({ pid }) => pid);
    instance.signal('SIGTERM');
    await instance.untilLogged('stopping');
    instance.signal('SIGTERM');
    expect(await instance.exited).toBe(1);
    expect(instance.lines('ended at once by a second signal')).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('takes no worker on after it was asked to stop, and reports by its exit code that one was killed meanwhile', async () => {
    await instance.start({ SVC_SHUTDOWN_DELAY_SECONDS: '4' });
    const replaced = instance.latestOf(1);
    instance.signal('SIGHUP');
    await instance.untilLogged('a worker answers requests', WORKERS + 1);
    instance.signal('SIGTERM');
    await instance.untilLogged('stopping');
    process.kill(replaced, 'SIGKILL');
    expect(await instance.exited).toBe(1);
    expect(instance.workers()).toHaveLength(WORKERS + 1);
    expect(instance.lines('all workers have been replaced')).toEqual([]);
  });

  it('a worker that dies while others start ends the whole', async () => {
    await instance.startFirst();
    process.kill(instance.latestOf(1), 'SIGKILL');
    expect(await instance.exited).toBe(1);
    expect(instance.lines('a worker has ended before all were ready')).toHaveLength(1);
    expect(instance.lines('the service is ready')).toEqual([]);
  });

  it('a worker that dies too often ends the whole, with another exit code', async () => {
    await instance.start();
    const pids = instance.workers().map(({ pid }) => pid);
    // From now on no worker can start.
    await allowConnections(database, false);
    try {
      process.kill(instance.latestOf(2), 'SIGKILL');
      expect(await instance.exited).toBe(1);
    } finally {
      await allowConnections(database, true);
    }
    expect(instance.lines('a worker has died and is started again')).toHaveLength(4);
    expect(instance.lines('a worker has died too often')).toEqual([
      expect.objectContaining({ worker: 2, deaths: 5, withinSeconds: 60 }),
    ]);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('the workers end with the primary process, in the middle of work too', async () => {
    await instance.start();
    const pids = instance.workers().map(({ pid }) => pid);
    const clients = Array.from({ length: WIDTH }, () => instance.one);
    const traffic = new SteadyTraffic(clients, () => instance.partner.sign(), 25);
    await until('exchanges', SOON_MS, () => traffic.tookMs.length > 50);
    await instance.one.kill();
    await until('they are gone', SOON_MS, () => pids.every((pid) => !isAlive(pid)));
    await traffic.end();
  });
});

/** @returns the system's code for why there is no answer */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code ?? String(error);
}

async function allowConnections({ environment }: TestDatabase, isAllowed: boolean): Promise<void> {
  const url = new URL(environment['SVC_DATABASE_URL'] ?? '');
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
  await client.end();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
