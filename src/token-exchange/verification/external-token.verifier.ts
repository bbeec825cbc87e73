// Verifies external tokens: the only place that can make a VerifiedToken.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../foundation/clock.js';
import { told, toldList, toldName, toldSeconds } from '../foundation/told-value.js';
import type { Flow } from '../flow.js';
import type { Algorithm } from '../keys/algorithms.js';
import { algorithmNamed } from '../keys/algorithms.js';
import { thumbprintOf } from '../keys/thumbprint.js';
import type { TrustedKey } from '../keys/trusted-key.js';
import { TrustedKeyService } from '../keys/trusted-key.service.js';
import type { RejectionContext } from '../rejection.js';
import { Rejection, withRejectionContext } from '../rejection.js';
import type { TokenExchangeOptions } from '../token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../token-exchange.options.js';
import { claimedKey, keyUnknown, servedAlgorithms } from './claimed-key.js';
import type { CompactJws } from './compact-jws.js';
import { parseCompactJws } from './compact-jws.js';
import type { ExternalClaims } from './external-claims.js';
import { readExternalClaims, readIssuer } from './external-claims.js';
import { verifyByDecoy } from './decoy-signature.js';
import { isSignatureValid } from './signature.js';
import { judgeLoneSubject, judgeTrust } from './trust.js';

/** Not exported: without it nobody else can write a VerifiedToken. */
const verified: unique symbol = Symbol('verified');

/** An external token whose signature, claims, audience and times hold. Its jti is not consumed yet. */
export interface VerifiedToken {
  readonly [verified]: true;
  readonly claims: ExternalClaims;
  /** The key that verified it, with the policy of its entry. */
  readonly key: TrustedKey;
}

/** Who vouches for a verified token, for the audit trail. */
export function issuerAndKid({ key }: VerifiedToken): { issuer: string; kid: string } {
  return { issuer: key.policy.issuer, kid: key.kid };
}

/** RFC 7519 §5.1 leaves `typ` free; RFC 8725 §3.11 has other classes of token call themselves `something+jwt`. */
const EXPLICIT_TYPE = /\+jwt$/i;
/** Of a token for embedded login, from `iat` to `exp` (5.2.7). */
export const MAX_EMBED_LIFETIME_SECONDS = 60;

/** Judges everything about a token that can be judged without writing, in the order of D3. */
@Injectable()
export class ExternalTokenVerifier {
  constructor(
    private readonly trustedKeys: TrustedKeyService,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    private readonly options: Pick<TokenExchangeOptions, 'clockToleranceSeconds'>,
  ) {}

  /**
   * Verifies one token for one flow.
   * @throws Rejection with the first reason in the order header, key, signature, trust, claims, audience, times, lifetime
   */
  async verify(token: string, flow: Flow): Promise<VerifiedToken> {
    const jws = parseCompactJws(token);
    const { algorithm, kid } = this.judgeHeader(jws);
    const issuer = readIssuer(jws.payload);
    const key = await this.keyFor(issuer, kid, { jws, algorithm });
    // From here on the issuer and kid are those of a key that we hold, so they may be told to the audit trail.
    return withRejectionContext({ issuer, kid }, async () => {
      await judgeSignature(jws, algorithm, key);
      judgeTrust(key.policy, flow, this.clock.nowSeconds());
      return { [verified]: true, claims: this.judgeClaims(jws, key, flow), key };
    });
  }

  /** No key is known yet: what is told of a refused header is gathered by what the token only claims. */
  private judgeHeader(jws: CompactJws): ReadHeader {
    try {
      return readHeader(jws.header);
    } catch (error) {
      if (error instanceof Rejection) error.add(claimedKey(jws, this.trustedKeys));
      if (error instanceof Rejection && error.reason === 'algorithm_not_allowed')
        error.add({ expected: servedAlgorithms(jws, this.trustedKeys) });
      throw error;
    }
  }

  /**
   * @rule 5.2.1 The key is the one whose kid and issuer match the token's.
   */
  private async keyFor(
    issuer: string,
    kid: string,
    { jws, algorithm }: { jws: CompactJws; algorithm: Algorithm },
  ): Promise<TrustedKey> {
    const key = await this.trustedKeys.find(issuer, kid);
    if (key !== undefined) return key;
    await verifyByDecoy(algorithm, jws);
    throw keyUnknown(issuer, kid, this.trustedKeys);
  }

  /** @rule 4.2.1 The limit of 60 seconds binds embedded login only. */
  private judgeClaims(jws: CompactJws, key: TrustedKey, flow: Flow): ExternalClaims {
    const claims = readExternalClaims(jws.payload);
    judgeAudience(claims, key);
    this.judgeTimes(claims);
    if (flow === 'embed') judgeEmbedLogin(claims, key);
    return claims;
  }

