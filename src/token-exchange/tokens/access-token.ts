// The contents of an access token of this package: its claims, and what is read of them.
import type { JWTPayload } from 'jose';
import type { ExternalLogin, IssuerKey, RecordedKey } from '../revocation/external-login.js';
import { readExternalLogins, readRecordedKeys } from '../revocation/external-login.js';
import type { RevocableToken } from '../revocation/revocations.js';
import type { PriorActor } from '../verify/external-claims.js';
import type { PerToken } from '../verify/tokens.js';
import { lengthOfCompactJws } from '../verify/compact-jws.js';

/** Signs one access token, by a key that is there already. @returns the compact JWT. Secret */
export type AccessTokenSigner = (claims: AccessTokenClaims) => string;

/** The claims of an access token (RFC 9068 §2.2, RFC 8693 §4.1). A member that is undefined is not written. */
export interface AccessTokenClaims {
  /** Always the host. */
  readonly iss: string;
  /** The service that the token is for: the host itself, which takes no other token, or another one. */
  readonly aud: string;
  readonly sub: string;
  readonly act?: ActorClaim;
  /** The client that has sent an assertion, else the issuer of the subject token. */
  readonly client_id: string;
  /** D145, under a name of our own: of the subject, and of the actor, as far as their entries name the users. */
  readonly workloads?: readonly PriorActor[];
  /** A call with the token needs the rights of actor and subject; undefined: those of the actor. */
  readonly delegated_rights?: 'both';
  /** The scopes that are granted, which limit the token; undefined: it is not limited. */
  readonly scope?: string;
  /** Recorded, not granted (D55). */
  readonly requested_scope?: string;
  /** Recorded, not granted: target resource URIs as they were asked for, with spaces between them. */
  readonly requested_resource?: string;
  /** New, and not secret. */
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  /** RFC 9449 §6.1; undefined: a Bearer token. */
  readonly cnf?: { readonly jkt: string };
  /** D59, under a name of our own: no verifier of tokens expects anything of it. The revocation of one of these keys ends the token. */
  readonly vouched_by: readonly RecordedKey[];
  /** D131: of the subject, and of the actor where there is one. */
  readonly logins: readonly ExternalLogin[];
  /** D7, opaque: of the subject, and of the actor where there is one, as the token was decided on. */
  readonly access_generation?: string;
  readonly actor_access_generation?: string;
}

/**
 * An outermost actor without `iss` is a local user, whose rights count (RFC 8693 §4.1). All others have the `iss` of their issuers, who
 * say that they have acted: they give no rights.
 */
export interface ActorClaim {
  readonly iss?: string;
  readonly sub: string;
  readonly act?: ActorClaim;
}

/** What a verified token says. */
export interface VerifiedAccessToken {
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** To be compared with the `accessGeneration` that each user has now: another one, and access was ended since. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
  /** The client that has authenticated to get the token; undefined: it was issued without one. */
  readonly clientId?: string;
  /** The keys that signed for subject and actor; undefined: not known. */
  readonly signedBy: Partial<PerToken<IssuerKey>>;
  /** `both` where actor and subject both need a right. */
  readonly rights: 'actor' | 'both';
  /** The scopes that limit the token; undefined: it is not limited. */
  readonly scopes?: ReadonlySet<string>;
  readonly expiresAt: Date;
  /** The thumbprint of the key whose holder alone may present it (DPoP); undefined: it is a Bearer token. */
  readonly boundTo?: string;
}

/** A token whose signature was verified: what it says, and what may be revoked of it. */
export interface ReadToken {
  readonly content: VerifiedAccessToken;
  /** The service that it is for, or this host. */
  readonly audience: string | undefined;
  readonly revocable: RevocableToken;
}

export const ACCESS_TOKEN_TYPE = 'at+jwt';
export const ACCESS_TOKEN_ALGORITHM = 'ES256';
/** RFC 7518 §3.4. */
const SIGNATURE_BYTES = 64;
/** As long as that of a signing key: a thumbprint (RFC 7638). */
const ANY_KID = 'k'.repeat(43);

/** How many characters the token of some claims has. */
export function lengthOfAccessToken(claims: AccessTokenClaims): number {
  const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid: ANY_KID };
  return lengthOfCompactJws(header, claims, SIGNATURE_BYTES);
}

/**
 * This instance signed the claims, so they are as written; their types are checked all the same.
 * @rule 4.2.4 A requested scope or resource narrows nothing: it is not read. What was granted is (P.scopes, P.resources).
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
