// Whether the embedded database keeps its size, and answers, while many exchanges' rows go in and out.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { exchangeRequests } from '../support/exchanges.mjs';
import { freePort } from '../../dist/demo/free-port.js';
import { applyPacedLoad } from '../support/paced-load.mjs';
import { cpuMicroseconds, foreignShare, machineCpuMicroseconds } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { quantile, spread } from '../support/statistics.mjs';

const ROUNDS = 10;
const ROWS = 50_000;
/** So many exchanges a second are measured beside. */
const PER_SECOND = 20;
const PART_SECONDS = 1;
const CONNECTIONS = 8;
/** The service's jobs clean up what is left of a round. */
const SETTLING_MS = 3_000;
const MEBIBYTE = 2 ** 20;
const MOST_GROWTH = 1.2;
const MOST_MS = 50;
const HEADINGS = [
  'round',
  'folder MiB',
  'log MiB',
  'exchanges beside',
  'p50 ms',
  'p99 ms',
  'slowest ms',
  'others %',
];

export const maintenance = {
  name: 'maintenance',
  title: `Size of the embedded database's folder while ${ROWS} exchanges' rows a round go in and out, and exchanges beside`,

  async run(workbench) {
    const controlPort = await freePort();
    const service = await workbench.startMaintained(controlPort);
    const rounds = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      rounds.push(await measureRound(workbench, service, controlPort));
      workbench.tell(`round ${round}: ${rounds.at(-1).folderMiB.toFixed(1)} MiB`);
    }
    const sizes = rounds.slice(2).map(({ folderMiB }) => folderMiB / rounds[1].folderMiB);
    return {
      maintenance: rounds,
      ratios: [
        over('folder after each later round / after the second', sizes, MOST_GROWTH),
        over(
          'slowest exchange of a round, ms',
          rounds.map(({ slowestMs }) => slowestMs),
          MOST_MS,
        ),
      ],
      remarks: [table([HEADINGS, ...rounds.map(rowOf)])],
    };
  },
};

async function measureRound(workbench, service, controlPort) {
  const before = usage(service);
  let isOver = false;
  const latencies = exchangesBeside(workbench, service, () => isOver);
  await rowsInAndOut(controlPort);
  await delay(SETTLING_MS);
  isOver = true;
  const latenciesMs = await latencies;
  const after = usage(service);
  const { folder } = service;
  return {
    folderMiB: bytesIn(folder) / MEBIBYTE,
    logMiB: bytesIn(join(folder, 'database', 'pg_wal')) / MEBIBYTE,
    exchanges: latenciesMs.length,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    slowestMs: Math.max(...latenciesMs),
    foreignShare: foreignShareOf(before, after),
  };
}

function usage({ server }) {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    ourMicros: cpuMicroseconds(server.processId) + user + system,
    machineMicros: machineCpuMicroseconds(),
  };
}

/** With more than a few hundredths a latency tells little. */
function foreignShareOf(before, after) {
  const used = (name) => after[name] - before[name];
  return foreignShare(used('machineMicros'), used('ourMicros'), used('atMs') / 1000);
}

/** Second by second, since nobody knows beforehand how long a round takes. */
async function exchangesBeside(workbench, service, isOver) {
  const { requests, ...kind } = exchangeRequests(service, workbench.partner, 'ES256');
  const latencies = [];
  while (!isOver()) {
    const part = { ...kind, requests: await requests(PER_SECOND * PART_SECONDS), perSecond: PER_SECOND };
    const load = { origins: [service.server.origin], connections: CONNECTIONS };
    const { latenciesMs } = await applyPacedLoad({ ...part, ...load });
    latencies.push(...latenciesMs);
  }
  return latencies;
}

async function rowsInAndOut(controlPort) {
  // It answers when all is done, which takes longer than the usual patience.
  const dispatcher = new Agent({ headersTimeout: 0 });
  const answer = await fetch(`http://127.0.0.1:${controlPort}/?rows=${ROWS}`, { dispatcher });
  if (!answer.ok) throw new Error(`The rows did not go in and out: ${await answer.text()}`);
  await dispatcher.close();
}

function bytesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((total, size) => total + size, 0);
}

function over(title, values, atMost) {
  return { title, values, ...spread(values), atMost };
}

function rowOf({ folderMiB, logMiB, exchanges, p50Ms, p99Ms, slowestMs, foreignShare: foreign }, index) {
  const sizes = [folderMiB, logMiB].map((size) => size.toFixed(1));
  const latencies = [p50Ms, p99Ms, slowestMs].map((ms) => ms.toFixed(1));
  return [String(index + 1), ...sizes, String(exchanges), ...latencies, (foreign * 100).toFixed(0)];
}