  /**
   * @rule 5.2.6 Expired tokens are rejected.
   * @rule D10 The tolerance is for `nbf` and a future `iat` only; at `exp` a token is expired.
   * @rule D11 A token from the future is refused.
   * @rule 2.2.11 A token is refused before its nbf.
   */
  private judgeTimes({ exp, nbf, iat }: ExternalClaims): void {
    const now = this.clock.nowSeconds();
    const tolerance = this.options.clockToleranceSeconds;
    const latestStart = now + tolerance;
    if (exp <= now) throw new Rejection('token_expired', expiredFor(now - exp));
    if (nbf !== undefined && nbf > latestStart) {
      const found = `not valid for ${toldSeconds(nbf - now)} yet`;
      throw new Rejection('token_not_yet_valid', { expected: `nbf at most ${tolerance} s ahead`, found });
    }
    if (iat > latestStart) {
      const found = `issued ${toldSeconds(iat - now)} ahead`;
      throw new Rejection('token_issued_in_future', { expected: `iat at most ${tolerance} s ahead`, found });
    }
  }
}

function expiredFor(seconds: number): RejectionContext {
  return { expected: 'exp in the future', found: `expired ${toldSeconds(seconds)} ago` };
}

interface ReadHeader {
  readonly algorithm: Algorithm;
  readonly kid: string;
}

/**
 * Reads the header. `jwk`, `jku`, `x5u` and `x5c` are not looked at: a token does not choose its key (RFC 8725 §3.10).
 * @rule 2.2.kid The header must carry a kid.
 */
function readHeader(header: CompactJws['header']): ReadHeader {
  const { kid, alg, crit, b64, typ } = header;
  if (typeof kid !== 'string' || kid === '')
    throw new Rejection('kid_missing', { expected: 'a text as kid', found: toldName(kid) });
  const algorithm = algorithmNamed(alg);
  if (algorithm === undefined) throw new Rejection('algorithm_not_allowed', { found: toldName(alg) });
  // No extension is understood here, and one that is not understood must be refused: RFC 7515 §4.1.11.
  if (crit !== undefined) throw new Rejection('header_not_allowed', { detail: 'crit' });
  // `b64` changes what is signed, and means that only together with `crit` (RFC 7797 §6).
  if (b64 !== undefined) throw new Rejection('header_not_allowed', { detail: 'b64' });
  judgeType(typ);
  return { algorithm, kid };
}

/** A token made for another purpose is not an external token, our own access tokens first of all (D31). */
function judgeType(typ: unknown): void {
  if (typ === undefined) return;
  if (typeof typ !== 'string') throw new Rejection('token_malformed', { detail: 'typ is not a string' });
  if (EXPLICIT_TYPE.test(typ))
    throw new Rejection('token_type_not_allowed', { expected: 'JWT, or no typ', found: toldName(typ) });
}

async function judgeSignature(jws: CompactJws, algorithm: Algorithm, key: TrustedKey): Promise<void> {
  // Which algorithms a key serves is its entry's to say, not the token's: RFC 8725 §3.1.
  if (!key.algorithms.has(algorithm)) {
    await verifyByDecoy(algorithm, jws);
    throw new Rejection('algorithm_not_allowed', { expected: toldList(key.algorithms), found: algorithm });
  }
  const { signingInput, signature } = jws;
  const isValid = await isSignatureValid(algorithm, key, signingInput, signature);
  if (!isValid) throw new Rejection('signature_invalid', await keyThatDoesNotFit(key));
}

async function keyThatDoesNotFit({ publicKey }: TrustedKey): Promise<RejectionContext> {
  const thumbprint = await thumbprintOf(publicKey);
  return thumbprint === undefined
    ? {}
    : { expected: `a signature by the key with the thumbprint ${thumbprint}` };
}

/** @rule 5.2.4 The audience is compared only where the entry expects one. */
function judgeAudience({ aud }: ExternalClaims, { policy }: TrustedKey): void {
  const { expectedAudience } = policy;
  if (expectedAudience === undefined) return;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (!audiences.includes(expectedAudience))
    throw new Rejection('audience_mismatch', {
      expected: told(expectedAudience),
      found: toldList(audiences),
    });
}

/** @rule 5.2.7 A token for embedded login lives at most 60 seconds. */
function judgeEmbedLogin({ iat, exp }: ExternalClaims, { policy }: TrustedKey): void {
  if (exp - iat > MAX_EMBED_LIFETIME_SECONDS) {
    const expected = `${MAX_EMBED_LIFETIME_SECONDS} s at most`;
    throw new Rejection('token_lifetime_exceeded', {
      expected,
      found: `${Number((exp - iat).toFixed(3))} s`,
    });
  }
  judgeLoneSubject(policy);
}
