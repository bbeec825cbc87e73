// What the host and its configuration say for the reader of trusted key entries.
import { isSameAddress } from '../../platform/text/origin.js';
import type { JwksUrlRules } from './jwks-url.js';

/**
 * What stands where an entry says nothing. `contract`: as the contract says, open where it is. `stored`: for entries that a command
 * created, which let no owner in. `strict`: only what an entry says is allowed.
 */
export type PolicyDefaults = 'contract' | 'stored' | 'strict';

export interface TrustedKeysRules extends JwksUrlRules {
  /** Roles that a claim can assign at all. */
  readonly assignableRoles: readonly string[];
  /** Roles in a project, the lowest first; undefined: the host has no projects that tokens could name. */
  readonly projectRoles?: readonly string[];
  /** Roles whose users are administrators (D54). */
  readonly privilegedRoles?: readonly string[];
  /** The type of the ids of users, as far as it is checked. */
  readonly userIdType?: string;
  /** Default `contract`. */
  readonly defaults?: PolicyDefaults;
  /** The address of the host itself, for which every token is good that names no other service. */
  readonly baseUrl?: string;
  /** The `iss` of the host's own access tokens, which no entry may have. Default `baseUrl`; not checked where both are left out. */
  readonly ownIssuer?: string;
  /** Scopes that the host's own API asks for; others are for other services. Not checked where it is left out. */
  readonly scopes?: readonly string[];
  /** CIDR ranges that are not public and yet allowed (D33). Addresses are not checked where it is left out: a fetch does it. */
  readonly allowPrivate?: readonly string[];
}

/** Whether an issuer is the host itself. */
export function isOwnIssuer(issuer: string, { baseUrl, ownIssuer = baseUrl }: TrustedKeysRules): boolean {
  return ownIssuer !== undefined && isSameAddress(issuer, ownIssuer);
}
