// Issues and verifies access tokens of the host's own (RFC 9068).
import { Inject, Injectable } from '@nestjs/common';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { JOSEError, JWSInvalid, JWTExpired, JWTInvalid } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { Clock } from '../../platform/clock.js';
import { printable, printableSeconds } from '../../platform/text/printable.js';
import type { BearerReason } from '../refusals/refusals.js';
import type { RejectionContext } from '../refusals/rejection.js';
import { Revocations } from '../revocation/revocations.js';
import type { RevocableToken } from '../revocation/revocations.js';
import type { ExternalLogin, RecordedKey } from '../revocation/external-login.js';
import { readExternalLogins, readRecordedKeys, recordedKeys } from '../revocation/external-login.js';
import type { AccessTokenSettings } from '../settings/token-exchange.options.js';
import type { AccessTokenGrant, AccessTokenSigner } from './access-token-grant.js';
import type { PriorActor } from '../verify/external-claims.js';
import { lengthOfCompactJws, signCompactJws } from './jws-signer.js';
import type { LoadedKey } from './signing-key.service.js';
import { SigningKeyService } from './signing-key.service.js';
import { VerifiedTokens } from './verified-tokens.js';

export interface AccessTokenOptions extends Omit<AccessTokenSettings, 'sealingKeys'> {
  /** Called for each proof of a call to the API that is forgotten while it could be sent again; for a metric. */
  readonly onProofForgotten?: () => void;
}

/** Injection token of the options. */
export const ACCESS_TOKEN_OPTIONS = Symbol('ACCESS_TOKEN_OPTIONS');

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

/** Why a Bearer credential is no live access token of this host. */
export interface AccessTokenRefusal extends Pick<RejectionContext, 'detail' | 'expected' | 'found'> {
  readonly reason: BearerReason;
  /** Its content, if this instance signed it. */
  readonly token?: VerifiedAccessToken;
}

/** What became of a Bearer credential. */
export type AccessTokenVerdict =
  { readonly token: VerifiedAccessToken } | { readonly refusal: AccessTokenRefusal };

/** A token whose signature was verified: what it says, and what may be revoked of it. */
interface ReadToken {
  readonly content: VerifiedAccessToken;
  /** The service that it is for, or this host. */
  readonly audience: string | undefined;
  readonly revocable: RevocableToken;
}

const TYPE = 'at+jwt';
export const ACCESS_TOKEN_ALGORITHM = 'ES256';
/** RFC 7518 §3.4. */
const SIGNATURE_BYTES = 64;
/** As long as that of a signing key: a thumbprint (RFC 7638). */
const ANY_KID = 'k'.repeat(43);

