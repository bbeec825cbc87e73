// What the cases measure with: a database server, a partner, and the measured programs, all started on demand.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_SCRIPT, serviceEnvironment } from '../servers/service.mjs';
import { freePort } from './free-port.mjs';
import { Partner } from './partner.mjs';
import { PostgresServer } from './postgres.mjs';
import { RESIDENTS } from './residents.mjs';
import { ServerProcess } from './server-process.mjs';
import { meetResidents } from './meet-residents.mjs';

const servers = join(dirname(dirname(fileURLToPath(import.meta.url))), 'servers');
const KEY_SET_PATH = '/.well-known/jwks.json';
const EXCHANGE_PATH = '/rest/auth/oauth/token';
/** A database with the schema and the users; those that are measured are copies of it. */
const TEMPLATE = 'bench_template';

export class Workbench {
  partner = new Partner();
  running = [];
  databases = 0;

  /** @param options rounds, requests or seconds, connections @param tell told in a few words what is being done */
  constructor(options, tell) {
    this.options = options;
    this.tell = tell;
    this.folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
    // The account that PostgreSQL runs as must get to its own folder in here.
    chmodSync(this.folder, 0o711);
  }

  /** The service as it was built. @param databaseUrl undefined: on the embedded database */
  async startService({ name = 'service', databaseUrl, isEmbedded = false } = {}) {
    const url = isEmbedded ? undefined : (databaseUrl ?? (await this.newDatabase()));
    const surroundings = await this.surroundingsOf(name);
    const environment = serviceEnvironment({
      ...surroundings,
      databaseUrl: url,
      trustedKeys: this.partner.trustedKeys(),
    });
    const server = await this.start(name, {
      ...surroundings,
      script: SERVICE_SCRIPT,
      readyPath: '/healthz/readiness',
      environment,
    });
    const contestant = {
      name,
      server,
      databaseUrl: url,
      keySetPath: KEY_SET_PATH,
      exchangePath: EXCHANGE_PATH,
      fields: {},
    };
    if (isEmbedded) await meetResidents(contestant, this.partner);
    return contestant;
  }

  async startFloor() {
    const databaseUrl = await this.newDatabase();
    const server = await this.startProgram('floor', { databaseUrl }, KEY_SET_PATH);
    return {
      name: 'floor',
      server,
      databaseUrl,
      keySetPath: KEY_SET_PATH,
      exchangePath: EXCHANGE_PATH,
      fields: {},
    };
  }

  async startPeer() {
    const subjects = RESIDENTS.map(({ sub }) => sub);
    const server = await this.startProgram('peer', { subjects }, '/jwks');
    return {
      name: 'peer',
      server,
      keySetPath: '/jwks',
      exchangePath: '/token',
      fields: { client_id: 'bench' },
    };
  }

  async startProgram(name, settings, readyPath) {
    const surroundings = await this.surroundingsOf(name);
    const allSettings = { port: surroundings.port, trustedKeys: this.partner.trustedKeys(), ...settings };
    const environment = { BENCH_SETTINGS: JSON.stringify(allSettings) };
    return this.start(name, {
      ...surroundings,
      script: join(servers, `${name}.mjs`),
      readyPath,
      environment,
    });
  }

  async start(name, { origin, folder, script, readyPath, environment }) {
    this.tell(`starting ${name}`);
    const logFile = join(folder, 'output.log');
    const server = await ServerProcess.start({ script, environment, folder, logFile, origin, readyPath });
    this.running.push(server);
    return server;
  }

  async surroundingsOf(name) {
    const port = await freePort();
    const folder = join(this.folder, `${name}-${port}`);
    mkdirSync(folder);
    return { port, folder, origin: `http://127.0.0.1:${port}` };
  }

  /** Answers the URL of a new database with schema and users. */
  async newDatabase() {
    const postgres = await this.startPostgres();
    this.databases += 1;
    const name = `bench_${this.databases}`;
    await postgres.query('postgres', `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
    return postgres.urlOf(name);
  }

  startPostgres() {
    this.starting ??= this.startFilledPostgres();
    return this.starting;
  }

  /** The service itself makes the schema and, by the users' first exchanges, the users. */
  async startFilledPostgres() {
    this.tell('starting PostgreSQL');
    this.postgres = await PostgresServer.start(this.folder);
    await this.postgres.query('postgres', `CREATE DATABASE ${TEMPLATE}`);
    const service = await this.startService({ name: 'template', databaseUrl: this.postgres.urlOf(TEMPLATE) });
    await meetResidents(service, this.partner);
    await this.stop(service.server);
    return this.postgres;
  }

  async stop(server) {
    this.running = this.running.filter((other) => other !== server);
    await server.stop();
  }

  /** After each case: the next one begins with fresh programs. */
  async stopServers() {
    await Promise.all(this.running.splice(0).map((server) => server.stop()));
  }

  async close() {
    await this.stopServers();
    await this.postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
