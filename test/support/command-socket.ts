// Speaks to the command socket of a service byte by byte, as no command of ours does.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import type { TestDatabase } from './databases.js';

/** Where the service on an embedded database of the tests has its socket. */
export function socketPathOf({ settings }: TestDatabase): string {
  if (settings.kind !== 'embedded') throw new Error('only the embedded database has a command socket');
  return `${settings.directory}/admin/socket`;
}

/** An answer, line by line; `undefined` where there was none. */
export type Answer = Record<string, unknown>[];

export async function connectTo(path: string): Promise<Socket> {
  const socket = createConnection({ path, allowHalfOpen: true });
  // What a test sends may be refused while it is still on its way.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All that the service answers until it ends the connection. */
export async function answerOn(socket: Socket): Promise<Answer> {
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  if (!socket.readableEnded && !socket.destroyed)
    await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  socket.destroy();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Sends bytes as a whole request and returns the answer. */
export async function sendTo(path: string, request: string | Uint8Array): Promise<Answer> {
  const socket = await connectTo(path);
  socket.end(request);
  return answerOn(socket);
}
