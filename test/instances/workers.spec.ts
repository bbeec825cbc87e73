// One instance with two workers: what it is to its clients, and what becomes of it when its processes end.
import { request } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import type { ServiceInstance } from '../support/service-cluster.js';
import { ServiceCluster, describeWithProcesses } from '../support/service-cluster.js';
import { BASE_URL, GRANT_TYPE } from '../support/test-service.js';
import { until } from '../support/until.js';
import { SteadyTraffic } from './support/traffic.js';

const SOON_MS = 20_000;
const WORKERS = 2;

jest.setTimeout(120_000);

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, string | string[] | undefined>;
}

describeWithProcesses('[D123] an instance with two workers', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  let cluster: ServiceCluster;
  let instance: ServiceInstance;

  const start = async (environment: Record<string, string> = {}) => {
    cluster = await ServiceCluster.start(1, database, {
      trustedKeys: [partner.staticEntry()],
      environment: { SVC_WORKERS: String(WORKERS), SVC_THROTTLE_STORE: 'database', ...environment },
    });
    instance = cluster.instance(0);
    await untilLogged('the service is ready');
  };
  afterEach(() => cluster.stop());

  const child = () => instance['running']['child'];
  const lines = (message: string) => instance.log().filter(({ msg }) => String(msg).startsWith(message));
  const untilLogged = (message: string, times = 1) =>
    until(message, SOON_MS, () => lines(message).length >= times);
  /** The process ids of all workers there ever were, the latest last. */
  const workers = () =>
    lines('a worker answers requests').map(({ worker, pid }) => ({
      worker: Number(worker),
      pid: Number(pid),
    }));
  const latestOf = (seat: number) => workers().findLast(({ worker }) => worker === seat)!.pid;

  /** On a connection of its own: each goes to the next worker. */
  const ask = (path: string, { body, ...headers }: Record<string, string> = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      const method = body === undefined ? 'GET' : 'POST';
      const options = { agent: false, method, headers: { ...form, ...headers } };
      const asked = request(new URL(path, `http://${instance.address}`), options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: text, headers: answer.headers }),
        );
      });
      asked.on('error', reject).end(body);
    });
  const exchange = () =>
    ask('/rest/auth/oauth/token', {
      body: new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: partner.sign() }).toString(),
    });
  /** Twice as many questions as there are workers, so that each is asked. */
  const askAll = async (path: string, headers: Record<string, string> = {}) => {
    const answers: Answer[] = [];
    for (let turn = 0; turn < 2 * WORKERS; turn++) answers.push(await ask(path, headers));
    return answers.map(({ status }) => status);
  };
  const metric = async (name: string) => {
    const { body } = await ask('/metrics');
    const line = body.split('\n').find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
    return Number(line?.split(' ').at(-1));
  };
  const SUCCEEDED = 'svc_token_exchanges_total{outcome="succeeded",reason=""}';

  it('tells once that it is ready, writes whole lines that name their worker, and has one candidate to lead', async () => {
    await start();
    const traffic = new SteadyTraffic(
      Array.from({ length: 8 }, () => instance),
      () => partner.sign(),
      0,
    );
    await until('exchanges', SOON_MS, () => traffic.tookMs.length > 500);
    await traffic.end();
    expect(await instance.stop()).toBe(0);
    expect(traffic.refusals).toEqual([]);
    const text = readFileSync(instance['running'].logFile, 'utf8');
    const all = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines('the service is ready')).toEqual([expect.objectContaining({ workers: WORKERS })]);
    expect(lines('this instance is the leader now')).toHaveLength(1);
    const told = all.filter(({ event }) => String(event).endsWith('.succeeded'));
    expect(told).toHaveLength(traffic.tookMs.length);
    expect(new Set(told.map(({ worker }) => worker))).toEqual(new Set([1, 2]));
  });

  it('answers metrics of all workers, and no counter falls when one of them is killed', async () => {
    await start();
    for (let sent = 0; sent < 10; sent++) expect((await exchange()).status).toBe(200);
    for (let turn = 0; turn < WORKERS; turn++) expect(await metric(SUCCEEDED)).toBe(10);
    expect(await metric('svc_database_pool_size')).toBe(10);
    expect(await metric('svc_leader')).toBe(1);
    expect(await metric('svc_database_up')).toBe(1);
    process.kill(latestOf(2), 'SIGKILL');
    await untilLogged('a worker answers requests', WORKERS + 1);
    expect(lines('a worker has died')).toEqual([expect.objectContaining({ worker: 2, signal: 'SIGKILL' })]);
    expect(await metric(SUCCEEDED)).toBe(10);
    expect((await exchange()).status).toBe(200);
    expect(await metric(SUCCEEDED)).toBe(11);
    process.kill(latestOf(1), 'SIGTERM');
    await untilLogged('a worker answers requests', WORKERS + 2);
    expect(lines('a worker has ended')).toEqual([expect.objectContaining({ worker: 1, code: 0 })]);
    expect(await metric(SUCCEEDED)).toBe(11);
  });

  it('has another leader when the worker that leads is killed', async () => {
    await start();
    const leaders = () => lines('this instance is the leader now').map(({ worker }) => worker);
    expect(leaders()).toEqual([1]);
    process.kill(latestOf(1), 'SIGKILL');
    await until('another leads', SOON_MS, () => leaders().length === 2);
    expect(leaders()).toEqual([1, 2]);
  });

  it('what one worker has ended no worker takes any more, and each takes what the other gave', async () => {
    await start();
    const { access_token: token } = JSON.parse((await exchange()).body) as { access_token: string };
    const bearer = { authorization: `Bearer ${token}` };
    expect(await askAll('/rest/me', bearer)).toEqual([200, 200, 200, 200]);
    expect((await ask('/rest/auth/oauth/revoke', { body: `token=${token}` })).status).toBe(200);
    await until('all refuse it', SOON_MS, async () =>
      (await askAll('/rest/me', bearer)).every((status) => status === 401),
    );
    const login = await ask('/rest/auth/embed', { body: `token=${partner.sign()}` });
    const cookie = String(login.headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(await askAll('/rest/me', { cookie })).toEqual([200, 200, 200, 200]);
    expect((await ask('/rest/auth/logout', { cookie, origin: BASE_URL, body: '' })).status).toBe(204);
    expect(await askAll('/rest/me', { cookie })).toEqual([401, 401, 401, 401]);
    const used = new URLSearchParams({ grant_type: GRANT_TYPE, subject_token: partner.sign() }).toString();
    const statuses = await Promise.all(
      Array.from({ length: 16 }, async () => (await ask('/rest/auth/oauth/token', { body: used })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  it('counts limits by the minute for all workers together', async () => {
    await start({ SVC_TOKEN_EXCHANGE_TOKEN_EXCHANGE_PER_MINUTE: '3' });
    const statuses: number[] = [];
    for (let sent = 0; sent < 6; sent++) statuses.push((await exchange()).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('SIGHUP replaces all workers by such with the configuration of now, and no request fails', async () => {
    await start();
    const traffic = new SteadyTraffic(
      Array.from({ length: 6 }, () => instance),
      () => partner.sign(),
      5,
    );
    await until('exchanges', SOON_MS, () => traffic.tookMs.length > 50);
    const before = workers();
    writeFileSync(join(instance['directory'], '.env'), 'SVC_HEADERS_TIMEOUT_SECONDS=nonsense\n');
    child().kill('SIGHUP');
    await untilLogged('the workers stay as they are');
    expect(workers()).toEqual(before);
    writeFileSync(join(instance['directory'], '.env'), 'SVC_EMBED_FRAME_ANCESTORS=https://product.example\n');
    child().kill('SIGHUP');
    await untilLogged('all workers have been replaced');
    await traffic.end();
    expect(traffic.refusals).toEqual([]);
    expect(new Set(workers().map(({ pid }) => pid)).size).toBe(2 * WORKERS);
    const policies = [await ask('/'), await ask('/')].map(
      ({ headers }) => headers['content-security-policy'],
    );
    for (const policy of policies) expect(policy).toContain('https://product.example');
    // What was killed later begins as the others did.
    expect(await metric(SUCCEEDED)).toBe(traffic.tookMs.length);
  });

  it('[D93] with a delay it is not ready at once, answers meanwhile, and ends with 0', async () => {
    await start({ SVC_SHUTDOWN_DELAY_SECONDS: '2' });
    const startedAt = performance.now();
    child().kill('SIGTERM');
    await untilLogged('stopping');
    await pause(100);
    expect(await askAll('/healthz/readiness')).toEqual([503, 503, 503, 503]);
    expect((await exchange()).status).toBe(200);
    expect(await instance['running'].exited).toBe(0);
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(2_000);
    expect(tookMs).toBeLessThan(9_000);
  });

  it('[D93] a second signal ends all at once', async () => {
    await start({ SVC_SHUTDOWN_DELAY_SECONDS: '60' });
    child().kill('SIGTERM');
    await untilLogged('stopping');
    child().kill('SIGTERM');
    expect(await instance['running'].exited).toBe(1);
    expect(lines('ended at once by a second signal')).toHaveLength(1);
  });

  it('a worker that dies five times within a minute ends the whole, with another exit code', async () => {
    await start();
    for (let deaths = 1; deaths <= 5; deaths++) {
      process.kill(latestOf(2), 'SIGKILL');
      if (deaths < 5) await untilLogged('a worker answers requests', WORKERS + deaths);
    }
    expect(await instance['running'].exited).toBe(1);
    expect(lines('a worker has died five times within a minute')).toHaveLength(1);
  });

  it('the workers end with the primary process', async () => {
    await start();
    const pids = workers().map(({ pid }) => pid);
    await instance.kill();
    await until('they are gone', SOON_MS, () => pids.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
