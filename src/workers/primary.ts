// The primary process of an instance with several workers: starts them, keeps them, replaces them and stops them.
import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { ConfigurationError } from '../config/load-config.js';
import { exitAfterLog } from '../logging/exit.js';
import type { StandardOutput } from '../logging/logger.js';
import { FileRecord } from '../start/file-record.js';
import type { Startup, StartupSources } from '../start/startup.js';
import { prepareStartup } from '../start/startup.js';
import { Deaths } from './deaths.js';
import { InstanceMetrics } from './instance-metrics.js';
import type { End, Surroundings } from './worker-process.js';
import { WorkerProcess } from './worker-process.js';

const EXIT_FAILED = 1;
const MOST_DEATHS = 5;
/** A worker that could not start finds what it lacks after a while, or not at all. */
const START_AGAIN_MS = 15_000;
/** What a worker takes to stop after its delay, and to have its last lines read. */
const LONGEST_STOP_MS = 10_000;
const LONGEST_END_MS = 2_000;
/** While others serve, a worker that takes longer is taken for one that never gets ready, or never goes. */
const LONGEST_START_MS = 120_000;
const LONGEST_DEPARTURE_MS = 15_000;

/** A configuration that was judged, with the files as they were read then. */
export interface Judged {
  readonly startup: Startup;
  readonly files: FileRecord;
}

export interface PrimaryParts {
  /** Where a configuration is read anew. */
  readonly sources: StartupSources;
  readonly logger: Logger;
  /** What `logger` writes to, for lines of workers. */
  readonly output: StandardOutput;
}

/**
 * Has no database and answers no request.
 * @rule D123 Workers begin with the configuration that the primary has judged. A worker that ends is started again, one that
 * dies five times within a minute ends the whole, and the end of the primary ends them all.
 */
export class Primary {
  private readonly all = new Set<WorkerProcess>();
  private readonly bySeat = new Map<number, WorkerProcess>();
  private readonly deaths = new Deaths();
  private readonly metrics = new InstanceMetrics();
  private readonly waiting = new Set<NodeJS.Timeout>();
  private candidate: WorkerProcess | undefined;
  private hasStarted = false;
  private isReplacing = false;
  private isToReplace = false;
  private exitCode: number | undefined;

  /** @throws ConfigurationError in a process that another program has started as a worker of its own */
  constructor(
    private judged: Judged,
    private readonly parts: PrimaryParts,
  ) {
    if (!cluster.isPrimary)
      throw new ConfigurationError(['SVC_WORKERS: must be 1 where another program starts workers itself']);
  }

  /** The first worker brings the database up to date, so that the others find nothing to do. */
  async start(): Promise<void> {
    this.obeySignals();
    const { logger } = this.parts;
    const { workers } = this.judged.startup.config;
    const summary = await summaryOf(this.place(1, this.judged));
    if (summary === undefined || this.isStopping) return;
    const others = Array.from({ length: workers - 1 }, (_, index) => this.place(index + 2, this.judged));
    await Promise.all(others.map(summaryOf));
    if (this.isStopping) return;
    this.hasStarted = true;
    logger.info({ ...summary, workers }, 'the service is ready');
    if (this.isToReplace) void this.replaceAll();
  }

  private get isStopping(): boolean {
    return this.exitCode !== undefined;
  }

  private place(seat: number, judged: Judged): WorkerProcess {
    const worker = this.fork(seat, judged);
    this.bySeat.set(seat, worker);
    return worker;
  }

  private fork(seat: number, { startup, files }: Judged): WorkerProcess {
    const { workers: of } = startup.config;
    const surroundings: Surroundings = {
      output: this.parts.output,
      joining: () => ({
        seat: { number: seat, of },
        files: files.outcomes,
        isCandidate: this.candidate === worker,
      }),
      gatherMetrics: () => this.metrics.gather([...this.all].filter(({ isReady }) => isReady)),
      keep: (ending, counted) => this.metrics.keep(ending, counted),
    };
    const worker = WorkerProcess.start(seat, surroundings);
    this.candidate ??= worker;
    this.all.add(worker);
    // The first start may have a long migration to do.
    if (this.hasStarted) killLater(worker, LONGEST_START_MS, () => !worker.isReady);
    void worker.gone.then((end) => this.left(worker, end));
    void worker.ready.then(() => this.answers(worker));
    return worker;
  }

