// The built service as a process: its output at the start, its refusals, the data it keeps over restarts, and its stop.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Partner } from '../../demo/partner.js';
import type { ServiceSurroundings } from '../../demo/service-process.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { VERSION } from '../../src/platform/version.js';
import {
  describeBuilt,
  logOf,
  openPost,
  runToEnd,
  surroundingsOf,
  untilLogged,
} from '../support/built-service.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { sessionIdOf } from '../support/logins.js';
import { GRANT_TYPE } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example' });
/** Its tokens act as a user who is not there. */
const job = Partner.create({ issuer: 'https://jobs.example', audience: 'https://instance.example' });
const JOB = {
  name: 'job',
  signInAs: randomUUID(),
  subjects: ['build'],
  flows: ['exchange'],
  scopes: ['workflow:read'],
};
const IN_FLIGHT = 20;
const READY = 'the service is ready';

// A process needs seconds to start on a busy machine.

describeBuilt('the process', () => {
  describeOnEachDatabase('on its database', (database) => {
    let surroundings: ServiceSurroundings & { baseUrl: string };
    let service: ServiceProcess | undefined;

    beforeAll(async () => {
      surroundings = await surroundingsOf({
        ...database.environment,
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry(), job.staticEntry(JOB)]),
        SVC_ENCRYPTION_KEY:
          database.kind === 'postgresql' ? Buffer.alloc(32, 3).toString('base64') : undefined,
      });
      if (database.kind === 'postgresql')
        mkdirSync(join(surroundings.directory, 'data', 'database'), { recursive: true });
    });
    afterAll(async () => {
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
    });

    const start = async () => (service = await ServiceProcess.start(surroundings, surroundings.baseUrl));
    /** The tests of the block share a process, except for those that end it. */
    const running = async () => service ?? (await start());
    const post = (path: string, fields: Record<string, string>) =>
      fetch(new URL(path, surroundings.baseUrl), {
        method: 'POST',
        body: new URLSearchParams(fields),
        redirect: 'manual',
      });
    const exchange = (token: string) =>
      post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, subject_token: token });
    /** The user's data without the remaining time, which changes. */
    const me = async (headers: Record<string, string>) => {
      const answer = await fetch(new URL('/rest/me', surroundings.baseUrl), { headers });
      return { ...((await answer.json()) as object), expiresInSeconds: undefined };
    };
    /** Signs somebody in by both flows: what the process must know again after a restart. */
    const entries = async () => {
      const [subject, login] = [partner.sign(), partner.sign()];
      const { access_token: issued } = (await (await exchange(subject)).json()) as { access_token: string };
      const answer = await post('/rest/auth/embed', { token: login });
      const cookie = `__Host-svc-session=${sessionIdOf(answer.headers.get('set-cookie') ?? '')}`;
      const user = await me({ cookie });
      return { subject, login, authorization: `Bearer ${issued}`, cookie, user };
    };
    const expectKept = async ({
      subject,
      login,
      authorization,
      cookie,
      user,
    }: Awaited<ReturnType<typeof entries>>) => {
      expect((await exchange(subject)).status).toBe(400);
      const replayed = await post('/rest/auth/embed', { token: login });
      expect(await replayed.json()).toMatchObject({ error: 'token_replayed' });
      expect(await me({ cookie })).toEqual(user);
      expect(await me({ authorization })).toMatchObject({ authentication: 'access_token' });
      expect((await exchange(partner.sign())).status).toBe(200);
    };

    it('one line says that it is ready: address, version, database, flows, keys and issuers', async () => {
      const process = await running();
      await untilLogged(process, new RegExp(READY));
      const [ready, ...others] = (await logOf(process)).filter(({ msg }) => msg === READY);
      expect(others).toEqual([]);
      expect(ready).toMatchObject({
        version: VERSION,
        baseUrl: surroundings.baseUrl,
        database: expect.stringContaining(database.kind),
        flows: { embedLogin: true, tokenExchange: true },
        trustedKeys: { static: 2, keySets: 0, issuers: [partner.issuer, job.issuer] },
      });
      expect(String(ready?.['address'])).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]|localhost):\d+$/);
    });

    it('[D144] warns of a configured entry whose user is not there', async () => {
      const lines = (await logOf(await running())).filter(({ entry }) => entry === 'job');
      expect(lines).toMatchObject([
        { level: 'warn', msg: expect.stringMatching(/an entry does not exist: its tokens/) },
      ]);
    });

    it('[D137] says where the data is, and of an embedded database beside it that it is not used', async () => {
      const messages = (await logOf(await running())).map(({ msg }) => String(msg));
      const embedded = `the embedded database in ${join(surroundings.directory, 'data')} is not used`;
      const isOnPostgresql = database.kind === 'postgresql';
      const place = isOnPostgresql ? 'PostgreSQL' : `the folder ${database.environment['SVC_DATA_DIR']}`;
      expect(messages).toContain(`the data is in ${place}, which was there`);
      expect(messages.some((message) => message.startsWith(embedded))).toBe(isOnPostgresql);
    });

    it('[2.6] a restart keeps users, sessions, issued tokens and replay records', async () => {
      const before = await running();
      const kept = await entries();
      expect(await before.stop()).toBe(0);
      await start();
      await expectKept(kept);
    });

    it(`[D93] SIGTERM while ${IN_FLIGHT} requests are in flight loses none, and ends with 0`, async () => {
      const stopping = await running();
      service = undefined;
      const url = `${surroundings.baseUrl}/rest/auth/oauth/token`;
      const open = await Promise.all(
        Array.from({ length: IN_FLIGHT }, (_, index) => {
          const subject = partner.sign(partner.claims({ sub: `in-flight-${index}` }));
          return openPost(url, { grant_type: GRANT_TYPE, subject_token: subject });
        }),
      );
      const stopped = stopping.stop();
      await untilLogged(stopping, /^stopping/);
      const statuses = await Promise.all(open.map((request) => request.finish()));
      expect(statuses).toEqual(Array.from({ length: IN_FLIGHT }, () => 200));
      expect(await stopped).toBe(0);
    });
  });

  it('[D46][D32] a second process on the same data directory says who has it and what to do; the first goes on, and has said that it created the folder', async () => {
    const first = await surroundingsOf({ SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]', SVC_DATA_DIR: undefined });
    const service = await ServiceProcess.start(first, first.baseUrl);
    try {
      await expectRefused(join(first.directory, 'data'));
      expect((await fetch(`${first.baseUrl}/healthz`)).status).toBe(200);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    expect(existsSync(join(first.directory, 'data', 'process.lock'))).toBe(false);
    const folder = `the data is in the folder ${join(first.directory, 'data')}`;
    await untilLogged(service, new RegExp(`^${folder}, which was created just now and is empty$`));
    rmSync(first.directory, { recursive: true, force: true });
  });

  const expectRefused = async (directory: string) => {
    const second = await surroundingsOf({ SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]', SVC_DATA_DIR: directory });
    const { code, stderr, stdout } = await runToEnd(second);
    const holder = JSON.parse(readFileSync(join(directory, 'process.lock'), 'utf8')) as { processId: number };
    expect(code).toBe(1);
    expect(stderr).toContain(`process ${holder.processId}`);
    expect(stderr).toMatch(/[Ss]top/);
    expect(stdout).not.toContain(READY);
    rmSync(second.directory, { recursive: true, force: true });
  };

  it('an unknown option ends it at once, with any configuration', async () => {
    const surroundings = await surroundingsOf({ SVC_PORT: 'bad' });
    const stderr: unknown = expect.stringMatching(/^error: .*'--frobnicate'[^]*--help/);
    expect(await runToEnd(surroundings, ['--frobnicate'])).toEqual({ code: 2, stdout: '', stderr });
    expect(existsSync(join(surroundings.directory, 'data'))).toBe(false);
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  // Which problems there are is shown by unit/config and unit/instance.
  it('[D32][K20] a bad configuration: exit code 1, every problem at once on stderr, no value, nothing begun', async () => {
    const entry = { ...partner.staticEntry(), kid: 'secret-kid', alowedRoles: ['secret-role'] };
    const surroundings = await surroundingsOf({
      SVC_PORT: 'secret-port',
      SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL: '4',
      SVC_ENCRYPTION_KEY: 'secret-encryption-key',
      SVC_LICENSE: 'secret-licence',
      SVC_HOST_FILE: '/secret/path/that/is/not',
      SVC_BASE_URL_FILE: '/etc/hostname',
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([entry]),
    });
    const { code, stdout, stderr } = await runToEnd(surroundings);
    expect([code, stdout]).toEqual([1, '']);
    for (const problem of [
      'SVC_PORT: must be',
      'SVC_TOKEN_EXCHANGE_MAX_TOKEN_TTL: must be a whole number from 5 to 86400',
      'SVC_ENCRYPTION_KEY: ',
      'SVC_LICENSE: ',
      'SVC_HOST_FILE: ',
      'both SVC_BASE_URL and SVC_BASE_URL_FILE',
      'alowedRoles',
    ])
      expect(stderr).toContain(problem);
    expect(stderr).not.toMatch(/secret-|BEGIN PUBLIC|at .*\.js:\d+/);
    expect(existsSync(join(surroundings.directory, 'data'))).toBe(false);
    rmSync(surroundings.directory, { recursive: true, force: true });
  });
});
