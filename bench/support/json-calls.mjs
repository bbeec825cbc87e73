// Calls to the administration APIs of peers: JSON or a form goes in, JSON comes out.

/**
 * Posts a form, or anything else as JSON.
 * @returns what was answered, undefined for nothing
 * @throws Error that shows any answer but a success
 */
export async function callJson(url, body, headers = {}) {
  const isForm = body instanceof URLSearchParams;
  const answer = await fetch(url, {
    method: 'POST',
    headers: isForm ? headers : { 'content-type': 'application/json', ...headers },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${url} was answered with ${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
