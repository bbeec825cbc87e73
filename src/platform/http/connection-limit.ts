// How many connections of clients the process holds at one time.
import type { Server, Socket } from 'node:net';
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
   * @param isWorker whether connections are handed over by another process, which takes them elsewhere where Node.js refuses
   *   them: with every worker full it would go on doing so
   */
  constructor(
    private readonly most: number,
    logger: Pick<Logger, 'warn'>,
    private readonly onRefused: () => void,
    private readonly isWorker = false,
  ) {
    this.warning = new RareWarning((count) =>
      logger.warn(
        { count },
        'connections are closed unanswered: there are as many as SVC_MAX_CONNECTIONS allows',
      ),
    );
  }

  watch(server: Server): void {
    if (this.isWorker) this.closeOver(server);
    else {
      server.maxConnections = this.most;
      server.on('drop', () => this.refused());
    }
  }

  /** Before anything of it is read. */
  private closeOver(server: Server): void {
    let open = 0;
    server.on('connection', (socket: Socket) => {
      open += 1;
      socket.once('close', () => (open -= 1));
      if (open <= this.most) return;
      socket.destroy();
      this.refused();
    });
  }

  private refused(): void {
    this.onRefused();
    this.warning.happened();
  }
}
