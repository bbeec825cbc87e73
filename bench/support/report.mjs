// Prints what a case has measured.
import { isReached } from './ratios.mjs';
import { median } from './statistics.mjs';
import { table } from './table.mjs';

const COLUMNS = [
  ['per second', ({ perSecond }) => perSecond, 0],
  ['p50 ms', ({ p50Ms }) => p50Ms, 2],
  ['p99 ms', ({ p99Ms }) => p99Ms, 2],
  ['CPU µs', ({ serverCpuMicros }) => serverCpuMicros, 0],
  ['+ database', ({ databaseCpuMicros }) => databaseCpuMicros, 0],
  ['load CPU µs', ({ generatorCpuMicros }) => generatorCpuMicros, 0],
  ['others %', ({ foreignShare }) => foreignShare * 100, 0],
  ['RSS MiB', ({ residentMiB }) => residentMiB, 0],
];

/** One row a contender, with the medians of its rounds; then the ratios; then what else there is to say. */
export function report({ title, rounds = [], ratios, remarks = [] }) {
  const parts = [title];
  if (rounds.length > 0) parts.push(roundTable(rounds));
  if (ratios.length > 0) parts.push(ratioTable(ratios));
  return [...parts, ...remarks].join('\n\n');
}

function roundTable(rounds) {
  const names = [...new Set(rounds.map(({ contender }) => contender))];
  const rows = names.map((name) =>
    rowOf(
      name,
      rounds.filter(({ contender }) => contender === name),
    ),
  );
  return table([['medians of the rounds', 'rounds', ...COLUMNS.map(([heading]) => heading)], ...rows]);
}

function rowOf(name, rounds) {
  const cells = COLUMNS.map(([, quantity, digits]) => median(rounds.map(quantity)).toFixed(digits));
  return [name, String(rounds.length), ...cells];
}

function ratioTable(ratios) {
  const rows = ratios.map((ratio) => {
    const { title, median: middle, min, max } = ratio;
    return [
      title,
      middle.toFixed(2),
      `${min.toFixed(2)} to ${max.toFixed(2)}`,
      target(ratio),
      verdict(ratio),
    ];
  });
  return table([['in each round', 'median', 'spread', 'target', ''], ...rows]);
}

function target({ atLeast, atMost }) {
  if (atLeast !== undefined) return `≥ ${atLeast}`;
  return atMost === undefined ? '' : `≤ ${atMost}`;
}

function verdict(ratio) {
  const reached = isReached(ratio);
  if (reached === undefined) return '';
  return reached ? 'reached' : 'missed';
}
