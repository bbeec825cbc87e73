// Sends load to servers, at their maximum or at a fixed rate.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.mjs';

const PATIENCE_MS = 30_000;
const SHOWN_CHARACTERS = 600;

/**
 * Sends each request once. Without a rate, all connections are always busy. With a rate, latency is measured from the time
 * at which a request was due, so that it includes the delay of a slow server.
 * @param origins the servers; the connections are spread evenly over them
 * @param requests the requests' bytes
 * @param perSecond the rate, if any
 * @param whenDone called after the last response
 * @returns the duration in seconds, and each response's latency in milliseconds
 * @throws Error if a response is missing or has an unexpected status
 */
export async function applyLoad({ origins, requests, connections, expectedStatus, perSecond, whenDone }) {
  const latenciesMs = new Float64Array(requests.length);
  const startedAt = performance.now();
  let next = 0;
  const sendInTurn = async (connection) => {
    while (next < requests.length) {
      const index = next++;
      const begun = perSecond ? startedAt + (index * 1000) / perSecond : performance.now();
      const waitMs = Math.ceil(begun - performance.now());
      if (waitMs > 0) await delay(waitMs);
      const { status, text } = await connection.send(requests[index]);
      latenciesMs[index] = performance.now() - begun;
      if (status === expectedStatus) continue;
      next = requests.length;
      const shown = text.slice(-SHOWN_CHARACTERS);
      throw new Error(`A request was answered with ${status} instead of ${expectedStatus}: ${shown}`);
    }
  };
  const opened = Array.from(
    { length: Math.min(connections, requests.length) },
    (_, index) => new Connection(origins[index % origins.length], PATIENCE_MS),
  );
  try {
    await Promise.all(opened.map(sendInTurn));
  } finally {
    for (const connection of opened) connection.close();
  }
  const seconds = (performance.now() - startedAt) / 1000;
  whenDone?.();
  return { seconds, latenciesMs };
}

/** Makes a load's requests and their bytes before they are sent. */
export async function preparedRequests(origin, { requests, ...kind }, count) {
  const made = await requests(count);
  return { made, bytes: made.map((request) => requestBytes(origin, { ...kind, ...request })) };
}

/** Sends `count` requests of a load to one server without measuring, and returns the requests. */
export async function sendAll({ server: { origin } }, load, count, connections) {
  const { made, bytes } = await preparedRequests(origin, load, count);
  await applyLoad({ ...load, origins: [origin], requests: bytes, connections });
  return made;
}
