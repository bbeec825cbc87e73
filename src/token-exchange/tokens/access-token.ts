// The contents of an access token of this package: what it grants, its claims, and what is read of it.
import type { JWTPayload } from 'jose';
import type { ExternalLogin, IssuerKey, RecordedKey } from '../revocation/external-login.js';
import { readExternalLogins, readRecordedKeys, recordedKeys } from '../revocation/external-login.js';
import type { RevocableToken } from '../revocation/revocations.js';
import type { PriorActor } from '../verify/external-claims.js';
import { lengthOfCompactJws } from '../verify/compact-jws.js';

/** The contents of an access token. */
export interface AccessTokenGrant {
  /** Its `jti`: new, and not secret. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** `accessGeneration` of both users, as the token was decided on: to be compared at each use. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
  /** The client that has sent an assertion, else the issuer of the subject token; recorded as `client_id`. */
  readonly clientId: string;
  /** The prior actors, the latest first; only with an actor, or of an identity assertion. */
  readonly priorActors?: readonly PriorActor[];
  /** The jobs and services whose tokens came, where their entries name the users (`signInAs`). */
  readonly workloads?: readonly PriorActor[];
  /** Whose rights a call with the token has: `both` needs actor and subject to have them. Default `actor`. */
  readonly rights?: 'actor' | 'both';
  /** The scopes that are granted, which limit the token; undefined: it is not limited. */
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for; undefined: the host itself. The host then takes it nowhere. */
  readonly audience?: string;
  /** Recorded, not granted (D55). */
  readonly requestedScope?: string;
  /** Recorded, not granted: target resource URIs as they were asked for, with spaces between them. */
  readonly requestedResource?: string;
  /** The thumbprint of the client's key (RFC 7638), which has to be proved at each use; undefined: a Bearer token. */
  readonly boundTo?: string;
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The keys that signed for subject and actor, in this order: the revocation of either must end the token. */
  readonly signedBy: readonly IssuerKey[];
  /** The logins of subject and actor: with any of them the token must end if its provider signs that user out. */
  readonly logins: readonly ExternalLogin[];
}

/** Signs one access token, by a key that is there already. @returns the compact JWT. Secret */
export type AccessTokenSigner = (grant: AccessTokenGrant) => string;

/** The claims besides `iss`, which is always the host (RFC 9068 §2.2, RFC 8693 §4.1). */
interface AccessTokenClaims {
  readonly aud: string;
  readonly sub: string;
  readonly act?: ActorClaim;
  readonly client_id: string;
  /** D145, under a name of our own: of the subject, and of the actor, as far as their entries name the users. */
  readonly workloads?: readonly PriorActor[];
  readonly delegated_rights?: 'both';
  readonly scope?: string;
  readonly requested_scope?: string;
  readonly requested_resource?: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
  /** RFC 9449 §6.1. */
  readonly cnf?: { readonly jkt: string };
  /** D59, under a name of our own: no verifier of tokens expects anything of it. */
  readonly vouched_by: readonly RecordedKey[];
  /** D131: of the subject, and of the actor where there is one. */
  readonly logins: readonly ExternalLogin[];
  /** D62, opaque: of the subject, and of the actor where there is one. */
  readonly access_generation?: string;
  readonly actor_access_generation?: string;
}

/**
 * An outermost actor without `iss` is a local user, whose rights count (RFC 8693 §4.1). All others have the `iss` of their issuers, who
 * say that they have acted: they give no rights.
 */
interface ActorClaim {
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

/** How many characters the token of a grant has. @param issuer as in `AccessTokenSettings` */
export function lengthOfAccessToken(grant: AccessTokenGrant, issuer: string): number {
  const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid: ANY_KID };
  return lengthOfCompactJws(header, { iss: issuer, ...claimsOf(grant, issuer) }, SIGNATURE_BYTES);
}

/**
 * A member that is undefined is not written.
 * @rule 2.4 The token records the requested scope and resource.
 * @rule D55 Under names of our own: a `scope` or another `aud` would read as granted to every other service.
 */
export function claimsOf(grant: AccessTokenGrant, host: string): AccessTokenClaims {
  return {
    aud: grant.audience ?? host,
    sub: grant.subjectUserId,
    act: actorClaim(grant),
    client_id: grant.clientId,
    workloads: grant.workloads,
    delegated_rights: grant.rights === 'both' ? 'both' : undefined,
    scope: grant.grantedScopes?.join(' '),
    requested_scope: grant.requestedScope,
    requested_resource: grant.requestedResource,
    jti: grant.id,
    iat: grant.issuedAt,
    exp: grant.expiresAt,
    cnf: grant.boundTo === undefined ? undefined : { jkt: grant.boundTo },
    vouched_by: recordedKeys(grant.signedBy),
    logins: grant.logins,
    access_generation: grant.subjectGeneration,
    actor_access_generation: grant.actorGeneration,
  };
}

function actorClaim({ actorUserId, priorActors = [] }: AccessTokenGrant): ActorClaim | undefined {
  const prior = priorActors.reduceRight<ActorClaim | undefined>(
    (act, { iss, sub }) => ({ iss, sub, act }),
    undefined,
  );
  return actorUserId === undefined ? prior : { sub: actorUserId, act: prior };
}

/**
 * This instance signed the claims, so they are as written; their types are checked all the same.
 * @rule 4.2.4 A requested scope or resource narrows nothing: it is not read. What was granted is (P.scopes, P.resources).
 */
export function readClaims(claims: JWTPayload): ReadToken {
  const { sub = '', aud, jti = '', iat = 0, exp = 0, act, scope, cnf } = claims;
  const { iss: actorIssuer, sub: named } = (act ?? {}) as Record<string, unknown>;
  const actor = actorIssuer === undefined && typeof named === 'string' ? named : undefined;
  return {
    content: {
      id: jti,
      subjectUserId: sub,
      actorUserId: actor,
      subjectGeneration: textOf(claims['access_generation']),
      actorGeneration: textOf(claims['actor_access_generation']),
      rights: claims['delegated_rights'] === 'both' ? 'both' : 'actor',
      scopes: typeof scope === 'string' ? new Set(scope.split(' ')) : undefined,
      expiresAt: new Date(exp * 1000),
      boundTo: cnf === undefined ? undefined : String((cnf as { jkt?: unknown }).jkt),
    },
    audience: textOf(aud),
    revocable: {
      id: jti,
      keys: readRecordedKeys(claims['vouched_by']),
      logins: readExternalLogins(claims['logins']),
      sinceMs: iat * 1000,
    },
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === 'string' ? claim : undefined;
}
