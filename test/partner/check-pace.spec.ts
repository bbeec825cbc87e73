// The pace of the check of an integration: below the instance's limit, and patient when others have used it up.
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InstanceRequests } from '../../packages/partner/src/check-requests.js';
import { WaitingClock } from './support/partner-clock.js';

const PER_MINUTE = 15;
const MINUTE_MS = 60_000;
const PATHS = ['/one', '/other'];

describe('the pace of the check', () => {
  const clock = new WaitingClock();
  let arrivals: { path: string; atMs: number }[];
  let respond: (response: ServerResponse) => unknown;
  let server: Server;
  let requests: InstanceRequests;

  beforeAll(async () => {
    server = createServer((request: IncomingMessage, response) => {
      arrivals.push({ path: request.url ?? '', atMs: clock.monotonicMs() });
      respond(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  beforeEach(() => {
    arrivals = [];
    respond = (response) => response.end();
    const { port } = server.address() as AddressInfo;
    requests = new InstanceRequests(`http://127.0.0.1:${port}`, PER_MINUTE, clock);
  });
  afterAll(() => server.close());

  it('[8.5][8.6] never exceeds the requested forms per minute and endpoint, and endpoints do not wait for each other', async () => {
    const startMs = clock.monotonicMs();
    for (let each = 0; each < 2 * PER_MINUTE; each += 1)
      for (const path of PATHS) await requests.post(path, {});
    for (const path of PATHS) {
      const times = arrivals.filter((each) => each.path === path).map(({ atMs }) => atMs);
      const within = times.map((from) => times.filter((at) => at >= from && at < from + MINUTE_MS).length);
      expect(Math.max(...within)).toBe(PER_MINUTE);
    }
    expect(clock.monotonicMs() - startMs).toBeLessThan(2 * MINUTE_MS);
  });

  it('[D19] repeats a form that gets 429 after Retry-After', async () => {
    respond = (response) =>
      arrivals.length === 1 ? response.writeHead(429, { 'retry-after': '37' }).end() : response.end();
    expect((await requests.post('/one', {})).status).toBe(200);
    const [first, second] = arrivals;
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(37_000);
  });

  it('[D19] ends with the 429 if it is permanent', async () => {
    respond = (response) => response.writeHead(429, { 'retry-after': '1' }).end();
    expect((await requests.post('/one', {})).status).toBe(429);
    expect(arrivals).toHaveLength(4);
  });
});
