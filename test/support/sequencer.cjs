// The order of test files: small ones that take long begin early, so that none of them holds up the end alone; others as Jest has them.
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const Sequencer = require('@jest/test-sequencer').default;

/**
 * Those of half a minute and more, most of which wait. Jest begins with the largest files where it knows no times; and of a file of
 * which both scopes have a part it knows the time of the other part.
 */
const LONG = [
  'browser/real-stops.spec.ts',
  'long/browsers/firefox.spec.ts',
  'e2e/metrics-listener.spec.ts',
  'e2e/process.spec.ts',
  'package/journeys.spec.ts',
  'partner/programs.spec.ts',
  'package/examples.spec.ts',
];
for (const file of LONG)
  if (!existsSync(join(__dirname, '..', file)))
    throw new Error(`test/support/sequencer.cjs has a row for test/${file}, which is not there`);

module.exports = class LongFilesEarly extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const long = LONG.flatMap((file) => sorted.filter(({ path }) => isAt(path, file)));
    const order = sorted.filter((test) => !long.includes(test));
    // Spread over the first half: where two wait at the same time a processor has nothing to do. So also where Jest knows times: it
    // would begin with these, side by side.
    const apart = sorted.length / 2 / Math.max(1, long.length);
    for (const [index, test] of long.entries()) order.splice(Math.floor(index * apart), 0, test);
    return order;
  }
};

function isAt(path, file) {
  return path.replaceAll('\\', '/').endsWith(`/test/${file}`);
}
