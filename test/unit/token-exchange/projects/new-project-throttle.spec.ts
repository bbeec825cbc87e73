// How many projects an entry creates within a minute.
import { MemoryCounts } from '../../../../src/platform/http/throttle/rate-limit.js';
import { createLogger } from '../../../../src/platform/log/logger.js';
import { NewProjectThrottle } from '../../../../src/token-exchange/projects/new-project-throttle.js';
import { TestClock } from '../../../support/test-clock.js';

const entry = (entryIndex: number) => ({ entryIndex, label: 'acme', issuer: 'https://acme.example' });
const created = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, to: 'viewer', isClaimed: true }));

it('an entry creates at most 100 projects per minute', async () => {
  const clock = new TestClock();
  const lines: string[] = [];
  const logger = createLogger('warn', { write: (line) => void lines.push(line) });
  const throttle = new NewProjectThrottle(new MemoryCounts(clock), logger);
  const existing = { id: 'id', key: 'k', to: 'viewer', isClaimed: true };
  await throttle.count(entry(0), [...created(50), existing]);
  clock.advance(20);
  await throttle.count(entry(0), created(50));
  await throttle.count(entry(0), [existing]);
  await throttle.count(entry(1), created(100));
  expect(lines).toEqual([]);

  await expect(throttle.count(entry(0), created(1))).rejects.toMatchObject({ retryAfterSeconds: 40 });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    issuer: 'https://acme.example',
    label: 'acme',
    msg: 'a token is answered 429: its entry has created 100 projects within a minute',
  });

  clock.advance(40);
  await throttle.count(entry(0), created(100));
});
