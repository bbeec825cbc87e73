// The requests that the operator's pages make to the instance they come from.

const PATIENCE_MS = 30_000;
const API = '/rest/admin';

/** Nobody is signed in: never was, or not any more. */
export class SignedOutError extends Error {}

/** The instance has answered that it does not do this. Its message is for people. */
export class RefusedError extends Error {
  /**
   * @param {{ status: number, word: string, message: string, requestId: string | null, retryAfterSeconds: number | null }} answer
   */
  constructor({ status, word, message, requestId, retryAfterSeconds }) {
    super(message);
    this.status = status;
    this.word = word;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** There was no answer. */
export class UnreachableError extends Error {}

let noteUse = () => undefined;
let noteSignedOut = () => undefined;

/** Who wants to know when the instance has answered somebody who is signed in, and when nobody is. */
export function onSession({ used, ended }) {
  noteUse = used;
  noteSignedOut = ended;
}

/** @returns what the instance answers, undefined where that is nothing */
export function read(path, { signal } = {}) {
  return call('GET', path, { signal });
}

export function post(path, body, { signal } = {}) {
  return call('POST', path, { body, signal });
}

/** @param {{ ifMatch: string }} how `ifMatch`: the revision that the author of the change has seen, in quotes */
export function put(path, body, { signal, ifMatch } = {}) {
  return call('PUT', path, { body, signal, headers: ifMatch && { 'if-match': ifMatch } });
}

export function remove(path, { signal } = {}) {
  return call('DELETE', path, { signal });
}

/** An address below the API's: text in place of each `?`, encoded. */
export function address(pattern, ...parts) {
  return parts.reduce((path, part) => path.replace('?', () => encodeURIComponent(part)), pattern);
}

/** Whether somebody has left the page that asked, so that nobody waits for an answer. */
export function isAborted(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The mode stays `cors`, fetch's default: without a referrer the mode `same-origin` would post `Origin: null`. */
async function call(method, path, { body, signal, headers }) {
  const answer = await send(method, path, { body, signal, headers });
  if (answer.ok) {
    noteUse();
    return answer.status === 204 ? undefined : answer.json();
  }
  const refusal = await refusalOf(answer);
  if (refusal.word !== 'sign_in_required' && refusal.word !== 'operator_session_required') throw refusal;
  noteSignedOut();
  throw new SignedOutError(refusal.message);
}

async function send(method, path, { body, signal, headers }) {
  const signals = [AbortSignal.timeout(PATIENCE_MS), ...(signal ? [signal] : [])];
  const init = {
    method,
    headers,
    signal: AbortSignal.any(signals),
    credentials: 'same-origin',
    cache: 'no-store',
  };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...headers, 'content-type': 'application/json' };
  }
  try {
    return await fetch(`${API}${path}`, init);
  } catch (error) {
    if (signal?.aborted) throw new DOMException('The page was left', 'AbortError');
    throw new UnreachableError('The instance did not answer.', { cause: error });
  }
}

async function refusalOf(answer) {
  const { error, message, requestId } = await answer.json().catch(() => ({}));
  const seconds = Number(answer.headers.get('retry-after') ?? NaN);
  return new RefusedError({
    status: answer.status,
    word: error ?? '',
    message: message ?? `The instance answered ${answer.status}.`,
    requestId: requestId ?? answer.headers.get('x-request-id'),
    retryAfterSeconds: Number.isNaN(seconds) ? null : seconds,
  });
}
