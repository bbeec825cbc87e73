// What bounds the work, the answers and the traces of one client: body, parts of a body, lists, calls of the API.
import { Partner } from '../../demo/partner.js';
import { ApiWorld } from '../support/api-world.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { EMBED_PATH, EXCHANGE_PATH } from '../support/entry-paths.js';
import { metricsOf } from '../support/metric-samples.js';
import { sendBytes } from '../support/raw-http.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const LIMIT_BYTES = 256 * 1024;
/** The connection stays open after the answer. */
const LEAVES_AFTER_MS = 1_000;
const FORM = 'application/x-www-form-urlencoded';
const post = (body: string, type = FORM) => ({ method: 'POST', body, headers: { 'content-type': type } });

/** A request whose body has no declared length, in chunks of 16 KiB. */
function chunked(path: string, bytes: number): Buffer {
  const size = 16 * 1024;
  const chunk = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return Buffer.from(`${head}${chunk.repeat(Math.ceil(bytes / size))}0\r\n\r\n`);
}

describeOnAnyDatabase('[B.body] bodies', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });

  it('[B.body] without a declared length are cut off at the limit', async () => {
    for (const path of [EXCHANGE_PATH, EMBED_PATH]) {
      const beyond = chunked(path, LIMIT_BYTES + 32 * 1024);
      expect((await sendBytes(service.address, beyond, LEAVES_AFTER_MS))?.status).toBe(413);
      // A connection that stays open would let the sender wait for the service to hang up.
      const within = await fetch(`${service.address}${path}`, post('a'.repeat(LIMIT_BYTES - 1)));
      expect(within.status).toBe(400);
    }
  });
});

describeOnAnyDatabase('[B.list][B.calls] the API', (database) => {
  const clock = new TestClock();
  const environment = { SVC_API_CALLS_PER_MINUTE: '5' };
  const service = TestService.forBlock(database, { trustedKeys, environment, clock });
  const world = ApiWorld.forBlock(service, 'bounds');

  beforeEach(() => clock.advance(60));
  const call = (token: string, path: string, body?: string) =>
    service.fetch(`/api/v1/${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
  const freshToken = async (actor?: string) => world.token(await world.createUser(), actor);
  const statuses = async (token: string, count: number) => {
    const found: number[] = [];
    for (let index = 0; index < count; index++) found.push((await call(token, 'workflows?limit=1')).status);
    return found;
  };

  it('[B.list] data that is merged into a credential stays within the limit of a body', async () => {
    const userId = await world.createUser();
    const token = await world.token(userId);
    const id = await world.createCredential(await world.personalProjectOf(userId));
    const patch = (data: object) =>
      service.fetch(`/api/v1/credentials/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ isPartialData: true, data }),
      });
    const text = '\u{1f600}'.repeat(40_000);
    expect((await patch({ user: text })).status).toBe(200);
    const refused = await patch({ password: text });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ message: expect.stringMatching(/data .*256 KiB/) });
    expect(await world.credentialData(id)).toMatchObject({ user: text, password: 'correct horse' });
  });

  it('[B.calls][D19] calls are counted per user, and over the limit nothing is read or recorded', async () => {
    const [token, neighbour] = [await freshToken(), await freshToken()];
    expect(await statuses(token, 5)).toEqual([200, 200, 200, 200, 200]);
    const calls = () => service.rows("SELECT 1 FROM audit_event WHERE name = 'svc.audit.api.called'");
    const before = (await calls()).length;
    const refused = await call(token, 'workflows', '{');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: 'too_many_requests', requestId: expect.any(String) });
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.headers.get('ratelimit-limit')).toBe('5');
    expect((await calls()).length).toBe(before);
    expect(await metricsOf(service)).toMatch(/svc_throttle_refusals_total\{flow="api"\} 1\b/);
    expect(await statuses(neighbour, 1)).toEqual([200]);
    clock.advance(60);
    expect(await statuses(token, 1)).toEqual([200]);
  });
});
