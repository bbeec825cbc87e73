// What each line of the log begins with.
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '../../../../src/platform/log/logger.js';

it('each line has its level as a word and its time in ISO 8601', async () => {
  const lines: { level: string; time: string }[] = [];
  const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const before = new Date().toISOString();
  for (let round = 0; round < 3; round++) {
    logger.info('a line');
    logger.warn('another in the same millisecond, or nearly');
    await delay(5);
  }
  const after = new Date().toISOString();
  expect(lines.map(({ level }) => level)).toEqual(['info', 'warn', 'info', 'warn', 'info', 'warn']);
  const times = lines.map(({ time }) => time);
  expect([before, ...times, after]).toEqual([before, ...times, after].toSorted());
  expect(new Set(times.filter((_, place) => place % 2 === 0)).size).toBe(3);
});
