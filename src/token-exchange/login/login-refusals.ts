// Why an embedded login is refused, besides the reasons for all tokens.
import type { Explanation, RequestRefusal, TokenRefusal } from '../refusals/refusal.js';

export const LOGIN_REFUSALS = {
  origin_not_allowed: {
    check: 'origin',
    cause: 'the login was not posted by a page of a listed origin',
    remedy: 'post from a listed origin, or extend `origins`',
    embed: 'Login is not accepted from this origin',
  },
  session_of_another_user: {
    check: 'user',
    cause: "the session to renew is another user's",
    remedy: "renew with the same user's token, or sign the other user in",
    embed: 'The session belongs to another user',
  },
  session_ended: {
    check: 'user',
    cause: 'the bound session to renew has ended, or is bound to another key',
    remedy: 'open a new session, with a new token and without `Authorization`',
    embed: 'The session has ended',
  },
} satisfies Record<string, TokenRefusal>;

export const LOGIN_REQUEST_REFUSALS = {
  method_not_allowed: {
    check: 'endpoint',
    cause: 'the endpoint does not accept this HTTP method; under the strict policy a login is a POST',
    remedy: 'use a method in `Allow`',
    status: 405,
    isSilent: true,
  },
  prefetch: {
    check: 'endpoint',
    cause: 'the browser prefetched a login by GET; the token can still be used',
    remedy: 'no action is needed: the click repeats the login',
    status: 425,
    isSilent: true,
  },
} satisfies Record<string, RequestRefusal>;

export const LOGIN_NOTICES = {
  redirect_replaced: {
    cause: '`redirectTo` was replaced by `/`, because it is not a path of this instance',
    remedy: 'send a path such as `/workflows/1`',
  },
} as const satisfies Record<string, Explanation>;
