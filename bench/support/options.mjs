// Reads the command line of the benchmark.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { versionOfNode } from './node-versions.mjs';

/** The number of rounds is even, so that each contender is first equally often. */
const DEFAULTS = { rounds: 20, seconds: 4, connections: 32, 'growth-scale': 1 };
const LARGEST = {
  rounds: 1_000,
  // Tokens for embedded login expire after a minute, and signing takes a part of it.
  seconds: 20,
  // At least a thousand users must remain to spread the load.
  'growth-scale': 1_000,
};

export const HELP = `Usage: npm run bench -- [options]

  --case NAME        measure this case only; may be given several times (default: all)
  --peer NAME        what the case "peers" sets the service against; may be given several times:
                     oidc-provider (the default), oidc-provider-durable, hydra (HYDRA_BIN), keycloak (KEYCLOAK_HOME)
  --node PATH        the Node.js binary that runs the measured programs (default: this one); may be given several
                     times for the case "node-versions", all other cases take the first
  --against DIR      an older checkout, built: the case "older" takes turns with it
  --rounds N         alternating rounds of each case, at most ${LARGEST.rounds} (default: ${DEFAULTS.rounds})
  --seconds N        length of a round, at most ${LARGEST.seconds} (default: ${DEFAULTS.seconds})
  --requests N       requests of a round, or of the whole case "memory", instead of a length
  --connections N    connections that are kept busy (default: ${DEFAULTS.connections})
  --growth-scale N   divide the rows of the case "growth" by N, to try it (default: ${DEFAULTS['growth-scale']})
  --json FILE        write all rounds, ratios and versions there
  --list             list the cases
  --help             show this`;

/** Reports an error in the command line. */
export class UsageError extends Error {}

/** @throws UsageError */
export function readOptions(args, { cases, peers }, environment = process.env) {
  const { help, list, json, against, case: caseNames, peer, node = [], ...texts } = parsed(args);
  const given = Object.entries(texts).map(([name, text]) => [name, wholeNumber(name, text)]);
  const { 'growth-scale': growthScale, ...numbers } = { ...DEFAULTS, ...Object.fromEntries(given) };
  return {
    help,
    list,
    json,
    cases: caseNames === undefined ? cases : caseNames.map((name) => named(name, 'case', cases)),
    peers: readPeers(peer, peers, environment),
    nodes: node.map(nodeBinary),
    older: against === undefined ? undefined : olderScript(against),
    growthScale,
    ...numbers,
  };
}

/** The default is the first peer. A missing requirement is reported before anything is measured. */
function readPeers(names, peers, environment) {
  if (names === undefined) return peers.slice(0, 1);
  return [...new Set(names)].map((name) => {
    const peer = named(name, 'peer', peers);
    const missing = peer.isMissing(environment);
    if (missing !== undefined) throw new UsageError(`--peer ${name} ${missing}`);
    return peer;
  });
}

/** Makes a path absolute, because programs start in other folders. A name without a slash is looked up in PATH. */
function nodeBinary(given) {
  const path = given.includes('/') ? resolve(given) : given;
  if (versionOfNode(path) !== undefined) return path;
  throw new UsageError(`--node ${path}: this is no Node.js binary that runs.`);
}

function olderScript(folder) {
  const script = resolve(folder, 'dist/src/main.js');
  if (existsSync(script)) return script;
  throw new UsageError(`--against ${folder}: there is no dist/src/main.js in it; build it first.`);
}

function parsed(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const numbers = ['requests', ...Object.keys(DEFAULTS)].map((name) => [name, text]);
  const options = {
    case: { ...text, multiple: true },
    peer: { ...text, multiple: true },
    node: { ...text, multiple: true },
    ...Object.fromEntries(numbers),
    json: text,
    against: text,
    list: flag,
    help: flag,
  };
  try {
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(`${error.message}\n\n${HELP}`);
  }
}

/** @param kind the name of the choices' kind in the error message */
function named(name, kind, choices) {
  const found = choices.find((candidate) => candidate.name === name);
  if (found !== undefined) return found;
  const names = choices.map((known) => known.name).join(', ');
  throw new UsageError(`There is no ${kind} "${name}". The ${kind}s: ${names}`);
}

function wholeNumber(name, text) {
  const max = LARGEST[name] ?? 100_000_000;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}.`);
}
