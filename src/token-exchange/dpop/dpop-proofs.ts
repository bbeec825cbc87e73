// DPoP proofs at the token endpoint, the embedded login and the API: their clock, nonce and token.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { HttpRequest } from '../../platform/http/http-messages.js';
import { KeyRing } from '../../platform/secrets/key-ring.js';
import type { SubjectOrActor } from '../refusals/oauth-refusal.js';
import { isTokenRefusal, OAuthRefusal, requestRefusal } from '../refusals/oauth-refusal.js';
import { ClockDifference } from '../replay/clock-difference.js';
import { jtiHashOf } from '../replay/use.repository.js';
import type {
  AccessTokenOptions,
  AccessTokenRefusal,
  AccessTokenVerdict,
} from '../tokens/access-token.service.js';
import { ACCESS_TOKEN_OPTIONS } from '../tokens/access-token.service.js';
import type { TokenUse } from '../verify/external-claims.js';
import type { Tokens, VerifiedToken } from '../verify/external-token.verifier.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';
import type { DpopProof, SentProof } from './proof-checks.js';
import { publicAddress, verifyProof } from './proof-checks.js';

const PURPOSE = 'dpop-nonce';
const MINUTE_SECONDS = 60;

/**
 * Each minute has a nonce: its number under a key derived from a sealing key. It is accepted until the next minute ends.
 * @rule D143 Nonces are the same on all instances, which share the sealing keys and the clock of the database.
 */
export class DpopNonces {
  private readonly keys: readonly Buffer[];
  private latest: { readonly minute: number; readonly nonce: string } | undefined;

  constructor(keyRing: KeyRing) {
    this.keys = keyRing.deriveKeys(PURPOSE);
  }

  /** The present nonce for clients. @param now seconds since the Unix epoch, by the clock of the database */
  at(now: number): string {
    const minute = Math.floor(now / MINUTE_SECONDS);
    if (this.latest?.minute !== minute) {
      const [first = Buffer.of()] = this.keys;
      this.latest = { minute, nonce: nonceOf(first, minute) };
    }
    return this.latest.nonce;
  }

  /** Also accepts the next minute's nonce, because another instance may be a little ahead. */
  isGood(nonce: unknown, now: number): boolean {
    if (typeof nonce !== 'string') return false;
    const minute = Math.floor(now / MINUTE_SECONDS);
    return [minute, minute - 1, minute + 1].some((one) =>
      this.keys.some((key) => isSame(nonce, nonceOf(key, one))),
    );
  }
}

