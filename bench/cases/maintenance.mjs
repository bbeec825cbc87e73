// Checks that the embedded database keeps its size and responds while many exchanges' rows are inserted and deleted.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../dist/demo/free-port.js';
import { exchangesOf } from '../support/comparison.mjs';
import { Connection, requestBytes } from '../support/connection.mjs';
import { table } from '../support/report.mjs';
import { measure } from '../support/rounds.mjs';
import { median, spread } from '../support/statistics.mjs';

const SCRIPT = join(import.meta.dirname, '..', 'servers', 'maintained.mjs');
const ROUNDS = 10;
const ROWS = 50_000;
/** The rate of exchanges during a round. They are measured second by second, because the round's length is unknown. */
const PER_SECOND = 20;
/** The service's jobs clean up after a round. */
const SETTLING_MS = 3_000;
const MEBIBYTE = 2 ** 20;
const MAX_GROWTH = 1.2;
const MAX_MS = 50;
const HEADINGS = ['round', 'folder MiB', 'log MiB', 'exchanges beside', 'p50 ms', 'slowest ms', 'others %'];

export const maintenance = {
  name: 'maintenance',
  title: `Size of the embedded database's folder while ${ROWS} exchanges' rows a round go in and out, and exchanges beside`,

  async run(workbench) {
    const controlPort = await freePort();
    const service = await workbench.startService({
      name: 'maintained',
      database: 'embedded',
      script: SCRIPT,
      moreEnvironment: { BENCH_CONTROL_PORT: String(controlPort) },
    });
    const rounds = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      rounds.push(await measureRound(workbench, service, `http://127.0.0.1:${controlPort}`));
      workbench.tell(`round ${round}: ${rounds.at(-1).folderMiB.toFixed(1)} MiB`);
    }
    const sizes = rounds.slice(2).map(({ folderMiB }) => folderMiB / rounds[1].folderMiB);
    const slowest = rounds.map(({ slowestMs }) => slowestMs);
    return {
      maintenance: rounds,
      ratios: [
        over('folder after each later round / after the second', sizes, MAX_GROWTH),
        over('slowest exchange of a round, ms', slowest, MAX_MS),
      ],
      remarks: [table([HEADINGS, ...rounds.map(rowOf)])],
    };
  },
};

async function measureRound(workbench, service, control) {
  let isOver = false;
  const beside = exchangesBeside(workbench, service, () => isOver);
  const connection = new Connection(control);
  const rows = requestBytes(control, { method: 'GET', path: `/?rows=${ROWS}` });
  const { status, text } = await connection.send(rows);
  connection.close();
  if (status !== 200) throw new Error(`The rows did not go in and out: ${text}`);
  await delay(SETTLING_MS);
  isOver = true;
  const parts = await beside;
  const { folder } = service;
  return {
    folderMiB: bytesIn(folder) / MEBIBYTE,
    logMiB: bytesIn(join(folder, 'database', 'pg_wal')) / MEBIBYTE,
    exchanges: parts.length * PER_SECOND,
    p50Ms: median(parts.map(({ p50Ms }) => p50Ms)),
    slowestMs: Math.max(...parts.map(({ slowestMs }) => slowestMs)),
    foreignShare: median(parts.map(({ foreignShare }) => foreignShare)),
  };
}

async function exchangesBeside(workbench, service, isOver) {
  const contender = exchangesOf(workbench, service);
  contender.load.perSecond = PER_SECOND;
  const parts = [];
  while (!isOver()) parts.push(await measure(workbench, contender, PER_SECOND));
  return parts;
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

function rowOf({ exchanges, foreignShare, ...measured }, index) {
  const [folder, log, p50, slowest] = Object.values(measured).map((number) => number.toFixed(1));
  return [String(index + 1), folder, log, String(exchanges), p50, slowest, (foreignShare * 100).toFixed(0)];
}
