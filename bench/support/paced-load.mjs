// Puts load on a server at a fixed rate, whether or not it keeps up.
//
// Autocannon has a rate too, but it sends a second's requests as fast as it can and pauses for the rest of the second.
// That is full load in bursts, and its latencies are those of full load.
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

const PAUSE_MS = 1;

/**
 * Sends each request once, evenly over time. Latency counts from the moment at which the request was due, so that a
 * server that falls behind cannot hide it.
 * @param requests members for undici (`body`, `headers`), one for each request
 * @throws Error when an answer has another status than expected
 */
export async function applyPacedLoad({
  origins: [origin],
  requests,
  connections,
  perSecond,
  whenDone = () => undefined,
  ...kind
}) {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const latenciesMs = new Float64Array(requests.length);
  const startedAt = performance.now();
  const dueMs = (index) => startedAt + (index * 1000) / perSecond;
  const answers = [];
  while (answers.length < requests.length) {
    while (answers.length < requests.length && dueMs(answers.length) <= performance.now()) {
      const index = answers.length;
      const answer = send(pool, kind, requests[index]);
      answers.push(answer.then(() => (latenciesMs[index] = performance.now() - dueMs(index))));
    }
    await delay(PAUSE_MS);
  }
  await Promise.all(answers);
  const seconds = (performance.now() - startedAt) / 1000;
  whenDone();
  await pool.close();
  return { seconds, latenciesMs };
}

async function send(pool, { path, method, headers, expectedStatus }, request) {
  const { statusCode, body } = await pool.request({ path, method, headers, ...request });
  const text = await body.text();
  if (statusCode !== expectedStatus)
    throw new Error(`A request was answered with ${statusCode} instead of ${expectedStatus}: ${text}`);
}
