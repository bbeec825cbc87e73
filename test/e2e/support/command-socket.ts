// Speaks to the command socket of a service, as no command does.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { VERSION } from '../../../src/platform/version.js';
import type { TestDatabase } from '../../support/databases.js';

/** Where the service on an embedded database of the tests has its socket. */
export function socketPathOf({ settings }: TestDatabase): string {
  if (settings.kind !== 'embedded') throw new Error('only the embedded database has a command socket');
  return `${settings.directory}/admin/socket`;
}

export async function connectTo(path: string): Promise<Socket> {
  const socket = createConnection(path);
  // What a test sends may be refused while it is still on its way.
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** The beginning of the answer to a request for an operation. */
export async function answerTo(
  path: string,
  operation: string,
  body: string | Uint8Array,
): Promise<IncomingMessage> {
  const headers = { 'x-version': VERSION, 'content-type': 'application/json' };
  const target = { socketPath: path, path: `/${encodeURIComponent(operation)}` };
  const asked = request({ method: 'POST', headers, ...target }).end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return answer;
}

/** The answer line by line. */
export async function sendTo(
  path: string,
  operation: string,
  body: string | Uint8Array,
): Promise<Record<string, unknown>[]> {
  const lines = (await text(await answerTo(path, operation, body))).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}
