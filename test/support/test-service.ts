// The whole application on a database of the tests, spoken to over real HTTP.
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import type { Application } from '../../src/application.js';
import { createApplication } from '../../src/application.js';
import type { Startup } from '../../src/config/startup.js';
import { prepareStartup } from '../../src/instance/prepare-startup.js';
import type { Clock } from '../../src/platform/clock.js';
import type { PurgeJob } from '../../src/platform/jobs/purge.job.js';
import type { LineOutput } from '../../src/platform/log/logger.js';
import { createLogger } from '../../src/platform/log/logger.js';
import { ClockDifference } from '../../src/token-exchange/replay/clock-difference.js';
import { watchEvents } from './audit-events.js';
import { BASE_URL } from './base-url.js';
import { compiledSources } from './compiled-sources.js';
import type { TestDatabase } from './databases.js';
import { secretsIn } from './secrets.js';
import { serviceEnvironment } from './service-environment.js';
import { TestClock } from './test-clock.js';

export { BASE_URL };
export const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** A line of the service's log. */
export type LogLine = Record<string, unknown>;

export interface TestServiceOptions {
  /** Trusted key entries. */
  trustedKeys?: readonly object[];
  /** Variables that extend or override the defaults, which enable both flows and set high throttle limits. */
  environment?: Record<string, string | undefined>;
  clock?: Clock;
}

/** A test clock is the true time, not a clock that differs from the database. Use `SetClock` for differences. */
function takeClockForRight({ nest }: Application): void {
  const modules = [...nest.get(ModulesContainer).values()];
  if (!modules.some(({ providers }) => providers.has(ClockDifference))) return;
  Object.defineProperty(nest.get(ClockDifference, { strict: false }), 'differenceMs', { value: () => 0 });
}