  private answers(worker: WorkerProcess): void {
    const { number, processId: pid } = worker;
    this.parts.logger.info({ worker: number, pid }, 'a worker answers requests');
    worker.watch(() => this.killStuck(worker));
  }

  /** One that is to end has limits of its own. */
  private killStuck(worker: WorkerProcess): void {
    const { number, processId: pid, isLeaving } = worker;
    if (isLeaving) return;
    this.parts.logger.error(
      { worker: number, pid },
      'a worker has not answered for twenty seconds and is killed',
    );
    worker.kill();
  }

  private left(worker: WorkerProcess, end: End): void {
    this.all.delete(worker);
    this.metrics.retire(worker);
    if (this.candidate === worker) this.appoint();
    if (this.isStopping) return this.stopped(worker, end);
    if (!this.hasStarted) return this.failStart(worker, end);
    // Who replaces a worker waits for the new one.
    if (this.bySeat.get(worker.number) === worker) this.replaceLost(worker, end);
  }

  private failStart({ number, processId: pid }: WorkerProcess, { code, signal }: End): void {
    this.parts.logger.fatal(
      { worker: number, pid, code, signal },
      'a worker has ended before all were ready, and the process ends',
    );
    this.stop(EXIT_FAILED);
  }

  /** Those that answer requests already come first. */
  private appoint(): void {
    const living = [...this.all].filter(({ isLeaving }) => !isLeaving);
    this.candidate = living.find(({ isReady }) => isReady) ?? living[0];
    this.candidate?.order('apply');
  }

  private replaceLost(worker: WorkerProcess, { code, signal }: End): void {
    const { logger } = this.parts;
    const { number, processId: pid, isReady } = worker;
    this.bySeat.delete(number);
    const line = { worker: number, pid, code, signal };
    if (code === 0) {
      logger.info(line, 'a worker has ended and is started again');
      return void this.place(number, this.judged);
    }
    const deaths = this.deaths.count(number, performance.now());
    if (deaths >= MOST_DEATHS) {
      logger.fatal(
        line,
        'a worker has died five times within a minute, and the process ends with all workers',
      );
      return this.stop(EXIT_FAILED);
    }
    if (!isReady && ![...this.all].some((other) => other.isReady)) {
      logger.fatal(line, 'no worker is left, and the process ends');
      return this.stop(EXIT_FAILED);
    }
    logger.error(line, 'a worker has died and is started again');
    if (isReady) this.place(number, this.judged);
    else this.later(() => this.placeIfVacant(number));
  }

  /** A new configuration may have brought another worker meanwhile. */
  private placeIfVacant(seat: number): void {
    if (!this.bySeat.has(seat)) this.place(seat, this.judged);
  }

  private later(work: () => void): void {
    const timer = setTimeout(() => {
      this.waiting.delete(timer);
      work();
    }, START_AGAIN_MS);
    this.waiting.add(timer);
  }

