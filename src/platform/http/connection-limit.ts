// How many connections of clients the process holds at one time, and how many requests one of them may send ahead.
import type { Server, Socket } from 'node:net';
import type { RequestListener } from 'node:http';
import type { Logger } from 'pino';
import { RareWarning } from '../log/log.js';

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

/** Requests that one connection may send ahead of their answers. */
const MOST_UNANSWERED = 16;
const UNANSWERED = Symbol('how many requests of a connection have no answer yet');

/** With the parser of Node.js, which is not in its documentation. */
type CountedSocket = Socket & { [UNANSWERED]?: number; parser?: { onIncoming: unknown } | null };

/**
 * The handler of a server of Node.js, which works at once for everything that has arrived on a connection, and keeps the answers that its client does not
 * take.
 * @rule D125 A connection with more than sixteen requests that have no answer yet is closed.
 */
export function limitPipelining(handler: RequestListener): RequestListener {
  return (request, response) => {
    const socket: CountedSocket = request.socket;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    if (unanswered <= MOST_UNANSWERED) {
      response.once('close', () => (socket[UNANSWERED] = (socket[UNANSWERED] ?? 0) - 1));
      return handler(request, response);
    }
    socket.destroy();
    // Without this it would make a request and a response of each that it has read already, and keep them.
    if (socket.parser) socket.parser.onIncoming = () => 0;
  };
}
