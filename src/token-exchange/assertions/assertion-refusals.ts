// Why a client or an identity assertion is refused, besides the reasons for all tokens.
import type { TokenRefusal } from '../refusals/refusal.js';

/** RFC 6749 §5.2: the answer names no cause, so that ids cannot be tried. */
const INVALID_CLIENT = { status: 401, error: 'invalid_client', message: 'Client authentication failed' };

export const ASSERTION_REFUSALS = {
  client_credential_missing: {
    check: 'client',
    cause: 'the client has not authenticated',
    remedy: 'send a secret or a `private_key_jwt`',
    oauth: INVALID_CLIENT,
  },
  client_unknown: {
    check: 'client',
    cause: 'no trusted entry names the client',
    remedy: 'add it (`svc-admin clients add`), or correct its id',
    oauth: INVALID_CLIENT,
  },
  client_credential_invalid: {
    check: 'client',
    cause: "the client's secret or JWT is not valid",
    remedy:
      "correct the secret, or the JWT (`iss` and `sub`: the client's id; `aud`: this instance's issuer)",
    oauth: INVALID_CLIENT,
  },
  client_credential_replayed: {
    check: 'client',
    cause: "the client's JWT was used before",
    remedy: 'sign each JWT with a random `jti`',
    oauth: INVALID_CLIENT,
  },
  assertion_not_supported: {
    check: 'claims',
    cause: 'the assertion has `authorization_details`, or a `sub_id` other than `iss_sub`',
    remedy: 'use `scope`, and omit these claims',
  },
  tenant_not_allowed: {
    check: 'claims',
    cause: 'the assertion names no tenant, or one that the entry does not list',
    remedy: "add the provider's `tenant` and `aud_tenant`",
  },
  assertion_grants_nothing: {
    check: 'claims',
    cause: "the entry lists none of the assertion's scopes or resources",
    remedy: 'request listed ones, or add them',
  },
  client_not_allowed: {
    check: 'parties',
    cause: 'the assertion names another client, or its entry does not name this one',
    remedy: 'correct `client_id`, or add the client (`svc-admin clients add`)',
  },
} satisfies Record<string, TokenRefusal>;