const OWN_ENVIRONMENT = {
  SVC_BASE_URL: BASE_URL,
  SVC_PORT: '0',
  SVC_METRICS_PORT: '0',
  // Behind a trusted proxy, tests may name their requests.
  SVC_PROXY_HOPS: '1',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

export type Fields = Record<string, string | undefined>;

export class TestService {
  private application!: Application;
  /** The options of its start. */
  startup!: Startup;
  address!: string;
  private directory!: string;
  private revocations = 0;
  private readonly lines: string[] = [];
  private faultsOfEvents!: () => string[];

  private constructor(
    private readonly database: TestDatabase,
    private options: TestServiceOptions,
  ) {}

  /** Starts production's own application on a free port. */
  static async start(database: TestDatabase, options: TestServiceOptions = {}): Promise<TestService> {
    const service = new TestService(database, options);
    await service.begin();
    return service;
  }

  /**
   * Runs during all tests of a block and in hooks that are declared later, and stops before the hooks that end the block.
   * @param options a function if they depend on what an earlier hook has started
   */
  static forBlock(
    database: TestDatabase,
    options: TestServiceOptions | (() => TestServiceOptions | Promise<TestServiceOptions>) = {},
  ): TestService {
    const service = new TestService(database, {});
    beforeAll(async () => {
      service.options = typeof options === 'function' ? await options() : options;
      await service.begin();
    });
    afterAll(() => service.application && service.stop());
    return service;
  }

  /** Stops it, and starts it on the same database again. */
  async restart(options = this.options): Promise<void> {
    await this.stop();
    this.options = options;
    this.lines.length = 0;
    await this.begin();
  }

  private async begin(): Promise<void> {
    const { trustedKeys = [], environment: variables, clock } = this.options;
    this.directory = mkdtempSync(join(tmpdir(), 'service-'));
    const environment = { ...(await serviceEnvironment(trustedKeys)), ...OWN_ENVIRONMENT, ...variables };
    this.startup = await prepareStartup({ environment, workingDirectory: this.directory });
    const output = new KeptLines(this.lines);
    this.application = await createApplication(this.startup, {
      logger: createLogger(this.startup.config.logLevel, output),
      output,
      sourceDirectory: compiledSources(),
      database: this.database.settings,
      ...(clock === undefined ? {} : { clock }),
    });
    if (clock instanceof TestClock) takeClockForRight(this.application);
    this.faultsOfEvents = watchEvents(this.application.nest.get(EventEmitter2, { strict: false }));
    this.address = await this.application.listen();
  }

  /** @throws Error if an event violated docs/reference/audit-events.schema.json, or the log contains a secret */
  async stop(): Promise<void> {
    await this.application.close();
    rmSync(this.directory, { recursive: true, force: true });
    const faults = this.faultsOfEvents();
    if (faults.length > 0) throw new Error(`events are not as they may be:\n${faults.join('\n')}`);
    const secrets = secretsIn(this.logText);
    if (secrets.length > 0) throw new Error(`the log has ${secrets.join('\n')}`);
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(new URL(path, this.address), { redirect: 'manual', ...init });
  }

  /** Posts a form; `undefined` leaves a field out. */
  post(path: string, fields: Fields, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, { method: 'POST', body: form(fields), headers });
  }

  /** A token-exchange request with the right grant type unless another is given. */
  exchange(fields: Fields, headers: Record<string, string> = {}): Promise<Response> {
    return this.post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, ...fields }, headers);
  }

  embed(fields: Fields, headers: Record<string, string> = {}): Promise<Response> {
    return this.post('/rest/auth/embed', fields, headers);
  }

  /** Sends each request from a new address, so that no limit refuses it. */
  revoke(token: string, headers: Record<string, string> = {}): Promise<Response> {
    this.revocations += 1;
    const address = `10.0.${this.revocations >> 8}.${this.revocations & 255}`;
    return this.post('/rest/auth/oauth/revoke', { token }, { 'x-forwarded-for': address, ...headers });
  }

  /** Exchanges a token that must be accepted, and returns the access token. */
  async accessToken(fields: Fields): Promise<string> {
    const answer = await this.exchange(fields);
    if (answer.status !== 200)
      throw new Error(`the exchange answered ${answer.status}: ${await answer.text()}`);
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  /** Logs in with a token that must be accepted, and returns the `Cookie` header of the session. */
  async sessionCookie(token: string): Promise<string> {
    const answer = await this.embed({ token });
    const cookie = answer.headers.get('set-cookie');
    if (cookie === null) throw new Error(`the login answered ${answer.status}: ${await answer.text()}`);
    return cookie.slice(0, cookie.indexOf(';'));
  }

  async rows<T = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<T[]> {
    return this.application.nest.get(DataSource).query<T[]>(sql, parameters);
  }

  /** Node's own, whose timeouts can be set while it runs. */
  get server(): Server {
    return this.application.nest.getHttpServer();
  }

  /** Every route of the running server, as Fastify prints them. */
  get routeTree(): string {
    const server = this.application.nest.getHttpAdapter().getInstance();
    return server.printRoutes({ commonPrefix: false });
  }

  /** A part of the application, such as a job that is to run at once. */
  part<T>(type: abstract new (...dependencies: never[]) => T): T {
    return this.application.nest.get<T>(type, { strict: false });
  }

  /** Runs a job that only deletes. */
  purge(
    name:
      | 'jti-purge'
      | 'session-purge'
      | 'revocation-purge'
      | 'throttle-purge'
      | 'operator-purge'
      | 'active-user-purge',
  ): Promise<void> {
    return this.application.nest.get<PurgeJob>(name, { strict: false }).run();
  }

  /** Everything that was logged, as text: for looking what must not be in it. */
  get logText(): string {
    return this.lines.join('');
  }

  get log(): LogLine[] {
    return this.lines.map((line) => JSON.parse(line) as LogLine);
  }
}

/** An output that has written each line at once. */
class KeptLines implements LineOutput {
  readonly hasReader = true;

  constructor(private readonly lines: string[]) {}

  write(line: string): boolean {
    this.lines.push(line);
    return true;
  }

  written(): Promise<void> {
    return Promise.resolve();
  }
}

function form(fields: Fields): URLSearchParams {
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return new URLSearchParams(present);
}
