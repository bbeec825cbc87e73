// Puts load on servers: as much as they take, or at a fixed rate.
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, requestBytes } from './connection.mjs';

const PATIENCE_MS = 30_000;
const SHOWN_CHARACTERS = 600;

/**
 * Sends each request once. Connections are always busy, or at a rate evenly over time; then latency counts from the moment at which a
 * request was due, so that a server that falls behind cannot hide it.
 * @param origins where to send them; connections are spread evenly over several
 * @param requests the bytes of each
 * @param perSecond the rate, if any
 * @param whenDone called at the moment of the last answer
 * @returns how long it took, and the latency of each answer
 * @throws Error when an answer has another status than expected, or is missing
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

/** The requests of a kind of load and their bytes, made before they are sent. */
export async function preparedRequests(origin, { requests, ...kind }, count) {
  const made = await requests(count);
  return { made, bytes: made.map((request) => requestBytes(origin, { ...kind, ...request })) };
}

/** Sends so many requests of a kind of load to one server, outside of all measurement, and answers them. */
export async function sendAll({ server: { origin } }, load, count, connections) {
  const { made, bytes } = await preparedRequests(origin, load, count);
  await applyLoad({ ...load, origins: [origin], requests: bytes, connections });
  return made;
}
