// Reads the command line of the benchmark.
import { parseArgs } from 'node:util';

const DEFAULTS = { rounds: 5, seconds: 4, connections: 32, exchanges: 1_000_000, growthScale: 1 };
/** Tokens for embedded login live for a minute, and a part of it goes by while they are signed. */
const LONGEST_ROUND_SECONDS = 20;
/** A thousand users are left: fewer are no load that is spread. */
const LARGEST_GROWTH_SCALE = 1_000;

export const HELP = `Usage: npm run bench -- [options]

  --case NAME        measure this case only; may be given several times (default: all)
  --rounds N         alternating rounds of each case (default: ${DEFAULTS.rounds})
  --seconds N        length of a round, at most ${LONGEST_ROUND_SECONDS} (default: ${DEFAULTS.seconds})
  --requests N       requests of a round, instead of a length
  --connections N    connections that are kept busy (default: ${DEFAULTS.connections})
  --exchanges N      exchanges of the case "memory" (default: ${DEFAULTS.exchanges})
  --growth-scale N   divide the rows of the case "growth" by N, to try it (default: ${DEFAULTS.growthScale})
  --json FILE        write all rounds, ratios and versions there
  --list             list the cases
  --help             show this`;

/** The command line is wrong; the message says what about it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function readOptions(args, cases) {
  const values = parsed(args);
  return {
    help: values.help,
    list: values.list,
    json: values.json,
    cases: values.case === undefined ? cases : values.case.map((name) => caseNamed(name, cases)),
    rounds: wholeNumber(values, 'rounds') ?? DEFAULTS.rounds,
    requests: wholeNumber(values, 'requests'),
    seconds: wholeNumber(values, 'seconds', LONGEST_ROUND_SECONDS) ?? DEFAULTS.seconds,
    connections: wholeNumber(values, 'connections') ?? DEFAULTS.connections,
    exchanges: wholeNumber(values, 'exchanges') ?? DEFAULTS.exchanges,
    growthScale: wholeNumber(values, 'growth-scale', LARGEST_GROWTH_SCALE) ?? DEFAULTS.growthScale,
  };
}

function parsed(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const options = {
    case: { type: 'string', multiple: true },
    rounds: text,
    seconds: text,
    requests: text,
    connections: text,
    exchanges: text,
    'growth-scale': text,
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

function wholeNumber(values, name, max = 100_000_000) {
  if (values[name] === undefined) return undefined;
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
}
