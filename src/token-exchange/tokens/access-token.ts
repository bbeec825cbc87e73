// The claims of this package's access tokens, and how they are read.
import type { JWTPayload } from 'jose';
import type { ExternalLogin, IssuerKey, RecordedKey } from '../revocation/external-login.js';
import { readExternalLogins, readRecordedKeys } from '../revocation/external-login.js';
import type { RevocableToken } from '../revocation/revocations.js';
import type { PriorActor } from '../verify/external-claims.js';
import type { PerToken } from '../verify/tokens.js';
import { lengthOfCompactJws } from '../verify/compact-jws.js';

/** Signs one access token with a key chosen before. @returns the compact JWT. Secret */
export type AccessTokenSigner = (claims: AccessTokenClaims) => string;

/** The claims of an access token (RFC 9068 §2.2, RFC 8693 §4.1). Undefined properties are not written. */
export interface AccessTokenClaims {
  /** Always the host. */
  readonly iss: string;
  /** The service that the token is for: the host itself, which accepts no other token, or another service. */
  readonly aud: string;
  readonly sub: string;
  readonly act?: ActorClaim;
  /** The client that sent an assertion, otherwise the subject token's issuer. */
  readonly client_id: string;
  /** The jobs of subject and actor, if their entries name the users (D145). A private claim name. */
  readonly workloads?: readonly PriorActor[];
  /** A call with the token needs the rights of actor and subject; undefined: the actor's alone. */
  readonly delegated_rights?: 'both';
  /** The granted scopes, which limit the token; undefined: not limited. */
  readonly scope?: string;
  /** Recorded, not granted (D55). */
  readonly requested_scope?: string;
  /** Recorded, not granted: the requested resource URIs, separated by spaces. */
  readonly requested_resource?: string;
  /** New, and not secret. */
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  /** RFC 9449 §6.1; undefined: a Bearer token. */
  readonly cnf?: { readonly jkt: string };
  /** The keys that signed for the token (D59). A private claim name. The revocation of one of these keys ends the token. */
  readonly vouched_by: readonly RecordedKey[];
  /** The external logins of subject and actor (D131). */
  readonly logins: readonly ExternalLogin[];
  /** The access generations of subject and actor at the decision (D7). Opaque. */
  readonly access_generation?: string;
  readonly actor_access_generation?: string;
}

/**
 * An outermost actor without `iss` is a local user, whose rights apply (RFC 8693 §4.1). All others have their issuer's `iss` and
 * give no rights.
 */
export interface ActorClaim {
  readonly iss?: string;
  readonly sub: string;
  readonly act?: ActorClaim;
}

/** The content of a verified token. */
export interface VerifiedAccessToken {
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** To be compared with each user's present `accessGeneration`. If it differs, access was ended since. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
  /** The client that authenticated to get the token; undefined: issued without a client. */
  readonly clientId?: string;
  /** The keys that signed for subject and actor; undefined: unknown. */
  readonly signedBy: Partial<PerToken<IssuerKey>>;
  /** `both` if actor and subject both need a right. */
  readonly rights: 'actor' | 'both';
  /** The scopes that limit the token; undefined: not limited. */
  readonly scopes?: ReadonlySet<string>;
  readonly expiresAt: Date;
  /** The thumbprint of the key that the token is bound to (DPoP); undefined: a Bearer token. */
  readonly boundTo?: string;
}

/** A token with a verified signature: its content, and what can revoke it. */
export interface ReadToken {
  readonly content: VerifiedAccessToken;
  /** The audience: a service, or this host. */
  readonly audience: string | undefined;
  readonly revocable: RevocableToken;
}

export const ACCESS_TOKEN_TYPE = 'at+jwt';
export const ACCESS_TOKEN_ALGORITHM = 'ES256';
/** RFC 7518 §3.4. */
const SIGNATURE_BYTES = 64;
/** As long as a signing key's: a thumbprint (RFC 7638). */
const ANY_KID = 'k'.repeat(43);

/** The number of characters of a token with these claims. */
export function lengthOfAccessToken(claims: AccessTokenClaims): number {
  const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid: ANY_KID };
  return lengthOfCompactJws(header, claims, SIGNATURE_BYTES);
}

/**
 * Reads claims that this instance signed, and checks their types nevertheless.
 * @rule 4.2.4 Requested scope and resource restrict nothing and are not read. Granted ones are (P.scopes, P.resources).
 */
export function readClaims(claims: JWTPayload): ReadToken {
  const { sub = '', aud, jti = '', iat = 0, exp = 0, act, scope, cnf } = claims;
  const { iss: actorIssuer, sub: named } = (act ?? {}) as Record<string, unknown>;
  const actor = actorIssuer === undefined && typeof named === 'string' ? named : undefined;
  const keys = readRecordedKeys(claims['vouched_by']);
  return {
    content: {
      id: jti,
      subjectUserId: sub,
      actorUserId: actor,
      subjectGeneration: textOf(claims['access_generation']),
      actorGeneration: textOf(claims['actor_access_generation']),
      clientId: clientAmong(claims, keys),
      signedBy: signersAmong(keys),
      rights: claims['delegated_rights'] === 'both' ? 'both' : 'actor',
      scopes: typeof scope === 'string' ? new Set(scope.split(' ')) : undefined,
      expiresAt: new Date(exp * 1000),
      boundTo: cnf === undefined ? undefined : String((cnf as { jkt?: unknown }).jkt),
    },
    audience: textOf(aud),
    revocable: {
      id: jti,
      keys,
      logins: readExternalLogins(claims['logins']),
      sinceMs: iat * 1000,
    },
  };
}

/** One key may have signed for both. */
function signersAmong(keys: readonly IssuerKey[] = []): VerifiedAccessToken['signedBy'] {
  const [subject, actor = subject] = keys;
  return { subject, actor };
}

/** Without a client, `client_id` is the issuer of the subject. */
function clientAmong(claims: JWTPayload, [subject]: readonly IssuerKey[] = []): string | undefined {
  const clientId = textOf(claims['client_id']);
  return clientId === subject?.issuer ? undefined : clientId;
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' ? claim : undefined;
}
