// Why an embedded login is refused, besides the reasons for all tokens.
import { event, integer, listOf, oneOf, optional, text, uuid } from '../audit/event-members.js';
import {
  CLIENT_ADDRESS,
  IGNORED_ROLE,
  ISSUER,
  KID,
  PRIOR_ACTORS,
  REFUSAL,
  SESSION_FAMILY_ID,
} from '../audit/shared-members.js';
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

export const LOGIN_EVENTS = {
  /** @rule 6.3 An embedded login succeeded. */
  'svc.audit.token-exchange.embed-login': event(
    'An embedded login has opened a session.',
    {
      issuer: ISSUER,
      kid: KID,
      sessionFamilyId: optional(SESSION_FAMILY_ID),
      replacedRedirect: optional(text('Why the browser went to `/` instead of `redirectTo`.')),
      ...IGNORED_ROLE,
      priorActors: PRIOR_ACTORS,
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'embed', is: 'succeeded' },
  ),
  /** @rule 6.4 An embedded login was refused; the event holds the reason. */
  'svc.audit.token-exchange.embed-login-failed': event('An embedded login failed.', REFUSAL, {
    of: 'embed',
    is: 'failed',
  }),
  'svc.audit.token-exchange.user-signed-out': event(
    'All sessions and access tokens of the subject were ended.',
    { sessions: integer('') },
  ),
  'svc.audit.session.ended': event('Sessions of the subject were ended early.', {
    sessions: integer(''),
    cause: oneOf(
      ['signed-out', 'replaced', 'too-many', 'ended-by-operator', 'signed-out-by-provider'],
      '`replaced`: by another login in the same browser. `too-many`: above the limit.',
    ),
    sessionFamilyIds: listOf(uuid(''), '', {
      minItems: 1,
      uniqueItems: true,
    }),
  }),
};
