// What the service knows of a key that it trusts, wherever the key came from.
import type { KeyObject } from 'node:crypto';
import type { Algorithm } from './algorithms.js';

/** What an entry allows its tokens, the same for static and JWKS keys. */
export interface TrustPolicy {
  /** Index of the entry in the configuration, from 0. */
  readonly entryIndex: number;
  /** How logs and metrics call the entry. */
  readonly label: string;
  /** The `iss` that its tokens must carry, compared character by character. */
  readonly issuer: string;
  /** The `aud` that its tokens must carry; undefined: any. */
  readonly expectedAudience?: string;
  /** The roles that the `role` claim may assign; undefined: every assignable one. */
  readonly allowedRoles?: ReadonlySet<string>;
  /** The origins that may frame the instance and post embedded logins; undefined: any may post. */
  readonly origins?: ReadonlySet<string>;
}

/** A public key with all that decides whether a token is taken. */
export interface TrustedKey {
  readonly kid: string;
  readonly algorithms: ReadonlySet<Algorithm>;
  readonly publicKey: KeyObject;
  readonly policy: TrustPolicy;
}

/** A configured entry that holds one key. */
export interface StaticKeyEntry extends TrustPolicy {
  readonly type: 'static';
  readonly key: TrustedKey;
}

/** A configured entry whose keys are fetched. */
export interface JwksEntry extends TrustPolicy {
  readonly type: 'jwks';
  readonly url: string;
  /** Cache life where the answer names none; 60 to 86,400 seconds. */
  readonly cacheTtlSeconds?: number;
}

export type TrustedKeyEntry = StaticKeyEntry | JwksEntry;
