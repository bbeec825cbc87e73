// Time from the start of the service's process to its first answers, on each database, cold and warm; and against the bare
// program of its libraries.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVICE_SCRIPT, serviceEnvironment } from '../servers/service.mjs';
import { cpuMicroseconds } from '../support/process-usage.mjs';
import { table } from '../support/report.mjs';
import { ratio, spread } from '../support/statistics.mjs';

const LONGEST_WARM_START_SECONDS = 1.2;
/** The warm service on PostgreSQL against the bare program. */
const MOST_OF_BARE = 1.5;
const HEADINGS = ['start, ms', 'starts', 'first answer', 'spread', 'ready', 'spread', 'CPU', 'spread'];
/** What is waited for: that the process answers at all, and that it says that traffic makes sense. */
const ANSWERS = { healthzMs: '/healthz', readinessMs: '/healthz/readiness' };
const BARE_SCRIPT = join(import.meta.dirname, '..', 'servers', 'bare-nest.mjs');
const contest = { over: 'service', under: 'bare' };
/** A refused connection costs next to nothing, so that asking this often does not slow down what is measured. */
const ASK_EVERY_MS = 2;
const LONGEST_START_MS = 60_000;

export const start = {
  name: 'start',
  title:
    'From the start of the process to the first answer (/healthz), and to the first that says it is ready; against a bare Nest program',

  async run(workbench) {
    const starts = await timeStarts(workbench);
    const warm = starts['warm PostgreSQL'];
    const turns = await takeTurns(workbench);
    const ratios = [
      seconds('warm PostgreSQL: seconds to the first answer', warm, 'healthzMs'),
      seconds('warm PostgreSQL: seconds until ready', warm, 'readinessMs'),
      againstBare(turns, { title: 'time to the first answer, service / bare', of: 'healthzMs' }),
      againstBare(turns, { title: 'CPU until then, service / bare', of: 'cpuMs' }),
    ];
    const situations = table([HEADINGS, ...Object.entries(starts).map(rowOf)]);
    return { starts, turns, ratios, remarks: [situations] };
  },
};

/**
 * Starts the service again and again, on each database once cold (it is empty: every migration runs, and the embedded
 * engine makes its files) and once warm (an earlier start has left it ready). The situations take turns, so that a
 * busy moment of the machine meets all of them.
 * @returns for each situation the times of all its starts, `{ healthzMs, readinessMs, cpuMs }`; the last is the CPU
 *   time of the process until then, which a busy machine disturbs less
 */
async function timeStarts(workbench) {
  const databases = { PostgreSQL: postgresqlDatabases(workbench), embedded: embeddedDatabases(workbench) };
  const situations = Object.entries(databases).flatMap(([kind, database]) => [
    [`cold ${kind}`, coldDatabases(database)],
    [`warm ${kind}`, warmDatabase(workbench, database)],
  ]);
  const starts = Object.fromEntries(situations.map(([name]) => [name, []]));
  for (let round = 1; round <= workbench.options.rounds; round += 1) {
    for (const [name, prepare] of situations) {
      const times = await timeStart(workbench, await prepare());
      starts[name].push(times);
      workbench.tell(`round ${round}: ${name} ${Math.round(times.readinessMs)} ms`);
    }
  }
  return starts;
}

/**
 * The service and the bare program on one warm database, in mirrored order (ABBA), so that a drift of the machine favours
 * neither. The first start of each is not counted: it reads the files that later ones find in memory.
 * @returns the starts in the order in which they were, each with the name of its `contender`
 */
async function takeTurns(workbench) {
  const database = await postgresqlDatabases(workbench).create();
  const contenders = [
    { name: contest.over, program: () => serviceOn(workbench, database) },
    { name: contest.under, program: () => bareOn(workbench, database) },
  ];
  const firstAnswer = async ({ program }) => timeAnswers(workbench, await program(), ['healthzMs']);
  // The service goes first: it makes the tables.
  for (const contender of contenders) await firstAnswer(contender);
  const turns = [];
  for (let round = 1; round <= workbench.options.rounds; round += 1) {
    for (const contender of round % 2 === 0 ? contenders.toReversed() : contenders) {
      const { name } = contender;
      const times = await firstAnswer(contender);
      turns.push({ contender: name, round, ...times });
      workbench.tell(`round ${round}: ${name} ${Math.round(times.healthzMs)} ms`);
    }
  }
  return turns;
}