  private obeySignals(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (this.isStopping) return this.endAtOnce(signal);
        const { shutdownDelaySeconds: delaySeconds } = this.judged.startup.config;
        this.parts.logger.info(
          { signal, delaySeconds },
          'stopping: requests in flight are still answered; a second signal ends the process at once',
        );
        this.stop(0);
      });
    }
    process.on('SIGHUP', () => {
      this.isToReplace = true;
      void this.replaceAll();
    });
  }

  /** Stops all workers, and then the process. */
  private stop(exitCode: number): void {
    if (this.isStopping) return;
    this.exitCode = exitCode;
    for (const timer of this.waiting) clearTimeout(timer);
    for (const worker of this.all) {
      if (worker.isReady) worker.order('stop');
      else worker.kill();
    }
    const delayMs = this.judged.startup.config.shutdownDelaySeconds * 1000;
    setTimeout(() => this.killAll(), delayMs + LONGEST_STOP_MS).unref();
    this.exitWhenAlone();
  }

  private endAtOnce(signal: string): void {
    this.parts.logger.warn({ signal }, 'ended at once by a second signal');
    this.exitCode = EXIT_FAILED;
    for (const worker of this.all) worker.order('end');
    setTimeout(() => this.killAll(), LONGEST_END_MS).unref();
    this.exitWhenAlone();
  }

  private killAll(): void {
    this.exitCode = EXIT_FAILED;
    for (const worker of this.all) worker.kill();
  }

  /** As one process that could not stop as it should, the whole tells it by its exit code. */
  private stopped({ isReady }: WorkerProcess, { code }: End): void {
    if (isReady && code !== 0) this.exitCode = EXIT_FAILED;
    this.exitWhenAlone();
  }

  private exitWhenAlone(): void {
    if (this.all.size === 0) exitAfterLog(this.exitCode ?? EXIT_FAILED, this.parts.logger);
  }

  /** Replaces worker after worker by one with the configuration as it is now, again where that was asked for meanwhile. */
  private async replaceAll(): Promise<void> {
    if (!this.hasStarted || this.isReplacing) return;
    this.isReplacing = true;
    while (this.isToReplace && !this.isStopping) {
      this.isToReplace = false;
      await this.replaceOnce();
    }
    this.isReplacing = false;
  }

  private async replaceOnce(): Promise<void> {
    const before = new Set(this.bySeat.values());
    try {
      await this.replaceInTurn(await this.judgedAnew());
    } catch (error) {
      const reason = error instanceof ConfigurationError ? error.message : String(error);
      const replaced = [...this.bySeat.values()].filter((worker) => !before.has(worker)).length;
      this.parts.logger.error(
        { reason, replaced },
        'the workers stay as they are, but for those that have been replaced: the others cannot be',
      );
    }
  }

  /** @throws ConfigurationError */
  private async judgedAnew(): Promise<Judged> {
    const files = new FileRecord();
    const startup = await prepareStartup({ ...this.parts.sources, readFile: files.read });
    if (startup.config.workers !== this.judged.startup.config.workers)
      throw new ConfigurationError(['SVC_WORKERS: a change of it needs a new start of the process']);
    return { startup, files };
  }

  /** @throws Error where a new worker does not get ready */
  private async replaceInTurn(judged: Judged): Promise<void> {
    const { logger } = this.parts;
    logger.info('the workers are replaced one after the other');
    for (const warning of judged.startup.warnings) logger.warn(warning);
    for (let seat = 1; seat <= judged.startup.config.workers; seat += 1) {
      // Told to stop, it takes nobody on any more.
      if (this.isStopping) return;
      await this.replace(seat, judged);
    }
    if (!this.isStopping) logger.info('all workers have been replaced');
  }

  private async replace(seat: number, judged: Judged): Promise<void> {
    const next = this.fork(seat, judged);
    const summary = await summaryOf(next);
    if (this.isStopping) return;
    if (summary === undefined) throw new Error('a new worker has ended before it was ready');
    this.judged = judged;
    const before = this.bySeat.get(seat);
    this.bySeat.set(seat, next);
    if (before === undefined) return;
    before.order('leaveSeat');
    // A stop waits for its delay, and has a limit of its own.
    killLater(before, LONGEST_DEPARTURE_MS, () => !this.isStopping);
    await before.gone;
  }
}

/** @returns undefined where it has ended instead of getting ready */
function summaryOf(worker: WorkerProcess): Promise<object | undefined> {
  return Promise.race([worker.ready, worker.gone.then(() => undefined)]);
}

/** A worker that hangs takes no order. One that is gone by then is not met by it. */
function killLater(worker: WorkerProcess, ms: number, isDue: () => boolean): void {
  setTimeout(() => {
    if (isDue()) worker.kill();
  }, ms).unref();
}
