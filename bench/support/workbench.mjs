// What the cases measure with: a database server, a partner, and the measured programs, all started on demand.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_SCRIPT, serviceEnvironment } from '../servers/service.mjs';
import { freePort } from '../../dist/demo/free-port.js';
import { Partner } from './partner.mjs';
import { PostgresServer } from './postgres.mjs';
import { RESIDENTS } from './residents.mjs';
import { ServerProcess } from './server-process.mjs';
import { meetResidents } from './meet-residents.mjs';

const servers = join(dirname(dirname(fileURLToPath(import.meta.url))), 'servers');
const KEY_SET_PATH = '/.well-known/jwks.json';
/** The floor has them too. */
const SERVICE_PATHS = { keySetPath: KEY_SET_PATH, exchangePath: '/rest/auth/oauth/token' };
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

  /**
   * The service as it was built.
   * @param database a database's name, or `embedded`; a new one with the users unless given
   * @param settings of its sessions in PostgreSQL
   * @param moreKeys trusted beside the partner's
   */
  async startService({ name = 'service', database: named, settings, moreKeys = [] } = {}) {
    const isEmbedded = named === 'embedded';
    const database = isEmbedded ? undefined : (named ?? (await this.newDatabase()));
    const surroundings = await this.surroundingsOf(name);
    const environment = serviceEnvironment({
      ...surroundings,
      databaseUrl: database === undefined ? undefined : this.postgres.urlOf(database, settings),
      trustedKeys: [...this.partner.trustedKeys(), ...moreKeys],
    });
    const server = await this.start(name, {
      ...surroundings,
      script: SERVICE_SCRIPT,
      readyPath: '/healthz/readiness',
      environment,
    });
    const contestant = { name, server, database, ...SERVICE_PATHS, fields: {} };
    if (isEmbedded) await meetResidents(contestant, this.partner);
    return contestant;
  }

  /** The service on an embedded database in `folder`, told on a port of its own to put rows in and out. */
  async startMaintained(controlPort) {
    const surroundings = await this.surroundingsOf('maintained');
    const settings = serviceEnvironment({ ...surroundings, trustedKeys: this.partner.trustedKeys() });
    const server = await this.start('maintained', {
      ...surroundings,
      script: join(servers, 'maintained.mjs'),
      readyPath: '/healthz/readiness',
      environment: { ...settings, BENCH_CONTROL_PORT: String(controlPort) },
    });
    const folder = join(surroundings.folder, 'data');
    const contestant = { name: 'maintained', server, folder, ...SERVICE_PATHS, fields: {} };
    await meetResidents(contestant, this.partner);
    return contestant;
  }

  async startFloor() {
    const database = await this.newDatabase();
    const server = await this.startProgram(
      'floor',
      { databaseUrl: this.postgres.urlOf(database) },
      KEY_SET_PATH,
    );
    return { name: 'floor', server, database, ...SERVICE_PATHS, fields: {} };
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

  async start(name, { readyPath, ...program }) {
    this.tell(`starting ${name}`);
    const server = this.spawn(program);
    await server.becomesReady(readyPath);
    return server;
  }

  /** Starts a program without waiting for it. */
  spawn(program) {
    if (this.closing !== undefined) throw new Error('The benchmark is being stopped.');
    const server = new ServerProcess(program);
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
  async newDatabase() {
    const postgres = await this.startPostgres();
    this.databases += 1;
    const name = `bench_${this.databases}`;
    await postgres.query('postgres', `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
    return name;
  }

  startPostgres() {
    this.starting ??= this.startFilledPostgres();
    return this.starting;
  }

  /** The service itself makes the schema and, by the users' first exchanges, the users. */
  async startFilledPostgres() {
    this.tell('starting PostgreSQL');
    this.postgres = await PostgresServer.spawn(this.folder);
    await this.postgres.becomesReady();
    await this.postgres.query('postgres', `CREATE DATABASE ${TEMPLATE}`);
    const service = await this.startService({ name: 'template', database: TEMPLATE });
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
