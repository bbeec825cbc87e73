// The requests that the page makes to the instance it comes from.

const PATIENCE_MS = 15_000;
/** Between the end of a session by another login, and the cookie of that login. */
const COOKIE_MS = 500;
const PAGE_SIZE = '50';

/** The instance knows no session: there was none, or it has ended. */
export class NotSignedInError extends Error {
  /** @param {string} word why, as the instance says it */
  constructor(word) {
    super('The instance knows no session');
    this.reason = word === 'signed_out_by_provider' ? 'signed-out-by-provider' : 'revoked';
  }
}

/** The session is by now that of another user than this page is about. */
export class AnotherUserError extends Error {
  /** @param {string | null} hostOrigin that of the page which posted the other user's login */
  constructor(hostOrigin) {
    super("The session is another user's");
    this.hostOrigin = hostOrigin;
  }
}

/** The instance did not do what it was asked for; its log has the cause by `requestId`, if there is one. */
class RefusedError extends Error {
  constructor(status, requestId) {
    super('The instance refused a request');
    this.status = status;
    this.requestId = requestId;
  }
}

/** Whom this page is about, once that is known: the instance then answers nothing of anybody else (D51). */
let userId = null;

/** From now on all requests are those of a page of this user. */
export function speakFor(id) {
  userId = id;
}

/** Whom this page is about; null where that is not known yet. */
export function spokenFor() {
  return userId;
}

/** Who is signed in. */
export function readAccount(signal) {
  return request('/rest/me', { signal });
}

/** Workflows of what is asked for: the first ones, or those from a cursor on. */
export function readWorkflows(signal, asked, cursor) {
  const query = new URLSearchParams({ limit: PAGE_SIZE, ...asked, ...(cursor && { cursor }) });
  return request(`/api/v1/workflows?${query}`, { signal });
}

/** How many fit what is asked for, up to some number; whether there are more, and no longer counted. */
export function countWorkflows(signal, asked) {
  return request(`/api/v1/workflow-count?${new URLSearchParams(asked)}`, { signal });
}

/** A workflow with its nodes and connections. */
export function readWorkflow(signal, id) {
  return request(`/api/v1/workflows/${encodeURIComponent(id)}`, { signal });
}

/** The project of a workflow and those who may edit in it; null where the instance does not tell. */
export async function readProject(signal, id) {
  const path = `/api/v1/projects/${encodeURIComponent(id)}`;
  const [project, members] = await Promise.all(
    [path, `${path}/users?limit=250`].map((address) => optional(request(address, { signal }))),
  );
  return { project, editors: members?.data.filter(({ role }) => role !== 'project:viewer') ?? null };
}

export function signOut(signal) {
  return request('/rest/auth/logout', { method: 'POST', signal });
}

/** Activates or deactivates a workflow; answers it as it is then, or undefined where the instance does not say. */
export function changeWorkflow(signal, id, active) {
  const path = `/api/v1/workflows/${encodeURIComponent(id)}/${active ? 'activate' : 'deactivate'}`;
  return request(path, { method: 'POST', signal });
}

function optional(answer) {
  return answer.catch((error) => {
    if (error instanceof RefusedError) return null;
    throw error;
  });
}

/**
 * Asks once more where that may help: another frame's login has ended this session, and its cookie may not be here yet; or what only
 * reads had no answer, as on a machine that has slept.
 * @returns what the instance has answered; undefined where that is nothing
 * @throws NotSignedInError, AnotherUserError or RefusedError; TypeError or DOMException when there was no answer
 */
async function request(path, { method = 'GET', signal }) {
  try {
    return await ask(path, method, signal);
  } catch (error) {
    const isRefused = error instanceof RefusedError || error instanceof AnotherUserError;
    const mayHelp = error instanceof NotSignedInError ? userId !== null : method === 'GET' && !isRefused;
    if (!mayHelp || signal.aborted) throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, COOKIE_MS));
  signal.throwIfAborted();
  return ask(path, method, signal);
}

/**
 * The mode stays `cors`, fetch's default: in mode `same-origin` a page without referrer posts `Origin: null`, which
 * the instance takes for a forgery.
 */
async function ask(path, method, signal) {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const headers = userId === null ? {} : { 'x-session-user': userId };
  const answer = await fetch(path, { method, headers, signal: patience });
  const text = await answer.text();
  if (answer.ok) return text === '' ? undefined : JSON.parse(text);
  const { error, hostOrigin } = refusalIn(text);
  if (error === 'session_of_another_user') throw new AnotherUserError(hostOrigin);
  if (answer.status === 401) throw new NotSignedInError(error);
  throw new RefusedError(answer.status, answer.headers.get('x-request-id'));
}

/** A refusal of the instance; empty where something else has answered, such as a proxy. */
function refusalIn(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
