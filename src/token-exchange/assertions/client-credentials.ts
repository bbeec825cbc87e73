// Reads a client's credentials (RFC 6749 §2.3, RFC 7523 §2.2).
import type { Form } from '../endpoint/form.js';
import { invalidField, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ClientCredentials } from './client-authenticator.js';

/** The fields by which a client authenticates. */
export const CLIENT_FIELDS = {
  client_id: {},
  client_secret: {},
  client_assertion: {},
  client_assertion_type: {},
};
type ClientForm = Pick<Form<keyof typeof CLIENT_FIELDS>, 'get'>;

/** The authentication methods of clients, as metadata name them. */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

const JWT_ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const NOT_ENCODED = 'the Basic credential is not form-encoded (RFC 6749 §2.3.1)';
const BASIC = /^Basic +([\w+/-]+={0,2}) *$/i;

/**
 * The credentials of a request; undefined if it has none.
 * @param authorization the header of that name
 * @throws OAuthRefusal `field_invalid` for several methods at once, or an incomplete one
 * @throws OAuthRefusal `client_credential_invalid` for an unreadable header
 */
export function readClientCredentials(
  form: ClientForm,
  authorization: string | undefined,
): ClientCredentials | undefined {
  const sent = [authorization, form.get('client_secret'), form.get('client_assertion')];
  if (sent.filter(Boolean).length > 1) throw invalidField('the client must authenticate in one way only');
  const id = form.get('client_id') || undefined;
  if (authorization) return basic(authorization, id);
  if (form.get('client_secret')) return post(form, id);
  return form.get('client_assertion') ? byAssertion(form, id) : undefined;
}

/** Reads the header. Id and secret are form-encoded in it (RFC 6749 §2.3.1). */
function basic(authorization: string, id: string | undefined): ClientCredentials {
  const [, encoded = ''] = BASIC.exec(authorization) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1) throw unreadable('the Authorization header is no Basic credential');
  // A URL as id: `https://…` instead of `https%3A//…`.
  if (/^https?:\/\//i.test(text)) throw unreadable(`${NOT_ENCODED}: the colon of its id must be %3A`);
  const sent = { id: unescaped(text.slice(0, colon)), secret: unescaped(text.slice(colon + 1)) };
  if (id !== undefined && id !== sent.id)
    throw invalidField('client_id must be that of the Authorization header');
  return sent;
}

function post(form: ClientForm, id: string | undefined): ClientCredentials {
  if (id === undefined) throw invalidField('client_id is required with client_secret');
  return { id, secret: form.get('client_secret') ?? '' };
}

function byAssertion(form: ClientForm, id: string | undefined): ClientCredentials {
  if (form.get('client_assertion_type') !== JWT_ASSERTION)
    throw invalidField(`client_assertion_type must be ${JWT_ASSERTION}`);
  return { id, assertion: (form.get('client_assertion') ?? '').trim() };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw unreadable(`${NOT_ENCODED}: a percent sign must be %25`);
  }
}

function unreadable(detail: string): OAuthRefusal {
  return new OAuthRefusal('client_credential_invalid', { detail });
}
