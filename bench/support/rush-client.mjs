// Sends requests at constant rates without waiting for responses, in a separate process, and reports the results to its parent.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.mjs';

/** Below the service's connection limit, above which it closes new connections. */
const MAX_CONNECTIONS = 4_000;
const OPENED_AT_ONCE = 50;
const PAUSE_MS = 1;
/** After this time, a request is considered to be without a response. */
const PATIENCE_MS = 15_000;
const RETRY_AFTER = /\r\nretry-after: \d/i;

/** Each request's bytes, and the time at which it is due, in milliseconds after the start. */
const prepared = [];
let dueMs = 0;

process.on('message', ({ origin, requests, perSecond, opened }) => {
  for (const request of requests ?? [])
    prepared.push({ bytes: requestBytes(origin, request), dueMs: (dueMs += 1000 / perSecond) });
  if (opened !== undefined)
    void rush(origin, opened).then((results) => process.send({ results }, () => process.disconnect()));
});

/**
 * Sends each prepared request once.
 * @param opened the number of connections that are opened before the first request
 * @returns each request's due time, status, and latency since it was due. The status is 0 without a response, or for a 503 without
 *   Retry-After
 */
async function rush(origin, opened) {
  const results = prepared.map((request) => ({ dueMs: request.dueMs, status: 0, ms: 0 }));
  const all = new Set(await openedConnections(origin, opened));
  const idle = [...all];
  const startedAt = performance.now();
  let waiting = 0;
  const send = async ({ bytes }, result) => {
    if (idle.length === 0 && all.size === MAX_CONNECTIONS) return;
    const connection = idle.pop() ?? new Connection(origin);
    all.add(connection);
    waiting += 1;
    const { status, text } = await connection.send(bytes);
    waiting -= 1;
    idle.push(connection);
    result.ms = performance.now() - startedAt - result.dueMs;
    result.status = status === 503 && !RETRY_AFTER.test(text) ? 0 : status;
  };
  for (let next = 0; next < prepared.length; await delay(PAUSE_MS)) {
    while (next < prepared.length && performance.now() - startedAt >= prepared[next].dueMs) {
      void send(prepared[next], results[next]);
      next += 1;
    }
  }
  const deadline = performance.now() + PATIENCE_MS;
  while (waiting > 0 && performance.now() < deadline) await delay(PAUSE_MS);
  for (const connection of all) connection.close();
  return results;
}

/** Sends a request on each connection, because only a response proves that the server has accepted it. */
async function openedConnections(origin, count) {
  const greeting = requestBytes(origin, { method: 'GET', path: '/healthz' });
  const all = Array.from({ length: count }, () => new Connection(origin));
  for (let start = 0; start < count; start += OPENED_AT_ONCE)
    await Promise.all(
      all.slice(start, start + OPENED_AT_ONCE).map((connection) => connection.send(greeting)),
    );
  return all;
}
