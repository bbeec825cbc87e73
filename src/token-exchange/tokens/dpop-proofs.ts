// DPoP proofs at the token endpoint and at the API: by which clock, with which nonce, and to which access token.
import { Inject, Injectable } from '@nestjs/common';
import { KeyRing } from '../../platform/secrets/key-ring.js';
import { DpopNonceRequired } from '../refusals/dpop-nonce-required.js';
import { Rejection } from '../refusals/rejection.js';
import { ClockDifference } from '../replay/clock-difference.js';
import type { DpopProof, SentProof } from '../verify/dpop-proof.js';
import { publicAddress, verifyProof } from '../verify/dpop-proof.js';
import type { AccessTokenOptions, AccessTokenRefusal, AccessTokenVerdict } from './access-token.service.js';
import { ACCESS_TOKEN_OPTIONS } from './access-token.service.js';
import { DpopNonces } from './dpop-nonces.js';
import { SeenProofs } from './seen-proofs.js';

/** A request, as far as its proof is about it. */
export interface ProvingRequest {
  /** The `DPoP` header; undefined: there is none. */
  readonly proof: string | undefined;
  readonly method: string;
  /** The address of the request line. */
  readonly target: string;
}

/** A call to the API with an access token. */
export interface PresentedCall extends ProvingRequest {
  /** Secret. */
  readonly token: string;
  /** Whether the token was sent by the scheme `DPoP`, else by `Bearer`. */
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

  /** For the answer to a request with a proof; undefined where none is asked for. */
  nonce(): string | undefined {
    return this.options.dpopNonce === true ? this.nonces.at(this.clocks.databaseSeconds()) : undefined;
  }

  /**
   * The proof of a request to the token endpoint, but for its nonce; undefined where there is none.
   * @throws Rejection `dpop_proof_invalid`
   */
  async verify(request: ProvingRequest): Promise<DpopProof | undefined> {
    const sent = this.sentBy(request);
    return sent && verifyProof(sent, { now: this.clocks.databaseSeconds() });
  }

  /** @throws DpopNonceRequired where nonces are asked for, and the proof has none that is good */
  checkNonce({ nonce }: DpopProof): void {
    const now = this.clocks.databaseSeconds();
    if (this.options.dpopNonce === true && !this.nonces.isGood(nonce, now))
      throw new DpopNonceRequired(this.nonces.at(now));
  }

  /**
   * Refuses a good access token that a call does not present as it must be: bound to a key, with a proof; else as Bearer.
   * @rule D140 A bound token is of no use to whoever cannot prove its key, and a proof is of no use for a token without one.
   * @throws TemporarilyUnavailableException where the clock of the database is not known
   */
  async check(verdict: AccessTokenVerdict, call: PresentedCall): Promise<AccessTokenVerdict> {
    if ('refusal' in verdict) return verdict;
    const { token } = verdict;
    if (token.boundTo === undefined)
      return call.isDpop ? { refusal: { reason: 'token_not_bound', token } } : verdict;
    const sent = call.isDpop ? this.sentBy(call) : undefined;
    if (sent === undefined) return { refusal: { reason: 'dpop_proof_missing', token } };
    const refusal = await this.refusalOf(sent, call.token, token.boundTo);
    return refusal === undefined ? verdict : { refusal: { ...refusal, token } };
  }

  private async refusalOf(
    sent: SentProof,
    accessToken: string,
    boundTo: string,
  ): Promise<AccessTokenRefusal | undefined> {
    const now = this.clocks.databaseSeconds();
    try {
      const proof = await verifyProof(sent, { now, accessToken });
      if (proof.thumbprint !== boundTo) return { reason: 'dpop_key_mismatch' };
      this.checkNonce(proof);
      return this.seen.take(proof.use, this.clocks.databaseSeconds())
        ? undefined
        : { reason: 'dpop_proof_replayed' };
    } catch (error) {
      if (error instanceof DpopNonceRequired) return { reason: 'dpop_nonce_required' };
      if (!(error instanceof Rejection)) throw error;
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
