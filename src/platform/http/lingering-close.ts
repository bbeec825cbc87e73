// Ends a connection on which its client may still be sending.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** So long the client may take to notice the answer, and so much it may have sent by then. */
const LINGER_MS = 10_000;
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * Sends the last bytes and ends our half; what still comes is thrown away, until the client ends its half too, for ten seconds or
 * 16 MiB. To close at once would let the system reset the connection, by which the client may lose an answer that has already reached it
 * (RFC 9112 §9.6).
 * @rule D124 What comes after the last answer of a connection is thrown away, within bounds, and never taken for a request.
 */
export function closeLingering(socket: Socket, lastBytes = ''): void {
  if (socket.destroyed) return;
  const patience = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(patience));
  throwAway(socket);
  socket.end(lastBytes);
}

/** The answer to this request is the last one of its connection, and has the client told so: then that ends as above. */
export function lingerAfterAnswer({ socket, httpVersionMajor }: IncomingMessage): void {
  // Connections of HTTP/2 go on.
  if (httpVersionMajor !== 1) return;
  // What Node.js calls after such an answer.
  socket.destroySoon = () => closeLingering(socket);
}

/** Node.js's parser would go on: a request whose end comes now would be worked for, and nobody could be told what became of it. */
function throwAway(socket: Socket): void {
  let bytes = 0;
  socket.removeAllListeners('data');
  socket.on('data', ({ length }: Buffer) => {
    bytes += length;
    if (bytes > LINGER_BYTES) socket.destroy();
  });
  socket.resume();
}
