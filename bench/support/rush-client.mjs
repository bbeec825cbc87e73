// Sends requests at constant rates whatever comes back, in a process of its own; told by its parent, which it tells what came.
// Bytes by hand: a client that takes half of the machine could not send three times of what the service can do.
import { connect } from 'node:net';

const MOST_CONNECTIONS = 9_500;
const OPENED_AT_ONCE = 50;
const PAUSE_MS = 1;
/** What has no answer by then has none. */
const PATIENCE_MS = 15_000;
const LENGTH = /\r\ncontent-length: (\d+)/i;
const RETRY_AFTER = /\r\nretry-after: \d/i;

/** @type {{ body: string, perSecond: number }[]} */
const told = [];

process.on('message', (order) => {
  if (order.bodies !== undefined)
    told.push(...order.bodies.map((body) => ({ body, perSecond: order.perSecond })));
  else void rush(order).then((results) => process.send({ results }, () => process.disconnect()));
});

/**
 * Sends what it was told, each once.
 * @param order `port`, `path`, `opened`: connections that are there before the first is due
 * @returns for each request when it was due, in ms since the first, its status (0: none, or a 503 without Retry-After), and its latency
 *   since it was due
 */
async function rush({ port, path, opened }) {
  const requests = told.map(({ body }) => requestBytes(path, body));
  let dueMs = 0;
  const results = told.map(({ perSecond }) => ({ dueMs: (dueMs += 1000 / perSecond), status: 0, ms: 0 }));
  const idle = [];
  const all = new Set();
  let startedAt = performance.now();
  let waiting = 0;
  const send = (index) => {
    waiting += 1;
    const finish = (status) => {
      waiting -= 1;
      const result = results[index];
      result.status = status;
      result.ms = performance.now() - startedAt - result.dueMs;
    };
    const socket = idle.pop() ?? newConnection();
    if (socket === undefined) return finish(0);
    socket.finish = finish;
    socket.write(requests[index]);
  };
  const newConnection = () => {
    if (all.size >= MOST_CONNECTIONS) return undefined;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    all.add(socket);
    let unread = '';
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      unread += text;
      const status = statusOfWhole(unread);
      if (status === undefined) return;
      unread = '';
      const { finish } = socket;
      socket.finish = undefined;
      idle.push(socket);
      finish?.(status);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      all.delete(socket);
      const at = idle.indexOf(socket);
      if (at >= 0) idle.splice(at, 1);
      socket.finish?.(0);
    });
    return socket;
  };
  for (let count = 0; count < opened; count += OPENED_AT_ONCE)
    await Promise.all(Array.from({ length: OPENED_AT_ONCE }, () => served(newConnection())));
  startedAt = performance.now();
  let sent = 0;
  while (sent < requests.length) {
    while (sent < requests.length && performance.now() - startedAt >= results[sent].dueMs) {
      send(sent++);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const deadline = performance.now() + PATIENCE_MS;
  while (waiting > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  for (const socket of all) socket.destroy();
  return results;
}

/** A connection that has had an answer has surely been taken. */
function served(socket) {
  return new Promise((resolve) => {
    socket.finish = resolve;
    socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  });
}

function requestBytes(path, body) {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

function statusOfWhole(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const length = Number(LENGTH.exec(head)?.[1] ?? 0);
  if (text.length < end + 4 + length) return undefined;
  const status = Number(head.slice(9, 12));
  return status === 503 && !RETRY_AFTER.test(head) ? 0 : status;
}
