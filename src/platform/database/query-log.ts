// TypeORM's log, if the host has turned it on, for statements that bypass TypeORM.
import type { DataSource } from 'typeorm';
import type { Statement } from './pool.js';

/** Logs one statement, and that it failed or was slow, as TypeORM does for its own. */
export class StatementLog {
  private readonly beganAtMs = performance.now();

  constructor(
    private readonly dataSource: DataSource,
    private readonly statement: Statement,
  ) {
    dataSource.logger.logQuery(statement.text, statement.values);
  }

  failed(error: unknown): void {
    this.dataSource.logger.logQueryError(error as Error, this.statement.text, this.statement.values);
  }

  answered(): void {
    const { logger, options } = this.dataSource;
    const tookMs = Math.round(performance.now() - this.beganAtMs);
    const { maxQueryExecutionTime: most = 0 } = options;
    if (most > 0 && tookMs > most) logger.logQuerySlow(tookMs, this.statement.text, this.statement.values);
  }
}
