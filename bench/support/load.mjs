// Puts load on a server by autocannon, and keeps what its own report would round away.
import autocannon from 'autocannon';

const SAMPLE_INTERVAL_MS = 50;
const ANSWER_TIMEOUT_SECONDS = 30;
const SHOWN_CHARACTERS = 600;

/**
 * Sends each request once, over connections that are always busy.
 * @param origins where to send them; connections are spread evenly over several
 * @param requests members for autocannon (`body`, `headers`), one for each request
 * @param whenDone called at the moment of the last answer
 * @returns how long it took, and the latency of each answer
 * @throws Error when an answer has another status than expected, or is missing
 */
export async function applyLoad({
  origins,
  path,
  method,
  headers,
  requests,
  connections,
  expectedStatus,
  whenDone = () => undefined,
}) {
  const latenciesMs = new Float64Array(requests.length);
  let sent = 0;
  let answered = 0;
  let endedAt;
  const unexpected = new UnexpectedAnswers(expectedStatus);
  const startedAt = performance.now();
  const run = autocannon({
    url: origins,
    connections: Math.min(connections, requests.length),
    amount: requests.length,
    timeout: ANSWER_TIMEOUT_SECONDS,
    sampleInt: SAMPLE_INTERVAL_MS,
    // A server that is gone would be tried for ever.
    bailout: 1,
    setupClient: (client) => unexpected.watch(client),
    requests: [{ method, path, headers, setupRequest: (request) => ({ ...request, ...requests[sent++] }) }],
  });
  run.on('response', (_client, _status, _bytes, latencyMs) => {
    latenciesMs[answered] = latencyMs;
    answered += 1;
    if (answered < requests.length) return;
    endedAt = performance.now();
    whenDone();
  });
  const { errors } = await run;
  unexpected.refuse();
  if (errors > 0 || answered < requests.length || sent !== requests.length)
    throw new Error(
      `${answered} of ${requests.length} requests were answered (${sent} sent, ${errors} errors).`,
    );
  return { seconds: (endedAt - startedAt) / 1000, latenciesMs };
}

/** Remembers the first answer that nobody expected, with its body, and how many there were. */
class UnexpectedAnswers {
  count = 0;

  constructor(expectedStatus) {
    this.expectedStatus = expectedStatus;
  }

  watch(client) {
    let status;
    client.on('headers', ({ statusCode }) => (status = statusCode));
    client.on('body', (bytes) => {
      if (status !== this.expectedStatus) this.first ??= bytes.toString().slice(-SHOWN_CHARACTERS);
    });
    client.on('response', (statusCode) => {
      if (statusCode === this.expectedStatus) return;
      this.count += 1;
      this.firstStatus ??= statusCode;
    });
  }

  refuse() {
    if (this.count === 0) return;
    const { count, firstStatus, expectedStatus, first = 'without a body' } = this;
    throw new Error(
      `${count} answers had another status than ${expectedStatus}. The first was ${firstStatus}: ${first}`,
    );
  }
}
