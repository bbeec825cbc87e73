// Sends requests at a fixed rate whatever comes back, in a process of its own; told by its parent, which it tells what came.
// Bytes by hand: a client that takes half of the machine could not send three times of what the service can do.
import { connect } from 'node:net';

const MOST_CONNECTIONS = 2_000;
const PAUSE_MS = 1;
/** What has no answer by then has none. */
const PATIENCE_MS = 15_000;
const LENGTH = /\r\ncontent-length: (\d+)/i;

process.once('message', (order) => {
  void rush(order).then((told) => process.send(told, () => process.disconnect()));
});

/**
 * @param order `port`, `path`, `bodies` (each sent once), `perSecond`, `opened`: connections that are there before the first is due
 * @returns for each request when it was due, in ms since the first, its status (0: none), and its latency since then
 */
async function rush({ port, path, bodies, perSecond, opened }) {
  const requests = bodies.map((body) => requestBytes(path, body));
  const results = requests.map((_, index) => ({ dueMs: (index * 1000) / perSecond, status: 0, ms: 0 }));
  const idle = [];
  const all = new Set();
  let startedAt = performance.now();
  let open = 0;
  let waiting = 0;
  const send = (index) => {
    waiting += 1;
    const finish = (status) => {
      waiting -= 1;
      const { dueMs } = results[index];
      results[index] = { dueMs, status, ms: performance.now() - startedAt - dueMs };
    };
    const socket = idle.pop() ?? newConnection();
    if (socket === undefined) return finish(0);
    socket.finish = finish;
    socket.write(requests[index]);
  };
  const newConnection = () => {
    if (open >= MOST_CONNECTIONS) return undefined;
    open += 1;
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
      open -= 1;
      all.delete(socket);
      const at = idle.indexOf(socket);
      if (at >= 0) idle.splice(at, 1);
      socket.finish?.(0);
    });
    return socket;
  };
  await Promise.all(Array.from({ length: opened }, () => served(newConnection())));
  startedAt = performance.now();
  let sent = 0;
  while (sent < requests.length) {
    while (sent < requests.length && performance.now() - startedAt >= results[sent].dueMs) send(sent++);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const sentMs = performance.now() - startedAt;
  const deadline = performance.now() + PATIENCE_MS;
  while (waiting > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  for (const socket of all) socket.destroy();
  return { results, sentMs };
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
  const length = Number(LENGTH.exec(text.slice(0, end))?.[1] ?? 0);
  return text.length >= end + 4 + length ? Number(text.slice(9, 12)) : undefined;
}
