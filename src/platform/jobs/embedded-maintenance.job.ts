// Vacuums, analyses and checkpoints the embedded database in short steps: it has no background processes of
// its own.
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EmbeddedMaintenanceRepository } from '../database/embedded-maintenance.repository.js';
import type { Leader } from './leader.js';
import { ApplicationJob } from './periodic.job.js';
import type { MayGoOn } from './periodic.job.js';

/** Short, because the length of a step depends on the accumulated work, and a step blocks all requests. */
const INTERVAL_SECONDS = 0.1;
/** Lets requests run between two steps. */
const PAUSE_MS = 25;
/** A step waits this long for pending requests. It must not wait for ever: a delay makes it longer. */
const PATIENCE_MS = 1_000;
const LOOK_AGAIN_MS = 2;
const CHECKPOINT_AFTER_BYTES = 4 * 2 ** 20;

export class EmbeddedMaintenanceJob extends ApplicationJob {
  /** Uses of the database by others when nothing was due. */
  private usesSeen = -1;

  constructor(
    private readonly database: EmbeddedMaintenanceRepository,
    leader: Leader,
    logger: Logger,
  ) {
    super({ name: 'embedded-maintenance', intervalSeconds: INTERVAL_SECONDS }, leader, logger);
  }

  /**
   * The counts that show what is due do not survive the process, so each table is vacuumed before the first
   * request. Clean pages are skipped; what an earlier process has left may take long.
   */
  override async onApplicationBootstrap(): Promise<void> {
    for (const table of await this.database.filled()) {
      await this.database.vacuum(table);
      await this.database.analyze(table);
    }
    await super.onApplicationBootstrap();
  }

  /** Does nothing if the database was not used. */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    const { usesByOthers } = this.database;
    if (usesByOthers === this.usesSeen) return;
    const steps = await this.steps();
    if (steps.length === 0) this.usesSeen = usesByOthers;
    await this.take(steps, mayGoOn);
  }

  private async take(steps: readonly (() => Promise<void>)[], mayGoOn: MayGoOn): Promise<void> {
    for (const step of steps) {
      await this.untilQuiet();
      if (!mayGoOn()) return;
      await step();
      await pause(PAUSE_MS);
    }
  }

  private async steps(): Promise<(() => Promise<void>)[]> {
    const tables = await this.database.due();
    const steps = tables.flatMap(({ table, needsVacuum, needsAnalyze }) => [
      ...(needsVacuum ? [() => this.database.vacuum(table)] : []),
      ...(needsAnalyze ? [() => this.database.analyze(table)] : []),
    ]);
    const isLogLong = (await this.database.logLength()) > CHECKPOINT_AFTER_BYTES;
    return isLogLong ? [...steps, () => this.database.checkpoint()] : steps;
  }

  private async untilQuiet(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.database.isAwaited() && performance.now() < deadline) await pause(LOOK_AGAIN_MS);
  }
}
