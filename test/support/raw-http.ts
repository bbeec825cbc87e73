// Speaks HTTP byte by byte, for requests that `fetch` would not send.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** What a server answered. Names of headers are in lower case; of a repeated one the last counts. */
export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** The server ended the connection: it was not left because the server said no more. */
  isClosed: boolean;
}

/** A request in its parts; `Host`, and the length of the body, are added. */
export interface RawRequest {
  method?: string;
  /** The request target as it goes on the wire: neither normalised nor encoded. */
  target: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

const PATIENCE_MS = 60_000;
/** A connection that stays open after an answer is left. */
const LEAVES_AFTER_MS = 10_000;

/** Sends one request on a connection of its own. Undefined when the server closed it without an answer. */
export function sendRaw(address: string, request: RawRequest): Promise<RawAnswer | undefined> {
  const { method = 'GET', target, headers = {}, body = '' } = request;
  const bytes = Buffer.from(body);
  const fields = { host: 'instance.example', connection: 'close', ...headers };
  const length = bytes.length > 0 ? { 'content-length': String(bytes.length), ...fields } : fields;
  const lines = Object.entries(length).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return sendBytes(address, Buffer.concat([head, bytes]));
}

/**
 * Sends bytes that need not be HTTP at all, and reads until the server closes or falls silent.
 * @param leavesAfterMs how long it waits after an answer for the server to close
 * @throws Error if the server neither answers nor closes the connection
 */
export async function sendBytes(
  address: string,
  bytes: Uint8Array,
  leavesAfterMs = LEAVES_AFTER_MS,
): Promise<RawAnswer | undefined> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  // A server may close while we still write. Its earlier answer is valid.
  socket.on('error', () => undefined);
  let isClosed = true;
  socket.setTimeout(PATIENCE_MS, () => {
    isClosed = false;
    socket.destroy();
  });
  socket.once('data', () => socket.setTimeout(leavesAfterMs));
  socket.write(bytes);
  const answer = parse(await readToEnd(socket));
  if (!isClosed && socket.bytesRead === 0)
    throw new Error('the server neither answers nor closes the connection');
  return answer && { ...answer, isClosed };
}

/** Sends bytes and breaks the connection without waiting for an answer. */
export async function sendAndLeave(address: string, text: string): Promise<void> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(text, resolve));
  socket.resetAndDestroy();
}

async function readToEnd(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

function parse(bytes: Buffer): Omit<RawAnswer, 'isClosed'> | undefined {
  const [head = '', ...rest] = bytes.toString('latin1').split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) return undefined;
  const headers = Object.fromEntries(lines.map(splitHeader));
  const body = rest.join('\r\n\r\n');
  return { status, headers, body: headers['transfer-encoding'] === 'chunked' ? unchunked(body) : body };
}

function splitHeader(line: string): [string, string] {
  const at = line.indexOf(':');
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
}

function unchunked(body: string): string {
  const parts = [...body.matchAll(/(?:^|\r\n)[0-9a-f]+\r\n([\s\S]*?)(?=\r\n[0-9a-f]+\r\n)/gi)];
  return parts.map(([, part]) => part).join('');
}
