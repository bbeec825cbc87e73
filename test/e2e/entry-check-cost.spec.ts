// What an administrator has checked as an entry holds up nobody, however it is made.
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ServiceProcess, runAdmin } from '../../demo/service-process.js';
import { surroundingsOf } from '../support/built-service.js';
import { cookieOf } from '../support/logins.js';
import { PASSWORD } from '../support/operators.js';
import { whenMeasured } from '../support/series.js';
import { describeWithProcesses } from '../support/service-cluster.js';

const EMAIL = 'owner@a.example';
const EMPTY_LINES = 3_000;
/** Some milliseconds on a machine of its own. */
const MOST_MS = 2_000;
const PAUSE_MS = 20;

describeWithProcesses('the check of an entry', (database) => {
  let service: ServiceProcess;
  let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
  let cookie = '';

  beforeAll(async () => {
    surroundings = await surroundingsOf({
      ...database.environment,
      SVC_ADMIN_ENABLED: 'true',
      SVC_HOST: '127.0.0.1',
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: '[]',
    });
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    await runAdmin(surroundings, ['users', 'create', '--email', EMAIL, '--role', 'global:owner']);
    const { code } = JSON.parse(
      await runAdmin(surroundings, ['users', 'set-password', EMAIL, '--code', '--json']),
    ) as { code: string };
    cookie = cookieOf(await post('password', { email: EMAIL, code, newPassword: PASSWORD }));
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${surroundings.baseUrl}/rest/admin/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: surroundings.baseUrl, cookie },
      body: JSON.stringify(body),
    });

  it(`[B.work][K33] with ${EMPTY_LINES} empty lines in its PEM delays no other request`, async () => {
    const key = `-----BEGIN PUBLIC KEY-----${'\n'.repeat(EMPTY_LINES)}x-----END PUBLIC KEY-----`;
    const entry = {
      type: 'static',
      name: 'a',
      issuer: 'https://a.example',
      kid: 'k1',
      algorithms: ['ES256'],
      key,
    };
    const checked = post('entries/check', { entry });
    let isAnswered = false;
    void checked.finally(() => (isAnswered = true));
    let longestMs = 0;
    do {
      const startedAt = performance.now();
      await (await fetch(`${surroundings.baseUrl}/healthz`)).arrayBuffer();
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      await pause(PAUSE_MS);
    } while (!isAnswered);
    const { problems } = (await (await checked).json()) as { problems: string[] };
    whenMeasured(() => expect(longestMs).toBeLessThan(MOST_MS));
    expect(problems).toContainEqual(expect.stringContaining('it is a damaged public key'));
  });
});
