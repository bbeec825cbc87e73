#!/usr/bin/env node
// The command of the package.
import { checkIntegration } from './check.js';
import type { CheckSettings } from './check-options.js';
import { Misuse, readCheckArguments, USAGE } from './check-options.js';
import { countsOf, jsonOf, rowOf, summaryOf } from './check-report.js';
import { readClock } from './clock.js';
import { EXPLAIN_USAGE, explanationText, readExplainArguments } from './explain-command.js';
import { createPartner } from './partner.js';
import { PartnerError } from './partner-error.js';

const FAILED = 1;
const MISUSED = 2;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const isExplain = args[0] === 'explain';
  try {
    return await (isExplain ? explain(args.slice(1)) : checkOrHelp(args));
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    process.stderr.write(`${error.message}\n\n${isExplain ? EXPLAIN_USAGE : USAGE}`);
    return MISUSED;
  }
}

async function checkOrHelp(args: readonly string[]): Promise<number> {
  const settings = readCheckArguments(args);
  if (settings !== undefined) return check(settings);
  process.stdout.write(USAGE);
  return 0;
}

async function explain(args: readonly string[]): Promise<number> {
  const question = readExplainArguments(args);
  if (question === undefined) {
    process.stdout.write(EXPLAIN_USAGE);
    return 0;
  }
  try {
    const explanation = await createPartner(question.options).explain(question.requestId);
    process.stdout.write(explanationText(explanation, question.isJson));
    return 0;
  } catch (error) {
    if (!(error instanceof PartnerError)) throw error;
    if (error.code === 'invalid_option') throw new Misuse(`${error.message}.`);
    process.stderr.write(`${error.message}\n`);
    return FAILED;
  }
}

async function check(settings: CheckSettings): Promise<number> {
  const { baseUrl, isJson } = settings;
  const write = (text: string) => void process.stdout.write(text);
  const results = await checkIntegration(settings, readClock(), (result) => isJson || write(rowOf(result)));
  write(isJson ? jsonOf(baseUrl, results) : `\n${summaryOf(results)}`);
  return countsOf(results).failed > 0 ? FAILED : 0;
}
