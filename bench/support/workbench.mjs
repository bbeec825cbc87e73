// Provides the cases with a partner, and with a database server and the measured programs, which are started on demand.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../dist/demo/free-port.js';
import { SERVICE_SCRIPT, serviceEnvironment } from '../servers/service.mjs';
import { exchangeRequests } from './exchanges.mjs';
import { sendAll } from './load.mjs';
import { Partner } from './partner.mjs';
import { PostgresServer } from './postgres-server.mjs';
import { RESIDENTS } from './residents.mjs';
import { ServerProcess } from './server-process.mjs';

const servers = join(import.meta.dirname, '..', 'servers');
const KEY_SET_PATH = '/.well-known/jwks.json';
/** The floor has the same paths. */
const SERVICE_PATHS = { keySetPath: KEY_SET_PATH, exchangePath: '/rest/auth/oauth/token' };
/** A database with the schema and the users. The measured databases are copies of it. */
const TEMPLATE = 'bench_template';
const MEETING_CONNECTIONS = 4;

export class Workbench {
  partner = new Partner();
  running = [];
  databases = 0;

  /** @param options rounds, requests or seconds, connections @param tell receives progress messages */
  constructor(options, tell) {
    this.options = options;
    this.tell = tell;
    this.folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  }

  /**
   * Starts the built service.
   * @param database a database's name, or `embedded`. Default: a new database with the users
   * @param script replaces the service's program
   * @param settings the settings of its PostgreSQL sessions
   * @param moreKeys trusted key entries in addition to the partner's
   * @param policy the policy in the partner's entries
   * @param node replaces the Node.js binary
   * @returns the contestant. Its `folder` contains the embedded database
   */
  async startService({ name = 'service', database: named, script = SERVICE_SCRIPT, ...options } = {}) {
    const database = named === 'embedded' ? undefined : (named ?? (await this.newDatabase()));
    const { node, settings, moreKeys = [], policy, moreEnvironment } = options;
    const surroundings = await this.surroundingsOf(name);
    const environment = serviceEnvironment({
      ...surroundings,
      databaseUrl: database && this.postgres.urlOf(database, settings),
      trustedKeys: [...this.partner.trustedKeys(policy), ...moreKeys],
    });
    const server = await this.start(name, {
      ...surroundings,
      script,
      ...(node && { node }),
      readyPath: '/healthz/readiness',
      environment: { ...environment, ...moreEnvironment },
    });
    const folder = join(surroundings.folder, 'data');
    const contestant = { name, server, database, folder, ...SERVICE_PATHS };
    if (database === undefined) await this.meetResidents(contestant);
    return contestant;
  }

  /** Logs each user in once, so that the server knows them. */
  async meetResidents(contestant) {
    const claimSets = () => RESIDENTS;
    const load = exchangeRequests(contestant, this.partner, { claimSets });
    await sendAll(contestant, load, RESIDENTS.length, MEETING_CONNECTIONS);
  }

  async startFloor() {
    const database = await this.newDatabase();
    const settings = { databaseUrl: this.postgres.urlOf(database) };
    const server = await this.startProgram('floor', settings, KEY_SET_PATH);
    return { name: 'floor', server, database, ...SERVICE_PATHS };
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

  async start(name, { readyPath, ...program }) {
    this.tell(`starting ${name}`);
    const server = this.spawn(program);
    await server.becomesReady(readyPath);
    return server;
  }

  /** Starts a program without waiting for it. */
  spawn(program) {
    if (this.closing !== undefined) throw new Error('The benchmark is being stopped.');
    const server = new ServerProcess({ node: this.options.nodes[0], ...program });
    this.running.push(server);
    return server;
  }

  async surroundingsOf(name) {
    const port = await freePort();
    const folder = join(this.folder, `${name}-${port}`);
    mkdirSync(folder);
    return { port, folder, origin: `http://127.0.0.1:${port}` };
  }

  /** Creates a database with the schema and the users. Returns its name. */
  newDatabase() {
    return this.copyDatabase(TEMPLATE);
  }

  /** Creates an empty database. Returns its name. */
  newEmptyDatabase() {
    return this.copyDatabase('template1');
  }

  async copyDatabase(template) {
    const postgres = await this.startPostgres();
    this.databases += 1;
    const name = `bench_${this.databases}`;
    await postgres.query('postgres', `CREATE DATABASE ${name} TEMPLATE ${template}`);
    return name;
  }

  startPostgres() {
    this.starting ??= this.startFilledPostgres();
    return this.starting;
  }

  /** The service creates the schema, and the users' first exchanges create the users. */
  async startFilledPostgres() {
    this.tell('starting PostgreSQL');
    this.postgres = await PostgresServer.start(freePort);
    await this.postgres.query('postgres', `CREATE DATABASE ${TEMPLATE}`);
    const service = await this.startService({ name: 'template', database: TEMPLATE });
    await this.meetResidents(service);
    await this.stop(service.server);
    return this.postgres;
  }

  async stop(server) {
    this.running = this.running.filter((other) => other !== server);
    await server.stop();
  }

  /** Called after each case, so that the next one starts new programs. */
  async stopServers() {
    await Promise.all(this.running.splice(0).map((server) => server.stop()));
  }

  /** Stops all programs and removes all files. May be called at any time and repeatedly. */
  close() {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  async closeAll() {
    await this.stopServers();
    await this.postgres?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
