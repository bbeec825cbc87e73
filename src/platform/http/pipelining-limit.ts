// How many requests one connection may send ahead of their answers.
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

const MOST_UNANSWERED = 16;
const UNANSWERED = Symbol('how many requests of a connection have no answer yet');

/** With the parser of Node.js, which is not in its documentation. */
type CountedSocket = Socket & { [UNANSWERED]?: number; parser?: { onIncoming: unknown } | null };

/**
 * The handler of a server of Node.js, which works at once for everything that has arrived on a connection, and keeps the answers that its client does not
 * take.
 * @rule D125 A connection with more than sixteen requests that have no answer yet is closed.
 * @param onClosed called for each that is closed
 */
export function limitPipelining(
  handler: RequestListener,
  onClosed: () => void = () => undefined,
): RequestListener {
  return (request, response) => {
    const socket: CountedSocket = request.socket;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    if (unanswered <= MOST_UNANSWERED) {
      response.once('close', () => (socket[UNANSWERED] = (socket[UNANSWERED] ?? 0) - 1));
      return handler(request, response);
    }
    onClosed();
    socket.destroy();
    // Without this it would make a request and a response of each that it has read already, and keep them.
    if (socket.parser) socket.parser.onIncoming = () => 0;
  };
}
