// Issues and verifies the host's own access tokens (RFC 9068).
import { hash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { JSONWebKeySet } from 'jose';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { JOSEError, JWSInvalid, JWTExpired, JWTInvalid } from 'jose/errors';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../platform/clock.js';
import { printable, printableSeconds } from '../../platform/text/printable.js';
import type { BearerReason } from './bearer-refusals.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { Revocations } from '../revocation/revocations.js';
import type { AccessTokenSettings } from '../settings/token-exchange.options.js';
import type { AccessTokenSigner, ReadToken, VerifiedAccessToken } from './access-token.js';
import { ACCESS_TOKEN_ALGORITHM, ACCESS_TOKEN_TYPE, readClaims } from './access-token.js';
import { signCompactJws } from '../verify/compact-jws.js';
import type { LoadedKey } from './signing-key.service.js';
import { SigningKeyService } from './signing-key.service.js';

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
  private readonly verified = new LRUCache<string, ReadToken & { kid: string }>({ max: MAX_TOKENS });

  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    @Inject(ACCESS_TOKEN_OPTIONS) private readonly options: Pick<AccessTokenSettings, 'issuer'>,
  ) {
    this.audience = options.issuer;
  }

  /** Selects the present signing key, before anything is used up for the token. @throws Error if there is none */
  prepare(): AccessTokenSigner {
    const { kid, privateKey } = this.signingKeys.current();
    const header = { alg: ACCESS_TOKEN_ALGORITHM, typ: ACCESS_TOKEN_TYPE, kid };
    const signer = { digest: 'sha256', key: { key: privateKey, dsaEncoding: 'ieee-p1363' as const } };
    return (claims) => signCompactJws(header, claims, signer);
  }

  /** The public keys of these tokens as a JWK set (RFC 7517 §5), for a host that publishes it. Answers from memory. */
  publicKeys(): JSONWebKeySet {
    return this.signingKeys.publicKeys();
  }

  /**
   * Verifies a Bearer credential. Undefined for anything but a valid access token of this host, and for a bound token, because
   * there is no proof here. `TokenExchangeAuth` accepts bound tokens.
   * @rule D31 Only the host's own access tokens pass: type, issuer, audience and key are all checked.
   * See `NO_OTHER_PURPOSE` in key-checks.ts for the other half: an access token is no external token.
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
