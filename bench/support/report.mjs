// Formats the results of a case as text and tables.
import { median } from './statistics.mjs';

/** If other programs used a larger share of the machine, a round is unreliable. */
const QUIET_SHARE = 0.05;
const UNKNOWN = '–';
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

/** A table with each contender's medians, then the ratios, then the remarks. */
export function report({ title, rounds = [], ratios, remarks = [] }) {
  const parts = [title];
  if (rounds.length > 0) parts.push(roundTable(rounds), quietness(rounds));
  if (ratios.length > 0) parts.push(ratioTable(ratios));
  return [...parts, ...remarks].join('\n\n');
}

function quietness(rounds) {
  const disturbed = rounds.filter(({ foreignShare }) => foreignShare > QUIET_SHARE).length;
  const share = `more than ${QUIET_SHARE * 100} % of the machine`;
  return disturbed === 0
    ? `The machine was quiet: in no round did anything else use ${share}.`
    : `The machine was not quiet: in ${disturbed} of ${rounds.length} rounds something else used ${share}.`;
}

function roundTable(rounds) {
  const names = [...new Set(rounds.map(({ contender }) => contender))];
  const rows = names.map((name) => {
    const own = rounds.filter(({ contender }) => contender === name);
    const cells = COLUMNS.map(([, quantity, digits]) => inWords(median(own.map(quantity)), digits));
    return [name, String(own.length), ...cells];
  });
  return table([['medians of the rounds', 'rounds', ...COLUMNS.map(([heading]) => heading)], ...rows]);
}

function ratioTable(ratios) {
  const rows = ratios.map((ratio) => {
    const { title, median: middle, interval, min, max } = ratio;
    return [title, middle.toFixed(2), range(interval), range([min, max]), ...targetAndVerdict(ratio)];
  });
  return table([['in each round', 'median', 'its 95 % interval', 'spread', 'target', ''], ...rows]);
}

/** The interval is undefined if there are too few rounds. */
function range(ends) {
  return ends === undefined ? UNKNOWN : ends.map((end) => end.toFixed(2)).join(' to ');
}

/** A program without requests has no latency and no load. */
function inWords(number, digits) {
  return Number.isNaN(number) ? UNKNOWN : number.toFixed(digits);
}

function targetAndVerdict({ median: middle, atLeast, atMost }) {
  if (atLeast === undefined && atMost === undefined) return ['', ''];
  const isReached = atLeast === undefined ? middle <= atMost : middle >= atLeast;
  const target = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  return [target, isReached ? 'reached' : 'missed'];
}

/** Aligns text left. Aligns numbers and their headings right. */
export function table(rows) {
  const columns = rows[0].map((_, column) => aligned(rows.map((row) => row[column])));
  const lines = rows.map((_, row) => columns.map((cells) => cells[row]).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

function aligned(cells) {
  const width = Math.max(...cells.map((cell) => cell.length));
  const areNumbers = cells.length > 1 && cells.slice(1).every((cell) => /^(-?[\d.]+|–)$/.test(cell));
  return cells.map((cell) => (areNumbers ? cell.padStart(width) : cell.padEnd(width)));
}
