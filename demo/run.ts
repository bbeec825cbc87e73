// Entry of `npm run demo`: sets up a temporary instance, runs the main job, then serves the partner page.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ALICE, BRUNO } from './cast.js';
import { DemoInstance } from './demo-instance.js';
import { freePort } from './free-port.js';
import { MainJob } from './main-job.js';
import { PartnerPage } from './partner-page.js';
import { Transcript } from './transcript.js';

/** Everything that was opened. It is closed in reverse order. */
type Closers = (() => Promise<unknown>)[];

// From dist/demo, where this file runs, up to the package.
const packageRoot = fileURLToPath(new URL('../../', import.meta.url));
const coloured = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const options = readOptions();
const transcript = new Transcript(process.stdout, coloured, options.verbose);
const interruption = new AbortController();

/** Ends the process if the command line asks for help or is wrong. */
function readOptions() {
  const usage =
    'Usage: npm run demo -- [--once] [--verbose] [--help]\n--once ends after the requests, --verbose shows requests and answers.\n';
  const known = {
    once: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  try {
    const { values } = parseArgs({ options: known });
    if (!values.help) return values;
    process.stdout.write(usage);
    return process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

async function demonstrate(staysUp: boolean, closers: Closers): Promise<void> {
  const pagePort = await freePort();
  const instance = await startInstance(PartnerPage.originAt(pagePort), closers);
  transcript.say(`\nThe instance answers at ${instance.baseUrl}. The main job, request by request:`, 'bold');
  if (!options.verbose) transcript.say('(what goes and comes: npm run demo -- --verbose)', 'dim');
  await new MainJob(instance, transcript).run();
  sumUp();
  if (staysUp) await stayUp(instance, pagePort, closers);
}

async function startInstance(partnerOrigin: string, closers: Closers): Promise<DemoInstance> {
  const directory = await mkdtemp(join(tmpdir(), 'embedded-token-exchange-demo-'));
  closers.push(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  const environment = withoutSettings(process.env);
  const surroundings = { packageRoot, directory, environment, signal: interruption.signal };
  transcript.say('Setting up in a throw-away directory:');
  const tell = (doing: string) => transcript.say(`  · ${doing}`, 'dim');
  const instance = await DemoInstance.start(surroundings, partnerOrigin, tell);
  closers.push(() => instance.service.stop());
  return instance;
}

/** The environment without variables that configure a service, because the demo sets its own. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => !name.startsWith('SVC_') && name !== 'PORT');
  return Object.fromEntries(kept);
}

function sumUp(): void {
  const { failures } = transcript;
  if (failures.length === 0) return transcript.say('\nEvery answer was as expected.', ['bold', 'green']);
  transcript.say(`\nNot as expected: ${failures.join('; ')}.`, ['bold', 'red']);
}

/** Serves the partner page until it is interrupted. Throws if the service ends first. */
async function stayUp(instance: DemoInstance, port: number, closers: Closers): Promise<void> {
  const assetFolder = join(packageRoot, 'demo', 'page');
  const { partner, baseUrl: instanceUrl, service } = instance;
  const customers = [ALICE, BRUNO];
  const page = await PartnerPage.listen({ assetFolder, port, partner, instanceUrl, customers });
  closers.push(() => page.close());
  transcript.say(`\nLog of the service: ${service.logFile}`);
  transcript.say('Ctrl-C ends the demo and removes everything it made.');
  // Printed last, because readers look at the end of the output.
  transcript.say(`\n  ▶ Open the partner’s product page: ${page.url}\n`, ['bold', 'green']);
  const interrupted = once(interruption.signal, 'abort');
  const ended = await Promise.race([interrupted.then(() => undefined), service.exited]);
  if (ended !== undefined && !interruption.signal.aborted) {
    throw new Error(`The service ended (${ended}):\n${service.lastOutput()}`);
  }
}

async function close(closers: Closers): Promise<void> {
  for (const closeOne of closers.toReversed()) await closeOne();
}

async function main(): Promise<number> {
  // A second Ctrl-C must not interrupt the cleanup, so the listener stays.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => interruption.abort());
  const closers: Closers = [];
  try {
    await demonstrate(!options.once, closers);
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    throw error;
  } finally {
    await close(closers);
  }
  return transcript.failures.length === 0 ? 0 : 1;
}

main().then(
  (exitCode) => (process.exitCode = exitCode),
  (error: unknown) => {
    process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
