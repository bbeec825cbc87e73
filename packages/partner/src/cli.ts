#!/usr/bin/env node
// The command of the package.
import { Misuse, USAGE, readCheckArguments } from './check-options.js';
import type { CheckSettings } from './check-options.js';
import { countsOf, jsonOf, rowOf, summaryOf } from './check-report.js';
import { checkIntegration } from './check.js';
import { readClock } from './clock.js';

const FAILED = 1;
const MISUSED = 2;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let settings: CheckSettings | undefined;
  try {
    settings = readCheckArguments(args);
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return MISUSED;
  }
  if (settings !== undefined) return check(settings);
  process.stdout.write(USAGE);
  return 0;
}

async function check(settings: CheckSettings): Promise<number> {
  const { baseUrl, isJson } = settings;
  const write = (text: string) => void process.stdout.write(text);
  const results = await checkIntegration(settings, readClock(), (result) => isJson || write(rowOf(result)));
  write(isJson ? jsonOf(baseUrl, results) : `\n${summaryOf(results)}`);
  return countsOf(results).failed > 0 ? FAILED : 0;
}
