// The host's own access tokens (RFC 9068): their claims, how they are issued, and how they are verified.
import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { JOSEError, JWSInvalid, JWTExpired, JWTInvalid } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { Clock } from '../../platform/clock.js';
import { recentlyUsed } from '../../platform/recently-used.js';
import { printable, printableSeconds } from '../../platform/text/printable.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import type { ExternalLogin, IssuerKey, RecordedKey, RevocableToken } from '../revocation/revocations.js';
import { readExternalLogins, readRecordedKeys, Revocations } from '../revocation/revocations.js';
import type { AccessTokenSettings } from '../settings/token-exchange.options.js';
import { lengthOfCompactJws, signCompactJws } from '../verify/compact-jws.js';
import type { PriorActor } from '../verify/external-claims.js';
import type { PerToken } from '../verify/external-token.verifier.js';
import type { BearerReason } from './bearer-refusals.js';
import type { LoadedKey } from './signing-key.service.js';
import { SigningKeyService } from './signing-key.service.js';

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

export interface AccessTokenOptions extends Omit<AccessTokenSettings, 'sealingKeys'> {
  /** Called for each DPoP proof of an API call that is forgotten while it could be replayed, for a metric. */
  readonly onProofForgotten?: () => void;
}

/** Injection token of the options. */
export const ACCESS_TOKEN_OPTIONS = Symbol('ACCESS_TOKEN_OPTIONS');

/** Why a credential is no valid access token of this host. */
export interface AccessTokenRefusal extends Pick<RefusalContext, 'detail' | 'expected' | 'found'> {
  readonly reason: BearerReason;
  /** The token's content, if this instance signed it. */
  readonly token?: VerifiedAccessToken;
}

/** The verdict on a credential. */
export type AccessTokenVerdict =
  { readonly token: VerifiedAccessToken } | { readonly refusal: AccessTokenRefusal };

/** Some 10 MB when full. */
const MAX_TOKENS = 10_000;

@Injectable()
export class AccessTokenService {
  /** `iss` of all tokens, and `aud` of tokens for the host itself, which a client may name as the resource. */
  readonly audience: string;
  /**
   * By the SHA-256 of all characters, so that tokens with common parts share no entry (CVE-2026-35039 of another product). Only the
   * signature's verdict is remembered, which never changes. Expiry and users are checked at each call.
   */
  private readonly verified = recentlyUsed<ReadToken & { kid: string }>(MAX_TOKENS);

  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    @Inject(ACCESS_TOKEN_OPTIONS) private readonly options: Pick<AccessTokenSettings, 'issuer'>,
  ) {
    this.audience = options.issuer;
  }

  /** @returns the compact JWT. Secret */
  sign(claims: AccessTokenClaims, { kid, privateKey }: LoadedKey): string {
    const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid };
    const signer = { digest: 'sha256', key: { key: privateKey, dsaEncoding: 'ieee-p1363' as const } };
    return signCompactJws(header, claims, signer);
  }

  /** The public keys of these tokens as a JWK set (RFC 7517 §5), for a host that publishes it. Answers from memory. */
  publicKeys(): JSONWebKeySet {
    return this.signingKeys.publicKeys();
  }

  /**
   * Verifies a Bearer credential. Undefined for anything but a valid access token of this host, and for a bound token, because
   * there is no proof here. `TokenExchangeAuth` accepts bound tokens.
   * @rule D31 Only the host's own access tokens pass: type, issuer, audience and key are all checked.
   * `NO_OTHER_PURPOSE` in token-checks.ts refuses an access token as an external token.
   * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
   */
  async verify(token: string): Promise<VerifiedAccessToken | undefined> {
    const verdict = await this.check(token);
    return 'token' in verdict && verdict.token.boundTo === undefined ? verdict.token : undefined;
  }

  /**
   * As `verify`, with the reason for a refusal, which is for the operator and not for the client. Also accepts bound tokens,
   * whose proof `DpopProofs.check` must check.
   * @param forAnyService whether a token for another service is accepted too
   * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
   */
  async check(token: string, forAnyService = false): Promise<AccessTokenVerdict> {
    const hashed = hash('sha256', token, 'base64');
    const remembered = this.verified.get(hashed);
    const kid = remembered?.kid ?? kidOf(token);
    if (kid === undefined) return refused('malformed');
    const key = await this.signingKeys.find(kid);
    if (key === undefined) return refused('not_issued_here');
    const read = remembered ?? (await this.verifyWith(key, token));
    if ('refusal' in read) return read;
    if (remembered === undefined) this.verified.set(hashed, { kid: key.kid, ...read });
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

  /** jose checks claims after the signature: type, issuer and subject, then expiry. */
  private refusalOf(error: JOSEError): Refused {
    if (error instanceof JWTExpired) return this.expired(readClaims(error.payload).content);
    const isMalformed = error instanceof JWTInvalid || error instanceof JWSInvalid;
    return refused(isMalformed ? 'malformed' : 'not_issued_here');
  }

  private expired(token: VerifiedAccessToken): Refused {
    const seconds = this.clock.nowSeconds() - token.expiresAt.getTime() / 1000;
    return refused('expired', { token, found: `expired ${printableSeconds(Math.max(0, seconds))} ago` });
  }

  /** As jose checks `exp`: in whole seconds, and expired at that second. */
  private hasExpired({ expiresAt }: VerifiedAccessToken): boolean {
    return expiresAt.getTime() / 1000 <= Math.floor(this.clock.nowSeconds());
  }

  private expectations() {
    return {
      typ: ACCESS_TOKEN_TYPE,
      algorithms: [ACCESS_TOKEN_ALGORITHM],
      issuer: this.options.issuer,
      requiredClaims: ['aud', 'sub', 'jti', 'exp'],
      currentDate: new Date(this.clock.nowMs()),
    };
  }
}

/** Other spellings can encode the same bytes, and jose accepts some of them. Only one spelling of a token is accepted. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

type Refused = Extract<AccessTokenVerdict, { refusal: unknown }>;

function refused(reason: BearerReason, more: Omit<AccessTokenRefusal, 'reason'> = {}): Refused {
  return { refusal: { reason, ...more } };
}

/** Empty if there is none, which matches no key; undefined if the header is unreadable. */
function kidOf(token: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' ? kid : '';
  } catch {
    return undefined;
  }
}

/** The number of characters of a token with these claims. */
export function lengthOfAccessToken(claims: AccessTokenClaims): number {
  const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid: ANY_KID };
  return lengthOfCompactJws(header, claims, SIGNATURE_BYTES);
}

/**
 * Reads claims that this instance signed, and checks their types nevertheless.
 * @rule 4.2.4 Requested scope and resource restrict nothing and are not read. Granted ones are (P.scopes, P.resources).
 */
function readClaims(claims: JWTPayload): ReadToken {
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