function nonceOf(key: Buffer, minute: number): string {
  return createHmac('sha256', key).update(String(minute)).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Some 15 MB when full. */
const MAX_PROOFS = 100_000;

/** Remembers the proofs of API calls, so that each process accepts a proof once without a write (D142). */
export class SeenProofs {
  /** The expiry of the proofs, in seconds since the Unix epoch, by the hashes of their ids, oldest first. */
  private readonly ends = new Map<string, number>();
  /** The latest known time, after which expired proofs are forgotten. Never goes back, even if a clock does. */
  private latest = 0;

  /** @param onForgotten called for each proof that was forgotten while it was still valid */
  constructor(
    private readonly onForgotten: () => void,
    private readonly maxProofs = MAX_PROOFS,
  ) {}

  /** @returns false if it was accepted before, or that is no longer known */
  take({ jti, exp }: TokenUse, now: number): boolean {
    this.latest = Math.max(this.latest, now);
    const hash = jtiHashOf(jti);
    if (exp < this.latest || this.ends.has(hash)) return false;
    this.makeRoom();
    this.ends.set(hash, exp);
    return true;
  }

  /** Deletes from the oldest on, up to the first that may stay. */
  private makeRoom(): void {
    for (const [hash, end] of this.ends) {
      const isGood = end >= this.latest;
      if (isGood && this.ends.size < this.maxProofs) return;
      if (isGood) this.onForgotten();
      this.ends.delete(hash);
    }
  }
}

/** The parts of a request that its proof covers. */
export interface ProvingRequest {
  /** The `DPoP` header; undefined if absent. */
  readonly proof: string | undefined;
  readonly method: string;
  /** The address of the request line. */
  readonly target: string;
}

export function provingRequestOf({ headers, method, originalUrl, url }: HttpRequest): ProvingRequest {
  return { proof: headers['dpop'] as string | undefined, method, target: originalUrl ?? url };
}

const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** A call to the API with an access token or a session token. */
export interface PresentedCall extends ProvingRequest {
  /** Secret. */
  readonly token: string;
  /** Whether the token was sent by the scheme `DPoP` and not by `Bearer`. */
  readonly isDpop: boolean;
}

@Injectable()
export class DpopProofs {
  private readonly nonces: DpopNonces;
  private readonly seen: SeenProofs;

  constructor(
    keyRing: KeyRing,
    private readonly clocks: ClockDifference,
    @Inject(ACCESS_TOKEN_OPTIONS) private readonly options: AccessTokenOptions,
  ) {
    this.nonces = new DpopNonces(keyRing);
    this.seen = new SeenProofs(options.onProofForgotten ?? (() => undefined));
  }

  /** The origin of the instance's own pages. */
  get ownOrigin(): string {
    return new URL(this.options.issuer).origin;
  }

  /** The time for checking proofs, in seconds since the Unix epoch, for clients with a wrong clock. */
  time(): number {
    return this.clocks.databaseSeconds();
  }

  /** The nonce for the answer to a request with a proof; undefined if none is required. */
  nonce(): string | undefined {
    return this.options.dpopNonce === true ? this.nonces.at(this.clocks.databaseSeconds()) : undefined;
  }

  /**
   * Checks the proof of a request to the token endpoint or the embedded login, once its tokens are verified, so that strangers
   * cause no second verification. A token that is bound to a key is accepted with a proof by that key only, and the issued token is
   * bound to it again (D140).
   * @param sessionToken the session that a login renews: the proof must be about it
   * @returns the tokens with the proof, if there is one
   * @throws OAuthRefusal `dpop_proof_missing`, `dpop_proof_invalid`, `dpop_key_mismatch`, `dpop_nonce_required`
   */
  async withProof(tokens: Tokens, request: ProvingRequest, sessionToken?: string): Promise<Tokens> {
    const sent = this.sentBy(request);
    const now = this.clocks.databaseSeconds();
    const proof = sent && (await verifyProof(sent, { now, accessToken: sessionToken }));
    refuseWithoutKey(tokens, proof);
    const nonce = proof && this.missingNonce(proof);
    const { subject, actor, client } = tokens;
    if (nonce === undefined) return { subject, actor, client, proof };
    const message = 'The DPoP proof needs the nonce of this answer';
    throw requestRefusal('dpop_nonce_required', message, { 'dpop-nonce': nonce });
  }

  /** The nonce that a proof lacks; undefined if none is required, or its nonce is valid. */
  private missingNonce({ nonce }: DpopProof): string | undefined {
    if (this.options.dpopNonce !== true) return undefined;
    const now = this.clocks.databaseSeconds();
    return this.nonces.isGood(nonce, now) ? undefined : this.nonces.at(now);
  }

  /**
   * Refuses a valid access token that is presented wrongly: a bound one without a proof, or an unbound one as `DPoP`.
   * @rule D140 A bound token needs a proof of its key, and an unbound token accepts no proof.
   * @throws TemporarilyUnavailableException where the clock of the database is not known
   */
  async check(verdict: AccessTokenVerdict, call: PresentedCall): Promise<AccessTokenVerdict> {
    if ('refusal' in verdict) return verdict;
    const { token } = verdict;
    if (token.boundTo === undefined)
      return call.isDpop ? { refusal: { reason: 'token_not_bound', token } } : verdict;
    const refusal = await this.refusalOf(call, token.boundTo, (use) => this.isNew(use));
    return refusal === undefined ? verdict : { refusal: { ...refusal, token } };
  }

  /**
   * Why a call does not prove the key that its session is bound to; undefined if it does.
   * Proofs of reading calls are not remembered (D142), because they change nothing and a page reads every few seconds.
   * @throws TemporarilyUnavailableException where the clock of the database is not known
   */
  checkSession(call: PresentedCall, boundTo: string): Promise<AccessTokenRefusal | undefined> {
    const isReading = READING_METHODS.has(call.method);
    return this.refusalOf(call, boundTo, (use) => isReading || this.isNew(use));
  }

  private isNew(use: TokenUse): boolean {
    return this.seen.take(use, this.clocks.databaseSeconds());
  }

  private async refusalOf(
    call: PresentedCall,
    boundTo: string,
    isNew: (use: TokenUse) => boolean,
  ): Promise<AccessTokenRefusal | undefined> {
    const sent = call.isDpop ? this.sentBy(call) : undefined;
    if (sent === undefined) return { reason: 'dpop_proof_missing' };
    const now = this.clocks.databaseSeconds();
    try {
      const proof = await verifyProof(sent, { now, accessToken: call.token });
      if (proof.thumbprint !== boundTo) return { reason: 'dpop_key_mismatch' };
      if (this.missingNonce(proof) !== undefined) return { reason: 'dpop_nonce_required' };
      return isNew(proof.use) ? undefined : { reason: 'dpop_proof_replayed' };
    } catch (error) {
      if (!isTokenRefusal(error)) throw error;
      const { detail, expected, found } = error.context;
      return { reason: 'dpop_proof_invalid', detail, expected, found };
    }
  }

  private sentBy({ proof, method, target }: ProvingRequest): SentProof | undefined {
    return proof === undefined
      ? undefined
      : { text: proof, method, address: publicAddress(this.options.issuer, target) };
  }
}

/**
 * Two tokens that are bound to different keys have no proof that fits.
 * @rule P.requireDpop Where the entry asks for a proof, no access token is issued without one.
 * @throws OAuthRefusal
 */
export function refuseWithoutKey({ subject, actor }: Tokens, proof: DpopProof | undefined): void {
  refuseFor('subject', subject, proof);
  if (actor !== undefined) refuseFor('actor', actor, proof);
}

function refuseFor(party: SubjectOrActor, token: VerifiedToken, proof: DpopProof | undefined): void {
  const { boundTo, key } = token;
  const context = { party, ...issuerAndKid(token) };
  const isAskedFor = boundTo !== undefined || key.policy.requireDpop === true;
  if (proof === undefined && isAskedFor) throw new OAuthRefusal('dpop_proof_missing', context);
  if (proof !== undefined && boundTo !== undefined && boundTo !== proof.thumbprint)
    throw new OAuthRefusal('dpop_key_mismatch', { ...context, expected: boundTo, found: proof.thumbprint });
}
