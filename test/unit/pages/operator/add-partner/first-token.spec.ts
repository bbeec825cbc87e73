// The wait for the first token of a partner, by a clock of its own.
import type { Request, Wait } from '../../../../../pages/operator/add-partner/first-token.js';
import { waitForFirstToken } from '../../../../../pages/operator/add-partner/first-token.js';

const SINCE = '2026-01-01T00:00:00.000Z';
const MINUTE_MS = 60_000;

/** Without a stream, which would need real timers. */
function answerOf(body: object, status = 200): Response {
  const text = () => Promise.resolve(JSON.stringify(body));
  return { ok: status === 200, status, headers: new Headers(), text } as Response;
}

describe('the wait for the first token', () => {
  const paths: string[] = [];
  let answer: () => Response;
  const fetched = globalThis.fetch;

  beforeEach(() => {
    paths.length = 0;
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    globalThis.fetch = (path) => {
      paths.push(path as string);
      return Promise.resolve(path === '/rest/admin/overview' ? answerOf({ now: SINCE }) : answer());
    };
  });
  afterEach(() => {
    jest.useRealTimers();
    globalThis.fetch = fetched;
  });

  function waiting(more: Partial<Wait> = {}) {
    const errors: unknown[] = [];
    const seen = { end: '', errors };
    const { signal } = new AbortController();
    const shows = { setRequests: () => undefined, setError: (error: unknown) => errors.push(error) };
    void waitForFirstToken({ issuer: 'https://a.test', goals: ['embed'], signal, ...shows, ...more }).then(
      (end) => (seen.end = end),
      (error: unknown) => (seen.end = String(error)),
    );
    return seen;
  }
  const request = (more: Partial<Request>) =>
    answerOf({ data: [{ of: 'embed', succeeded: true, own: true, ...more }] });

  it('ends after ten minutes without a success, and asks no more', async () => {
    answer = () => request({ succeeded: false });
    const seen = waiting();
    await jest.advanceTimersByTimeAsync(10 * MINUTE_MS - 5_000);
    expect(seen.end).toBe('');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(seen.end).toBe('over');
    const count = paths.length;
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(paths).toHaveLength(count);
    expect(count).toBe(301);
  });

  it('ends at the first success of the issuer in each flow, not at the success of another', async () => {
    answer = () => request({ own: false });
    const seen = waiting();
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(seen.end).toBe('');
    answer = () => request({});
    await jest.advanceTimersByTimeAsync(2_000);
    expect(seen.end).toBe('done');
  });

  it('goes on after a failed reading, which it shows', async () => {
    answer = () => answerOf({}, 503);
    const seen = waiting();
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    expect(seen.errors.length).toBeGreaterThan(0);
    answer = () => request({});
    await jest.advanceTimersByTimeAsync(2_000);
    expect(seen.end).toBe('done');
  });

  it('ends when the operator leaves the page', async () => {
    answer = () => request({ succeeded: false });
    const leaving = new AbortController();
    const seen = waiting({ signal: leaving.signal });
    await jest.advanceTimersByTimeAsync(MINUTE_MS);
    leaving.abort();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(seen.end).toContain('AbortError');
  });
});
