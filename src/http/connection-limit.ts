// How many connections of clients the process holds at one time.
import type { Server } from 'node:net';
import type { Logger } from 'pino';
import { RareWarning } from './rare-warning.js';

/**
 * @rule B.connections One connection more than configured is closed unanswered, and counted: an answer would take what is
 * to be saved. Those that are open go on.
 */
export class ConnectionLimit {
  private readonly warning: RareWarning;

  /**
   * @param most 1 or more
   * @param onRefused called for each that is closed; for a metric
   */
  constructor(
    private readonly most: number,
    logger: Pick<Logger, 'warn'>,
    private readonly onRefused: () => void,
  ) {
    this.warning = new RareWarning((count) =>
      logger.warn(
        { count },
        'connections are closed unanswered: there are as many as SVC_MAX_CONNECTIONS allows',
      ),
    );
  }

  watch(server: Server): void {
    server.maxConnections = this.most;
    server.on('drop', () => {
      this.onRefused();
      this.warning.happened();
    });
  }
}