function againstBare(turns, comparison) {
  return ratio(turns, { ...comparison, ...contest, atMost: MOST_OF_BARE });
}

/** A new database for each start; the one before it goes. */
function coldDatabases({ create, drop }) {
  let database;
  return async () => {
    if (database !== undefined) await drop(database);
    database = await create();
    return database;
  };
}

/** One database for all starts; the start that fills it is not counted. */
function warmDatabase(workbench, { create }) {
  let database;
  return async () => {
    if (database === undefined) {
      database = await create();
      await timeStart(workbench, database);
    }
    return database;
  };
}

function embeddedDatabases(workbench) {
  const create = () => ({ folder: join(workbench.folder, nameOfNew()) });
  const drop = ({ folder }) => rm(folder, { recursive: true });
  return { create, drop };
}

function postgresqlDatabases(workbench) {
  const create = async () => {
    const postgres = await workbench.startPostgres();
    const name = nameOfNew();
    await postgres.query('postgres', `CREATE DATABASE ${name}`);
    return { name, databaseUrl: postgres.urlOf(name) };
  };
  const drop = ({ name }) => workbench.postgres.query('postgres', `DROP DATABASE ${name} WITH (FORCE)`);
  return { create, drop };
}

function nameOfNew() {
  return `start_${randomBytes(6).toString('hex')}`;
}

async function timeStart(workbench, database) {
  return timeAnswers(workbench, await serviceOn(workbench, database), Object.keys(ANSWERS));
}

async function serviceOn(workbench, { folder, databaseUrl }) {
  const surroundings = await workbench.surroundingsOf('start');
  const environment = serviceEnvironment({
    ...surroundings,
    ...(folder && { folder }),
    databaseUrl,
    trustedKeys: workbench.partner.trustedKeys(),
  });
  return { ...surroundings, script: SERVICE_SCRIPT, environment };
}

async function bareOn(workbench, { databaseUrl }) {
  const surroundings = await workbench.surroundingsOf('bare');
  const environment = { BENCH_SETTINGS: JSON.stringify({ port: surroundings.port, databaseUrl }) };
  return { ...surroundings, script: BARE_SCRIPT, environment };
}

/** One start, until all these answers have come; then the program is stopped. */
async function timeAnswers(workbench, program, names) {
  const startedAtMs = performance.now();
  const server = workbench.spawn(program);
  try {
    const times = names.map(async (name) => {
      await untilAnswered(server, ANSWERS[name]);
      return [name, performance.now() - startedAtMs];
    });
    const answers = Object.fromEntries(await Promise.all(times));
    return { ...answers, cpuMs: cpuMicroseconds(server.processId) / 1000 };
  } finally {
    await workbench.stop(server);
  }
}

async function untilAnswered(server, path) {
  const deadlineMs = performance.now() + LONGEST_START_MS;
  while (!(await isAnswered(new URL(path, server.origin)))) {
    if (!server.isRunning || performance.now() > deadlineMs)
      throw new Error(`A program did not start:\n${server.lastOutput()}`);
    await pause(ASK_EVERY_MS);
  }
}

function isAnswered(url) {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
}

function seconds(title, times, name) {
  const values = times.map((time) => time[name] / 1000);
  return { title, values, ...spread(values), atMost: LONGEST_WARM_START_SECONDS };
}

function rowOf([situation, times]) {
  const cells = ['healthzMs', 'readinessMs', 'cpuMs'].flatMap((name) => {
    const { median, min, max } = spread(times.map((time) => time[name]));
    return [median.toFixed(0), `${min.toFixed(0)} to ${max.toFixed(0)}`];
  });
  return [situation, String(times.length), ...cells];
}
