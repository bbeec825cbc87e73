// What the service knows of a key that it trusts, wherever the key came from.
import type { JwksKey } from './jwks-content.js';
import type { TrustPolicy } from './trust-policy.js';

/** A public key with all that decides whether a token is taken. */
export interface TrustedKey extends JwksKey {
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
  /** Whether the URL is that of a client ID metadata document, which has the key set or says where it is. Default false. */
  readonly isClientDocument?: boolean;
}

export type TrustedKeyEntry = StaticKeyEntry | JwksEntry;
