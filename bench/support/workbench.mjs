// What the cases measure with: a database server, a partner, and the measured programs, all started on demand.
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
/** The floor has them too. */
const SERVICE_PATHS = { keySetPath: KEY_SET_PATH, exchangePath: '/rest/auth/oauth/token' };
/** A database with the schema and the users; those that are measured are copies of it. */
const TEMPLATE = 'bench_template';
const MEETING_CONNECTIONS = 4;

export class Workbench {
  partner = new Partner();
  running = [];
  databases = 0;

  /** @param options rounds, requests or seconds, connections @param tell told in a few words what is being done */
  constructor(options, tell) {
    this.options = options;
    this.tell = tell;
    this.folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  }

  /**
   * The service as it was built.
   * @param database a database's name, or `embedded`; a new one with the users unless given
   * @param script another program than the service's own
   * @param settings of its sessions in PostgreSQL
   * @param moreKeys trusted beside the partner's
   * @param policy members of the partner's entries
   * @param node another Node.js binary than all others run on
   * @returns what is measured; `folder` is that of the embedded database
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

  /** Lets a server meet its users: each of them logs in once. */
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

  /** Answers the name of a new database with schema and users. */
  newDatabase() {
    return this.copyDatabase(TEMPLATE);
  }

  /** Answers the name of a new database with nothing in it. */
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

  /** The service itself makes the schema and, by the users' first exchanges, the users. */
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

  /** After each case: the next one begins with fresh programs. */
  async stopServers() {
    await Promise.all(this.running.splice(0).map((server) => server.stop()));
  }

  /** Stops everything that was started and removes all files; may be called at any moment, and again. */
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
