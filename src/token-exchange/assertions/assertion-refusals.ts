// Why the client of an assertion is refused, or an identity assertion beside what refuses every token.
import type { TokenRefusal } from '../refusals/refusal.js';

/** RFC 6749 §5.2: the answer names no cause, so that ids cannot be tried. */
const INVALID_CLIENT = { status: 401, error: 'invalid_client', message: 'Client authentication failed' };

export const ASSERTION_REFUSALS = {
  client_credential_missing: {
    check: 'client',
    cause:
      'an identity assertion or an introspection request came without credentials of a client; public clients are refused',
    remedy: 'the client authenticates by `client_secret_basic`, `client_secret_post` or `private_key_jwt`',
    oauth: INVALID_CLIENT,
  },
  client_unknown: {
    check: 'client',
    cause: 'no trusted entry names the client',
    remedy:
      'the operator adds the client to an entry (`svc-admin clients add`), or the client sends the id that the entry has',
    oauth: INVALID_CLIENT,
  },
  client_credential_invalid: {
    check: 'client',
    cause: 'the secret of the client is wrong, or its JWT is not valid',
    remedy:
      'the client sends the secret that `svc-admin clients add` printed, or corrects its JWT: a key of the entry signs it, `iss` and `sub` are its id, `aud` is the issuer of this instance',
    oauth: INVALID_CLIENT,
  },
  client_credential_replayed: {
    check: 'client',
    cause: 'the JWT by which the client authenticates was used before',
    remedy: 'the client signs a JWT for each request, with a random `jti`, and sends it once',
    oauth: INVALID_CLIENT,
  },
  assertion_not_supported: {
    check: 'claims',
    cause:
      'the identity assertion has `authorization_details`, which the service cannot apply, or a `sub_id` of another format than `iss_sub`',
    remedy: 'the identity provider issues it with a `scope` and without these claims',
  },
  tenant_not_allowed: {
    check: 'claims',
    cause:
      'the identity assertion names a tenant that its entry does not list, or none although the entry lists some',
    remedy:
      'the operator lists each `tenant` and `aud_tenant` of the identity provider in `tenants` of the entry',
  },
  assertion_grants_nothing: {
    check: 'claims',
    cause: 'the identity assertion names scopes, or services (`resource`), none of which its entry lists',
    remedy:
      'the identity provider issues it for this instance with scopes of the entry, or the operator adds to `scopes` or `resources` of the entry',
  },
  client_not_allowed: {
    check: 'parties',
    cause:
      'the identity assertion names another client than the one that sent it, or its entry does not name that client',
    remedy:
      'the identity provider writes the id that the client has here into `client_id`, or the operator adds the client to the entry (`svc-admin clients add`)',
  },
} satisfies Record<string, TokenRefusal>;
