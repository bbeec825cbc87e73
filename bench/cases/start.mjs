// Measures the time from the service's start to its first responses, on each database, cold and warm. Compares it with a
// minimal program that uses the same libraries.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SERVICE_SCRIPT, serviceEnvironment } from '../servers/service.mjs';
import { cpuMicroseconds } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { ratio, spread } from '../support/statistics.mjs';

const LONGEST_WARM_START_SECONDS = 1.2;
const HEADINGS = ['start, ms', 'starts', 'first answer', 'spread', 'ready', 'spread', 'CPU', 'spread'];
const BARE_SCRIPT = join(import.meta.dirname, '..', 'servers', 'bare-nest.mjs');
const WARM = 'warm PostgreSQL';
const BARE = 'bare program';
/** Compares the warm service on PostgreSQL with the bare program. */
const CONTEST = { over: WARM, under: BARE, atMost: 2.2 };
const ASK_EVERY_MS = 2;

export const start = {
  name: 'start',
  title:
    'From the start of the process to the first answer (/healthz), and to the first that says it is ready; against a bare Nest program',

  async run(workbench) {
    const starts = await timeStarts(workbench);
    const startsOf = (name) => starts.filter(({ contender }) => contender === name);
    const ratios = [
      seconds('seconds to the first answer', startsOf(WARM), 'healthzMs'),
      seconds('seconds until ready', startsOf(WARM), 'readinessMs'),
      ratio(starts, { title: 'time to the first answer, service / bare', of: 'healthzMs', ...CONTEST }),
      ratio(starts, { title: 'CPU until then, service / bare', of: 'cpuMs', ...CONTEST }),
    ];
    const names = [...new Set(starts.map(({ contender }) => contender))];
    const rows = names.map((name) => [name, ...cellsOf(startsOf(name))]);
    return { starts, ratios, remarks: [table([HEADINGS, ...rows])] };
  },
};

/**
 * Starts each program once a round. A cold start has an empty database: every migration runs, and the embedded engine
 * creates its files. A warm start uses the database of an earlier start. The programs take turns in mirrored order (ABBA),
 * so that neither a busy moment nor a drift of the machine favours one.
 * @returns the times of all starts, each with the name of its `contender`
 */
async function timeStarts(workbench) {
  const ready = await postgresqlDatabase(workbench);
  const readyEmbedded = embeddedDatabase(workbench);
  const situations = [
    ['cold PostgreSQL', async () => serviceOn(workbench, await postgresqlDatabase(workbench))],
    [WARM, () => serviceOn(workbench, ready)],
    [BARE, () => bareOn(workbench, ready)],
    ['cold embedded', () => serviceOn(workbench, embeddedDatabase(workbench))],
    ['warm embedded', () => serviceOn(workbench, readyEmbedded)],
  ];
  // These starts are not measured. They create the tables and load files into the system's cache.
  for (const [, program] of situations) await timeStart(workbench, await program());
  const starts = [];
  for (let round = 1; round <= workbench.options.rounds; round += 1) {
    for (const [contender, program] of round % 2 === 0 ? situations.toReversed() : situations) {
      const times = await timeStart(workbench, await program());
      starts.push({ contender, round, ...times });
      workbench.tell(`round ${round}: ${contender} ${Math.round(times.healthzMs)} ms`);
    }
  }
  return starts;
}

async function postgresqlDatabase(workbench) {
  const name = await workbench.newEmptyDatabase();
  return { databaseUrl: workbench.postgres.urlOf(name) };
}

function embeddedDatabase(workbench) {
  return { folder: join(workbench.folder, randomUUID()) };
}

async function serviceOn(workbench, database) {
  const surroundings = await workbench.surroundingsOf('start');
  const trustedKeys = workbench.partner.trustedKeys();
  const environment = serviceEnvironment({ ...surroundings, ...database, trustedKeys });
  return { ...surroundings, script: SERVICE_SCRIPT, environment };
}

async function bareOn(workbench, { databaseUrl }) {
  const surroundings = await workbench.surroundingsOf('bare');
  const environment = { BENCH_SETTINGS: JSON.stringify({ port: surroundings.port, databaseUrl }) };
  return { ...surroundings, script: BARE_SCRIPT, environment };
}

/** Times one start: to the first response, with the CPU time used by then, and until the program is ready. */
async function timeStart(workbench, program) {
  const startedAtMs = performance.now();
  const server = workbench.spawn(program);
  try {
    await server.becomesReady('/healthz', ASK_EVERY_MS);
    const times = {
      healthzMs: performance.now() - startedAtMs,
      cpuMs: cpuMicroseconds(server.processId) / 1000,
    };
    await server.becomesReady('/healthz/readiness', ASK_EVERY_MS);
    return { ...times, readinessMs: performance.now() - startedAtMs };
  } finally {
    await workbench.stop(server);
  }
}

function seconds(title, times, name) {
  const values = times.map((time) => time[name] / 1000);
  return { title: `${WARM}: ${title}`, values, ...spread(values), atMost: LONGEST_WARM_START_SECONDS };
}

function cellsOf(times) {
  const cells = ['healthzMs', 'readinessMs', 'cpuMs'].flatMap((name) => {
    const { median, min, max } = spread(times.map((time) => time[name]));
    return [median.toFixed(0), `${min.toFixed(0)} to ${max.toFixed(0)}`];
  });
  return [String(times.length), ...cells];
}
