// Why an embedded login is refused beside what refuses every token.
import type { Explanation, RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

export const LOGIN_REFUSALS = {
  origin_not_allowed: {
    check: 'origin',
    cause: 'no page of an origin that the entry lists has posted the login',
    remedy:
      'the partner posts the login from a page of one of these origins, or the operator adds the origin to `origins` of the entry',
    embed: 'Login is not accepted from this origin',
  },
  session_of_another_user: {
    check: 'user',
    cause: 'the token belongs to another user than the session that it should renew',
    remedy: 'the partner renews the session with a token of its user, and signs another user in by a login',
    embed: 'The session is that of another user',
  },
  session_ended: {
    check: 'user',
    cause: 'the bound session that the login should renew has ended, or is bound to another key',
    remedy: 'the page opens a new session, with a new token and without `Authorization`',
    embed: 'The session has ended',
  },
} satisfies Record<string, TokenRefusal>;

export const LOGIN_REQUEST_REFUSALS = {
  method_not_allowed: {
    check: 'endpoint',
    cause: 'the endpoint does not accept this HTTP method; under the strict policy a login is a POST',
    remedy: 'the client uses a method that `Allow` of the answer names',
    status: 405,
    isSilent: true,
  },
  prefetch: {
    check: 'endpoint',
    cause:
      'the browser has fetched a login by GET in advance, before the user followed the link; the token can still be used',
    remedy: 'none is needed: the login follows with the click; a login by POST is never prefetched',
    status: 425,
    isSilent: true,
  },
} satisfies Record<string, RequestRefusal>;

export const LOGIN_NOTICES = {
  redirect_replaced: {
    cause: 'the service has replaced `redirectTo` by `/`: it is not a path on this instance',
    remedy: 'the partner sends a path, such as `/workflows/1`, without scheme and host',
  },
} as const satisfies Record<string, Explanation>;
