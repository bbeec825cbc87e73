// A client that holds a key, and proves with each request that it does (RFC 9449); also badly, for trying that.
import type { JsonWebKey } from 'node:crypto';
import { createHash, randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import type { SigningAlgorithm } from '../../demo/signing-key.js';
import { SigningKey } from '../../demo/signing-key.js';
import { BASE_URL } from './base-url.js';

export const TOKEN_URL = `${BASE_URL}/rest/auth/oauth/token`;

/** A request without a proof. */
export const UNPROVED = { proof: undefined, method: 'POST', target: '/rest/auth/oauth/token' };

/** The reasons for which a proof is refused, at the token endpoint and at the API: `dpop.spec.ts` shows them. */
export const PROOF_REASONS = [
  'dpop_key_mismatch',
  'dpop_proof_invalid',
  'dpop_proof_missing',
  'dpop_proof_replayed',
];
/** All reasons for which the API refuses a proof. */
export const API_PROOF_REASONS = [...PROOF_REASONS, 'dpop_nonce_required', 'token_not_bound'];

/** The members of a JWK that its thumbprint is of, in their order (RFC 7638 §3.2). */
const REQUIRED = ['crv', 'e', 'kty', 'n', 'x', 'y'] as const;

export interface ProofOptions {
  /** `undefined` leaves a claim, or a member of the header, out. */
  readonly claims?: Members;
  readonly header?: Members;
  /** Signs in place of the client's own key. */
  readonly signedBy?: DpopClient;
}

export class DpopClient {
  private readonly key: SigningKey;

  constructor(readonly algorithm: SigningAlgorithm = 'ES256') {
    this.key = new SigningKey('none', algorithm);
  }

  get jwk(): JsonWebKey {
    const all = this.key.publicJwk();
    return Object.fromEntries(
      REQUIRED.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])),
    );
  }

  get thumbprint(): string {
    return sha256(JSON.stringify(this.jwk, [...REQUIRED]));
  }

  /** Makes a proof for a request to the token endpoint. */
  proof({ claims = {}, header = {}, signedBy = this }: ProofOptions = {}): string {
    const members = { alg: this.algorithm, typ: 'dpop+jwt', jwk: this.jwk, ...header };
    const payload = {
      htm: 'POST',
      htu: TOKEN_URL,
      iat: Math.floor(Date.now() / 1000),
      jti: randomUUID(),
      ...claims,
    };
    return signedBy.signed(JSON.stringify(members), JSON.stringify(payload));
  }

  /** Makes a proof for a call of the API. */
  proofFor(accessToken: string, path: string, options: ProofOptions = {}): string {
    const claims = { htm: 'GET', htu: BASE_URL + path, ath: sha256(accessToken), ...options.claims };
    return this.proof({ ...options, claims });
  }

  /** The headers of a call of the API. */
  headersFor(accessToken: string, path: string, options: ProofOptions = {}): Record<string, string> {
    return { authorization: `DPoP ${accessToken}`, dpop: this.proofFor(accessToken, path, options) };
  }

  signed(header: string, payload: string): string {
    const input = [header, payload].map((text) => Buffer.from(text).toString('base64url')).join('.');
    return `${input}.${this.key.signature(input)}`;
  }
}

/** The SHA-256 hash of a string, in base64url. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
