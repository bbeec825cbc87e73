// Reads the command line of the benchmark.
import { parseArgs } from 'node:util';

const DEFAULTS = { rounds: 5, seconds: 4, connections: 32, exchanges: 1_000_000, 'growth-scale': 1 };
const LARGEST = {
  // Tokens for embedded login live for a minute, and a part of it goes by while they are signed.
  seconds: 20,
  // A thousand users are left: fewer are no load that is spread.
  'growth-scale': 1_000,
};

export const HELP = `Usage: npm run bench -- [options]

  --case NAME        measure this case only; may be given several times (default: all)
  --rounds N         alternating rounds of each case (default: ${DEFAULTS.rounds})
  --seconds N        length of a round, at most ${LARGEST.seconds} (default: ${DEFAULTS.seconds})
  --requests N       requests of a round, instead of a length
  --connections N    connections that are kept busy (default: ${DEFAULTS.connections})
  --exchanges N      exchanges of the case "memory" (default: ${DEFAULTS.exchanges})
  --growth-scale N   divide the rows of the case "growth" by N, to try it (default: ${DEFAULTS['growth-scale']})
  --json FILE        write all rounds, ratios and versions there
  --list             list the cases
  --help             show this`;

/** The command line is wrong; the message says what about it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function readOptions(args, cases) {
  const { help, list, json, case: names, ...texts } = parsed(args);
  const given = Object.entries(texts).map(([name, text]) => [name, wholeNumber(name, text)]);
  const { 'growth-scale': growthScale, ...numbers } = { ...DEFAULTS, ...Object.fromEntries(given) };
  const chosen = names === undefined ? cases : names.map((name) => caseNamed(name, cases));
  return { help, list, json, cases: chosen, growthScale, ...numbers };
}

function parsed(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const numbers = ['requests', ...Object.keys(DEFAULTS)].map((name) => [name, text]);
  const options = {
    case: { type: 'string', multiple: true },
    ...Object.fromEntries(numbers),
    json: text,
    list: flag,
    help: flag,
  };
  try {
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${HELP}`);
  }
}

function caseNamed(name, cases) {
  const found = cases.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  throw new UsageError(
    `There is no case "${name}". The cases: ${cases.map((known) => known.name).join(', ')}`,
  );
}

function wholeNumber(name, text) {
  const max = LARGEST[name] ?? 100_000_000;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
}
