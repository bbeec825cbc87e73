// Why no access token is issued for valid tokens.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const EXCHANGE_REFUSALS = {
  actor_required: {
    check: 'parties',
    cause: 'the entry requires an actor',
    remedy: 'add an actor token, or remove `requireActor`',
    embed: 'Token is accepted only with an actor',
  },
  actor_not_allowed: {
    check: 'parties',
    cause: 'the subject token names another actor (`may_act`)',
    remedy: "name this actor in `may_act`, or send the named actor's token",
  },
  act_for_not_allowed: {
    check: 'parties',
    cause: "the actor's entry may not act for subjects of this issuer",
    remedy: "add the issuer to that entry's `actFor`",
  },
  remaining_lifetime_too_short: {
    check: 'remaining lifetime',
    cause: 'the token expires too soon for an access token',
    remedy: 'send it sooner, or with a longer lifetime',
  },
  scope_not_allowed: {
    check: 'grants',
    cause: 'the entries allow none of the requested scopes',
    remedy: 'request scopes that all entries list, or add them',
    oauth: { status: 400, error: 'invalid_scope', message: 'None of the scopes can be granted' },
  },
  resource_not_allowed: {
    check: 'grants',
    cause: 'the requested `resource` is not listed, or there are several',
    remedy: 'request one that all entries list, or add it',
    oauth: { status: 400, error: 'invalid_target', message: 'No token is issued for this resource' },
  },
  access_token_too_large: {
    check: 'grants',
    cause: 'the access token would have more than 12,288 characters',
    remedy: 'shorten `scope`, `resource` or the `act` chain',
    oauth: { status: 400, error: 'invalid_request', message: 'The access token would be too large' },
  },
} satisfies Record<string, TokenRefusal>;

export const EXCHANGE_NOTICES = {
  token_type_ignored: {
    cause: 'a token type was ignored: every token is read as a JWT',
    remedy: 'send the expected type, which other servers require (RFC 8693)',
  },
} as const satisfies Record<string, Explanation>;
