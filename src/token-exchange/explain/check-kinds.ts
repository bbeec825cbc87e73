// The facts of a request to explain, and its kinds of checks.
import type { AccessFlow } from '../host/flow.js';
import type { TrustPolicy } from '../trust/trust-policy.js';
import type { Check as CheckName } from '../refusals/refusals.js';
import type { Party } from '../refusals/rejection.js';
import type { RejectionReason } from '../refusals/token-refusals.js';
import type { ClaimSet } from '../verify/external-claims.js';
import type { CheckResult, Compared } from '../verify/token-check.js';
import type { IdentityLookup } from './foreseen-users.js';

/** The facts of one token, valid or not. */
export interface TokenFacts {
  readonly party: Party;
  /** Of the checks of the token by itself. */
  readonly results: readonly CheckResult[];
  /** As they were sent; undefined where the token is no JWT. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly payload?: ClaimSet;
  /** Of the entry of that key, else of the only one of its issuer. */
  readonly policy?: TrustPolicy;
  readonly lookup?: IdentityLookup;
  /** Whether its `jti` was used before; undefined if not looked up. */
  readonly isUsed?: boolean;
}

export interface RequestFacts {
  readonly flow: AccessFlow;
  readonly subject: TokenFacts;
  readonly actor?: TokenFacts;
  readonly scope?: string;
  readonly resource?: readonly string[];
  readonly origin?: string;
  /** Seconds since the Unix epoch. */
  readonly now: number;
  readonly maxTokenLifetimeSeconds: number;
}

export interface CheckKind {
  readonly check: CheckName;
  /** The checked member of the token, the entry or the request. */
  readonly about: string;
  readonly reasons: readonly RejectionReason[];
  /** Whether the check applies. */
  readonly applies?: (token: TokenFacts, request: RequestFacts) => boolean;
  readonly compared: (token: TokenFacts, request: RequestFacts) => Compared;
}

/** One look of one request. */
export interface MadeCheck {
  readonly check: CheckName;
  readonly about: string;
  readonly reasons: readonly RejectionReason[];
  /** Null: it is about both tokens, or about the request. */
  readonly party: Party | null;
  readonly compared: () => Compared;
}