@Injectable()
export class AccessTokenService {
  /** The `aud` of tokens that are for the host itself, which a client may name as the resource. */
  readonly audience: string;
  private readonly verified = new VerifiedTokens<ReadToken & { kid: string }>(({ content }) =>
    this.hasExpired(content),
  );

  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    @Inject(ACCESS_TOKEN_OPTIONS) private readonly options: Pick<AccessTokenSettings, 'issuer'>,
  ) {
    this.audience = options.issuer;
  }

  /** Takes the key that signs now, before anything is used up for the token. @throws Error where there is none */
  prepare(): AccessTokenSigner {
    const { kid, privateKey } = this.signingKeys.current();
    const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: TYPE, kid };
    const signer = { digest: 'sha256', key: { key: privateKey, dsaEncoding: 'ieee-p1363' as const } };
    const { issuer } = this.options;
    const payload = (grant: AccessTokenGrant) => ({ iss: issuer, ...claimsOf(grant, issuer) });
    return (grant) => signCompactJws(header, payload(grant), signer);
  }

  /** The public keys of these tokens as a JWK set (RFC 7517 §5), for a host that publishes it. Answers from memory. */
  publicKeys(): JSONWebKeySet {
    return this.signingKeys.publicKeys();
  }

  /**
   * Verifies a Bearer credential; undefined for everything that is not a live access token of this host, and for one that is bound to a
   * key: whoever holds it has shown no proof here. `TokenExchangeAuth` takes those.
   * @rule D31 Nothing but our own access tokens passes: type, issuer, audience and key are all checked.
   * See `NO_OTHER_PURPOSE` in key-checks.ts for the other half: an access token is no external token.
   * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
   */
  async verify(token: string): Promise<VerifiedAccessToken | undefined> {
    const verdict = await this.check(token);
    return 'token' in verdict && verdict.token.boundTo === undefined ? verdict.token : undefined;
  }

  /**
   * As `verify`, with the reason of a refusal, for the operator and not for the client; and for bound tokens too, whose proof is for
   * `DpopProofs.check`.
   * @param forAnyService whether a token for another service is good, too
   * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
   */
  async check(token: string, forAnyService = false): Promise<AccessTokenVerdict> {
    const remembered = this.verified.find(token);
    const kid = remembered?.kid ?? kidOf(token);
    if (kid === undefined) return refused('malformed');
    const key = await this.signingKeys.find(kid);
    if (key === undefined) return refused('not_issued_here');
    const read = remembered ?? (await this.verifyWith(key, token));
    if ('refusal' in read) return read;
    if (remembered === undefined) this.verified.remember(token, { kid: key.kid, ...read });
    return this.refusalNow(read, forAnyService) ?? { token: read.content };
  }

  private refusalNow(
    { content, audience, revocable }: ReadToken,
    forAnyService: boolean,
  ): Refused | undefined {
    if (!forAnyService && audience !== this.audience) {
      const values = { expected: this.audience, found: printable(audience) };
      return refused('other_audience', { token: content, ...values });
    }
    if (this.hasExpired(content)) return this.expired(content);
    return this.revocations.refusesToken(revocable) ? refused('revoked', { token: content }) : undefined;
  }

  private async verifyWith(key: LoadedKey, token: string): Promise<ReadToken | Refused> {
    if (!isCanonical(token)) return refused('malformed');
    try {
      const { payload } = await jwtVerify(token, key.publicKey, this.expectations());
      return readClaims(payload);
    } catch (error) {
      if (error instanceof JOSEError) return this.refusalOf(error);
      throw error;
    }
  }

  /** jose checks claims once the signature holds: type, issuer and subject, then the end. */
  private refusalOf(error: JOSEError): Refused {
    if (error instanceof JWTExpired) return this.expired(readClaims(error.payload).content);
    const isMalformed = error instanceof JWTInvalid || error instanceof JWSInvalid;
    return refused(isMalformed ? 'malformed' : 'not_issued_here');
  }

  private expired(token: VerifiedAccessToken): Refused {
    const seconds = this.clock.nowSeconds() - token.expiresAt.getTime() / 1000;
    return refused('expired', { token, found: `expired ${printableSeconds(Math.max(0, seconds))} ago` });
  }

  /** As jose checks `exp`: by whole seconds, at which a token is expired already. */
  private hasExpired({ expiresAt }: VerifiedAccessToken): boolean {
    return expiresAt.getTime() / 1000 <= Math.floor(this.clock.nowSeconds());
  }

  private expectations() {
    return {
      typ: TYPE,
      algorithms: [ACCESS_TOKEN_ALGORITHM],
      issuer: this.options.issuer,
      requiredClaims: ['aud', 'sub', 'jti', 'exp'],
      currentDate: new Date(this.clock.nowMs()),
    };
  }
}

/** How many characters the token of a grant has. @param issuer as in `AccessTokenSettings` */
export function lengthOfAccessToken(grant: AccessTokenGrant, issuer: string): number {
  const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: TYPE, kid: ANY_KID };
  return lengthOfCompactJws(header, { iss: issuer, ...claimsOf(grant, issuer) }, SIGNATURE_BYTES);
}

/**
 * A member that is undefined is not written.
 * @rule 2.4 The token records the requested scope and resource.
 * @rule D55 Under names of our own: a `scope` or another `aud` would read as granted to every other service.
 */
function claimsOf(grant: AccessTokenGrant, host: string): AccessTokenClaims {
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

/** Other letters can stand for the same bytes, and jose takes some of them: each token has one spelling only. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

type Refused = Extract<AccessTokenVerdict, { refusal: unknown }>;

function refused(reason: BearerReason, more: Omit<AccessTokenRefusal, 'reason'> = {}): Refused {
  return { refusal: { reason, ...more } };
}

/** Empty, which no key has, where there is none; undefined where the header cannot be read. */
function kidOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : '';
  } catch {
    return undefined;
  }
}

/**
 * This instance signed the claims, so they are as written; their types are checked all the same.
 * @rule 4.2.4 A requested scope or resource narrows nothing: it is not read. What was granted is (P.scopes, P.resources).
 */
function readClaims(claims: JWTPayload): ReadToken {
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
