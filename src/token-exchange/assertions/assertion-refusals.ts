// Why the client of an assertion is refused, or an identity assertion beside what refuses every token.
import type { TokenRefusal } from '../refusals/refusal.js';

/** RFC 6749 §5.2: the answer names no cause, so that ids cannot be tried. */
const INVALID_CLIENT = { status: 401, error: 'invalid_client', message: 'Client authentication failed' };

export const ASSERTION_REFUSALS = {
  client_credential_missing: {
    check: 'client',
    cause: 'the client has not authenticated',
    remedy: 'the client authenticates by `client_secret_basic`, `client_secret_post` or `private_key_jwt`',
    oauth: INVALID_CLIENT,
  },
  client_unknown: {
    check: 'client',
    cause: 'no trusted entry names the client',
    remedy: 'the operator adds the client (`svc-admin clients add`), or the client corrects its id',
    oauth: INVALID_CLIENT,
  },
  client_credential_invalid: {
    check: 'client',
    cause: "the client's secret or JWT is not valid",
    remedy:
      "the client corrects its secret or JWT: signed by a key of the entry, `iss` and `sub` its id, `aud` this instance's issuer",
    oauth: INVALID_CLIENT,
  },
  client_credential_replayed: {
    check: 'client',
    cause: "the client's JWT was used before",
    remedy: 'the client signs a JWT with a random `jti` for each request',
    oauth: INVALID_CLIENT,
  },
  assertion_not_supported: {
    check: 'claims',
    cause:
      'the identity assertion has `authorization_details`, or a `sub_id` of another format than `iss_sub`',
    remedy: 'the identity provider issues it with a `scope` and without these claims',
  },
  tenant_not_allowed: {
    check: 'claims',
    cause:
      'the identity assertion names a tenant that the entry does not list, or names none although it lists some',
    remedy: "the operator lists the provider's `tenant` and `aud_tenant` in the entry's `tenants`",
  },
  assertion_grants_nothing: {
    check: 'claims',
    cause: "the entry lists none of the assertion's scopes or resources",
    remedy:
      "the identity provider asks for listed ones, or the operator adds to the entry's `scopes` or `resources`",
  },
  client_not_allowed: {
    check: 'parties',
    cause: 'the identity assertion names another client, or the entry does not name the client',
    remedy:
      "the identity provider writes the client's id into `client_id`, or the operator adds the client (`svc-admin clients add`)",
  },
} satisfies Record<string, TokenRefusal>;
