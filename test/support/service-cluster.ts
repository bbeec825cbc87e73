// Runs several processes of the built service on one database, as behind a load balancer, and does harm to them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../demo/free-port.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { describeBuilt } from './built-service.js';
import type { TestDatabase } from './databases.js';
import { describeOnPostgresql } from './databases.js';
import { serviceEnvironment } from './service-environment.js';
import { REPOSITORY } from './source-files.js';
import type { Fields, LogLine } from './test-service.js';
import { BASE_URL, GRANT_TYPE } from './test-service.js';

/** Declares a block of tests with real processes on a fresh, migrated PostgreSQL database. */
export function describeWithProcesses(title: string, block: (database: TestDatabase) => void): void {
  describeBuilt(title, () => describeOnPostgresql('on PostgreSQL', block));
}

export interface ClusterOptions {
  /** Trusted key entries. */
  trustedKeys: readonly object[];
  /** Variables that extend or override the defaults, which enable both flows and set high throttle limits. */
  environment?: Record<string, string>;
  /** Gives each instance its own route to the database. */
  databaseUrlOf?: (index: number) => string;
}

/** Instances with the same configuration. */
export class ServiceCluster {
  private constructor(readonly instances: readonly ServiceInstance[]) {}

  /**
   * Starts all instances at the same moment and waits until each is ready.
   * @throws Error with the log of the instance that did not get ready; the others are stopped then
   */
  static async start(
    count: number,
    database: TestDatabase,
    options: ClusterOptions,
  ): Promise<ServiceCluster> {
    const environment: Record<string, string> = {
      ...(await serviceEnvironment(options.trustedKeys)),
      ...database.environment,
      SVC_BASE_URL: BASE_URL,
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      ...options.environment,
    };
    const instances = Array.from({ length: count }, (_, index) => {
      const url = new URL(options.databaseUrlOf?.(index) ?? environment['SVC_DATABASE_URL'] ?? '');
      // The database can show by this name which instance has sent a statement.
      url.searchParams.set('application_name', `instance-${index}`);
      return new ServiceInstance(`instance-${index}`, { ...environment, SVC_DATABASE_URL: url.href });
    });
    const cluster = new ServiceCluster(instances);
    const starts = await Promise.allSettled(instances.map((instance) => instance.start()));
    const failed = starts.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return cluster;
    await cluster.stop();
    throw failed.reason;
  }

  /** The instances take turns. */
  instance(turn: number): ServiceInstance {
    return this.instances[turn % this.instances.length]!;
  }

  /** Stops what still runs, and removes all files. */
  async stop(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.remove()));
  }
}

/** One process of the service. It may be started again after it was stopped or killed. */
export class ServiceInstance {
  private readonly directory = mkdtempSync(join(tmpdir(), 'svc-test-instance-'));
  private process: ServiceProcess | undefined;
  private port: number | undefined;

  /** @param packageRoot the folder of the build, for another release */
  constructor(
    readonly name: string,
    private readonly environment: Record<string, string>,
    private packageRoot = REPOSITORY,
  ) {}

  /** `host:port`; it stays over restarts. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** @throws Error with the end of the log when it does not get ready */
  async start(): Promise<void> {
    const port = (this.port ??= await freePort());
    const surroundings = {
      packageRoot: this.packageRoot,
      directory: this.directory,
      environment: {
        ...this.environment,
        PATH: process.env['PATH'],
        SVC_PORT: String(port),
        SVC_METRICS_PORT: '0',
      },
    };
    this.process = await ServiceProcess.start(surroundings, `http://127.0.0.1:${port}`);
  }

  /** Asks it to stop, as an operator does. @returns its exit code, or the name of the signal that ended it */
  async stop(): Promise<number | string> {
    this.send('SIGCONT');
    return this.running.stop();
  }

  /** Has its next start be of this release. */
  upgrade(): void {
    this.packageRoot = REPOSITORY;
  }

  /** Ends it without a chance to say anything. */
  async kill(): Promise<void> {
    this.send('SIGKILL');
    await this.running.exited;
  }

  /** Nothing runs in it until it is thawed, while its connections stand and time goes on. */
  freeze(): void {
    this.send('SIGSTOP');
  }

  thaw(): void {
    this.send('SIGCONT');
  }

  async remove(): Promise<void> {
    if (this.process !== undefined) await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.running.baseUrl), { redirect: 'manual', ...init });
  }

  /** A token-exchange request. */
  exchange(subjectToken: string): Promise<Response> {
    return this.post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, subject_token: subjectToken });
  }

  /** An embedded login. */
  embed(token: string): Promise<Response> {
    return this.post('/rest/auth/embed', { token });
  }

  /** The status of an exchange; 200 says that the token was accepted. */
  async exchangeStatus(subjectToken: string): Promise<number> {
    const answer = await this.exchange(subjectToken);
    // Read to its end, so that the connection can be used again.
    await answer.arrayBuffer();
    return answer.status;
  }

  /** Its whole log since its first start. */
  log(): LogLine[] {
    // A line that is just being written has no end yet.
    const lines = readFileSync(this.running.logFile, 'utf8').split('\n').slice(0, -1);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);
  }

  private post(path: string, fields: Fields): Promise<Response> {
    return this.fetch(path, { method: 'POST', body: new URLSearchParams(fields as Record<string, string>) });
  }

  private get running(): ServiceProcess {
    if (this.process === undefined) throw new Error(`${this.name} was not started`);
    return this.process;
  }

  /** The demo never needs to be this rude, so its class offers no signals. */
  private send(signal: NodeJS.Signals): void {
    this.running['child'].kill(signal);
  }
}
