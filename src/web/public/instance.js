// The requests that the page makes to the instance it comes from.

const PATIENCE_MS = 15_000;
const PAGE_SIZE = '100';

/** The instance knows no session: there was none, or it has ended. */
export class NotSignedInError extends Error {}

/** The instance did not do what it was asked for. */
export class RefusedError extends Error {
  /** @param {string | null} requestId finds the cause in the log of the instance */
  constructor(requestId) {
    super('The instance refused a request');
    this.requestId = requestId;
  }
}

/** Who is signed in. */
export async function readAccount(signal) {
  return (await request('/rest/me', { signal })).json();
}

/** A page of workflows: the first one, or the one that begins at a cursor. */
export async function readWorkflows(signal, cursor) {
  const query = new URLSearchParams({ limit: PAGE_SIZE, ...(cursor && { cursor }) });
  return (await request(`/api/v1/workflows?${query}`, { signal })).json();
}

export async function signOut(signal) {
  await request('/rest/auth/logout', { method: 'POST', signal });
}

/** Activates or deactivates a workflow; answers it as it is then, or undefined where the instance does not say. */
export async function changeWorkflow(signal, id, active) {
  const path = `/api/v1/workflows/${encodeURIComponent(id)}/${active ? 'activate' : 'deactivate'}`;
  const answer = await request(path, { method: 'POST', signal });
  return answer.status === 204 ? undefined : answer.json();
}

/**
 * The mode stays `cors`, fetch's default: in mode `same-origin` a page without referrer posts `Origin: null`, which
 * the instance takes for a forgery.
 * @throws NotSignedInError or RefusedError; TypeError or DOMException when there was no answer
 */
async function request(path, { method = 'GET', signal }) {
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const answer = await fetch(path, { method, signal: patience });
  if (answer.status === 401) throw new NotSignedInError();
  if (!answer.ok) throw new RefusedError(answer.headers.get('x-request-id'));
  return answer;
}
