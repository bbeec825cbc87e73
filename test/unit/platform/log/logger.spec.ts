// What each line of the log begins with, and which traceparent headers are taken, by W3C Trace Context levels 1 and 2.
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger, readTraceparent } from '../../../../src/platform/log/logger.js';

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

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('[D92] a traceparent', () => {
  it.each([
    ['of the present version', `00-${TRACE}-${SPAN}-01`],
    ['with flags of level 2 and others', `00-${TRACE}-${SPAN}-ff`],
    ['of a later version', `cc-${TRACE}-${SPAN}-01`],
    ['of a later version, with more in it', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
  ])('%s is accepted', (_, field) => {
    expect(readTraceparent(field)).toEqual({ traceId: TRACE, spanId: SPAN });
  });

  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['more than the version has', `00-${TRACE}-${SPAN}-01-more`],
    ['a later version with something stuck on', `cc-${TRACE}-${SPAN}-01.more`],
    ['digits that are none', `00-${'g'.repeat(32)}-${SPAN}-01`],
    ['two, joined as Node.js does', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['two by themselves', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ['a line break', `00-${TRACE}-${SPAN}-01\n`],
  ])('is ignored if it is malformed: %s', (_, field) => {
    expect(readTraceparent(field)).toBeUndefined();
  });
});
