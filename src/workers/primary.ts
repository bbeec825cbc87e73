// The primary process of an instance with several workers: starts, restarts, replaces and stops them.
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { ConfigurationError } from '../config/load-config.js';
import { exitAfterLog } from '../platform/log/logger.js';
import type { StandardOutput } from '../platform/log/logger.js';
import type { Startup, StartupSources } from '../instance/startup.js';
import { prepareStartup } from '../instance/startup.js';
import { HEARTBEAT_MS } from './instance-worker.js';
import type { End } from './worker-process.js';
import { WorkerProcess } from './worker-process.js';

const EXIT_FAILED = 1;
const MOST_MISSED_BEATS = 10;
const MOST_DEATHS = 5;
const DEATHS_WITHIN_MS = 60_000;
/** Before a worker that has died is started again; doubled with each death within the time above. */
const FIRST_PAUSE_MS = 500;
/** After the delay that is configured; a worker has five seconds to stop, and as long to have its last lines read. */
const LONGEST_STOP_MS = 10_000;

export interface PrimaryParts {
  /** Where a configuration is read anew. */
  readonly sources: StartupSources;
  readonly logger: Logger;
  /** What `logger` writes to, for lines of workers. */
  readonly output: StandardOutput;
}

/**
 * Has no database and answers no request.
 * @rule D123 A worker that ends, or hangs, is replaced; one that dies too often ends the instance, and the end of the primary ends
 * all workers.
 */
export class Primary {
  private readonly all = new Set<WorkerProcess>();
  /** The present worker of each number; none while it waits for its restart. */
  private readonly present = new Map<number, WorkerProcess>();
  private readonly deaths = new Map<number, number[]>();
  private readonly metrics = new AggregatorRegistry();
  private replacing: Promise<void> = Promise.resolve();
  private hasStarted = false;
  private exitCode: number | undefined;

  /** @throws ConfigurationError in a process that another program has started as a worker of its own */
  constructor(
    private startup: Startup,
    private readonly parts: PrimaryParts,
  ) {
    if (!cluster.isPrimary)
      throw new ConfigurationError(['SVC_WORKERS: must be 1 where another program starts workers itself']);
    // Also on Windows, and in spite of NODE_CLUSTER_SCHED_POLICY: a worker takes no connection by itself.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'], serialization: 'advanced' });
  }

  /** The first worker brings the database up to date, so that the others find nothing to do. */
  async start(): Promise<void> {
    this.handleSignals();
    setInterval(() => this.killHanging(), HEARTBEAT_MS);
    const { workers } = this.startup.config;
    const summary = await this.place(1).ready;
    if (summary === undefined || this.isStopping) return;
    const others = Array.from({ length: workers - 1 }, (_, index) => this.place(index + 2).ready);
    await Promise.all(others);
    if (this.isStopping) return;
    this.hasStarted = true;
    this.parts.logger.info({ ...summary, workers }, 'the service is ready');
  }

  private get isStopping(): boolean {
    return this.exitCode !== undefined;
  }

  private place(number: number): WorkerProcess {
    const worker = this.fork(number);
    this.present.set(number, worker);
    return worker;
  }

  private fork(number: number): WorkerProcess {
    const { logger, output } = this.parts;
    const { workers } = this.startup.config;
    const worker = new WorkerProcess(number, workers, output, () => this.metrics.clusterMetrics());
    this.all.add(worker);
    void worker.ended.then((end) => this.ended(worker, end));
    void worker.ready.then(() => {
      if (worker.isReady) logger.info(worker.logFields, 'a worker answers requests');
    });
    return worker;
  }

  /** Heartbeats that are missing are counted, not the time: a machine that was asleep has missed none. */
  private killHanging(): void {
    const seconds = (MOST_MISSED_BEATS * HEARTBEAT_MS) / 1000;
    for (const worker of this.all) {
      worker.missedBeats += 1;
      if (worker.missedBeats !== MOST_MISSED_BEATS) continue;
      this.parts.logger.error(
        { ...worker.logFields, seconds },
        'a worker has given no sign of life and is killed',
      );
      worker.kill();
    }
  }

