// Reads the fields of an embedded login, from the body of a POST or the query of a GET.
import type { HttpRequest } from '../../platform/http/http-answers.js';
import { FlowRefusal } from './flow-refusal.js';
import { Form } from './form.js';

/** The fields of the request; the token is not checked yet. */
export interface EmbedLoginForm {
  readonly token: string;
  readonly redirectTo: string | undefined;
  /** Of a renewal: the local id of the user who has to be the token's. */
  readonly userId: string | undefined;
}

/** The field by which the script for host pages says that a page has to be answered, and its one value. */
export const ANSWER_FIELD = 'answer';
export const ANSWER_PAGE = 'page';

const FIELDS = { token: {}, redirectTo: {}, userId: {}, [ANSWER_FIELD]: {} };

/** Whether the body or address of a post asks for a page, even if the rest of it is broken. */
export function asksForPage({ method, body, query }: HttpRequest): boolean {
  const sent = [body, query] as readonly ({ readonly [ANSWER_FIELD]?: unknown } | null | undefined)[];
  return method === 'POST' && sent.some((fields) => fields?.[ANSWER_FIELD] === ANSWER_PAGE);
}

/**
 * @rule 4.1.1 The token is required.
 * @param sent the fields as they were parsed
 * @throws FlowRefusal `token_missing` or `field_invalid`
 */
export function readEmbedLoginForm(sent: unknown): EmbedLoginForm {
  const form = new Form(sent, FIELDS).wellFormed();
  const token = form.trimmed('token');
  if (token === '') throw new FlowRefusal('token_missing', 'token is required');
  const userId = form.trimmed('userId');
  return { token, redirectTo: form.get('redirectTo'), userId: userId === '' ? undefined : userId };
}
