#!/usr/bin/env node
// Measures the service against a bare server and against its peers. See README.md in this folder.
import { CASES } from './cases/index.mjs';
import { PEERS } from './peers/index.mjs';
import { writeJson } from './support/json-file.mjs';
import { HELP, readOptions, UsageError } from './support/options.mjs';
import { report, table } from './support/report.mjs';
import { Workbench } from './support/workbench.mjs';

const INTERRUPTED = 130;
const FAILED = 1;
const WRONG_USE = 2;

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  try {
    const options = readOptions(args, { cases: CASES, peers: PEERS });
    if (options.help) return print(HELP);
    if (options.list) return print(table(CASES.map(({ name, title }) => [name, title])));
    return await runCases(options);
  } catch (error) {
    const isWrongUse = error instanceof UsageError;
    process.stderr.write(`${isWrongUse ? error.message : error.stack}\n`);
    return isWrongUse ? WRONG_USE : FAILED;
  }
}

async function runCases(options) {
  const workbench = new Workbench(options, (doing) => process.stderr.write(`  ${doing}\n`));
  stopOnSignals(workbench);
  try {
    const results = [];
    for (const chosen of options.cases) results.push(await runCase(workbench, chosen));
    if (options.json !== undefined) await writeJson(workbench, results);
    return 0;
  } finally {
    await workbench.close();
  }
}

async function runCase(workbench, { name, title, run }) {
  process.stderr.write(`${name}\n`);
  const result = { case: name, title, ...(await run(workbench)) };
  await workbench.stopServers();
  print(`\n${report(result)}\n`);
  return result;
}

/** A signal stops all started programs and removes their files before the benchmark ends. */
function stopOnSignals(workbench) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      process.stderr.write('\nstopping\n');
      // The running case fails now. Its errors are not useful.
      process.stderr.write = () => true;
      process.on('uncaughtException', () => undefined);
      void workbench.close().finally(() => process.exit(INTERRUPTED));
    });
  }
}

function print(text) {
  process.stdout.write(`${text}\n`);
  return 0;
}