  private ended(worker: WorkerProcess, end: End): void {
    const { logger } = this.parts;
    this.all.delete(worker);
    if (this.isStopping) {
      // As one process that could not stop as it should, the instance reports it by its exit code.
      if (worker.isReady && end.code !== 0) this.exitCode = EXIT_FAILED;
      return this.exitWhenAlone();
    }
    if (this.present.get(worker.number) !== worker) return;
    const fields = { ...worker.logFields, ...end };
    if (this.hasStarted) return this.restart(worker.number, fields);
    logger.fatal(fields, 'a worker has ended before all were ready, and the process ends');
    this.stop(EXIT_FAILED);
  }

  private restart(number: number, fields: object): void {
    const { logger } = this.parts;
    this.present.delete(number);
    const nowMs = performance.now();
    const earlier = (this.deaths.get(number) ?? []).filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS);
    this.deaths.set(number, [...earlier, nowMs]);
    if (earlier.length + 1 >= MOST_DEATHS) {
      const within = { deaths: MOST_DEATHS, withinSeconds: DEATHS_WITHIN_MS / 1000 };
      logger.fatal({ ...fields, ...within }, 'a worker has died too often, and the process ends');
      return this.stop(EXIT_FAILED);
    }
    logger.error(fields, 'a worker has died and is started again');
    // SIGHUP may have brought another one meanwhile.
    const placeAgain = () => {
      if (!this.isStopping && !this.present.has(number)) this.place(number);
    };
    setTimeout(placeAgain, FIRST_PAUSE_MS * 2 ** earlier.length);
  }

  private handleSignals(): void {
    const { logger } = this.parts;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.isStopping) {
          logger.warn({ signal }, 'ended at once by a second signal');
          return this.killAll();
        }
        logger.info(
          { signal, delaySeconds: this.startup.config.shutdownDelaySeconds },
          'stopping: requests in flight are still answered; a second signal ends the process at once',
        );
        this.stop(0);
      });
    }
    process.on('SIGHUP', () => {
      this.replacing = this.replacing.then(() => this.replaceAll());
    });
  }

  /** Stops all workers, and then the process. */
  private stop(exitCode: number): void {
    if (this.isStopping) return;
    this.exitCode = exitCode;
    for (const worker of this.all) {
      if (!worker.isReady) worker.kill();
      else if (!worker.isLeaving) worker.send({ kind: 'stop' });
    }
    const delayMs = this.startup.config.shutdownDelaySeconds * 1000;
    setTimeout(() => this.killAll(), delayMs + LONGEST_STOP_MS).unref();
    this.exitWhenAlone();
  }

  private killAll(): void {
    this.exitCode = EXIT_FAILED;
    for (const worker of this.all) worker.kill();
    this.exitWhenAlone();
  }

  private exitWhenAlone(): void {
    if (this.all.size === 0) exitAfterLog(this.exitCode ?? EXIT_FAILED, this.parts.logger);
  }

  /** Replaces worker after worker by one with the configuration as it is now. */
  private async replaceAll(): Promise<void> {
    if (!this.hasStarted || this.isStopping) return;
    const { logger, sources } = this.parts;
    let replaced = 0;
    try {
      const startup = await prepareStartup(sources);
      const { workers } = startup.config;
      if (workers !== this.startup.config.workers)
        throw new ConfigurationError(['SVC_WORKERS: a change of it needs a new start of the process']);
      this.startup = startup;
      logger.info('the workers are replaced one after the other');
      for (const warning of startup.warnings) logger.warn(warning);
      for (; replaced < workers; replaced += 1) await this.replace(replaced + 1);
      if (!this.isStopping) logger.info('all workers have been replaced');
    } catch (error) {
      const reason = error instanceof ConfigurationError ? error.message : String(error);
      logger.error(
        { reason, replaced },
        'the workers stay as they are, but for those that have been replaced',
      );
    }
  }

  /** @throws Error where the new worker does not get ready */
  private async replace(number: number): Promise<void> {
    if (this.isStopping) return;
    const next = this.fork(number);
    const summary = await next.ready;
    if (this.isStopping) return;
    if (summary === undefined) throw new Error('a new worker has ended before it was ready');
    const before = this.present.get(number);
    this.present.set(number, next);
    if (before === undefined) return;
    before.isLeaving = true;
    before.send({ kind: 'leave' });
    await before.ended;
  }
}
