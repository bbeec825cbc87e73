// What an entry of the trusted keys allows its tokens: one record of trust, the same for static and fetched keys.
import type { Flow } from '../host/flow.js';
import type { ProjectsPolicy } from './projects-policy.js';
import type { JwksKey } from './jwks-content.js';

/** In the place of all domains: a policy for any address that says so. */
export const ANY_DOMAIN = '*';

/** What an entry without `flows` serves. Identity assertions are taken only where it names them. */
const FLOWS_BY_DEFAULT: ReadonlySet<Flow> = new Set(['embed', 'exchange', 'logout']);

/** The ways in for which tokens of an entry are good. */
export function flowsOf({ flows = FLOWS_BY_DEFAULT }: Pick<TrustPolicy, 'flows'>): ReadonlySet<Flow> {
  return flows;
}

/** Whose rights a call has that an actor makes for a subject. */
export type DelegatedRights = 'actor' | 'both';

/** The domains whose addresses alone link and provision; undefined: any. */
export function domainsOf({
  emailDomains,
}: Pick<TrustPolicy, 'emailDomains'>): ReadonlySet<string> | undefined {
  return emailDomains?.has(ANY_DOMAIN) === true ? undefined : emailDomains;
}

/** A member that is not there leaves the contract's rule as it is: so does each default that is named here. */
export interface TrustPolicy {
  /** Index of the entry in the configuration, from 0; undefined: it is stored. */
  readonly entryIndex?: number;
  /** How logs and metrics call the entry. */
  readonly label: string;
  /** The `iss` that its tokens must carry, compared character by character. */
  readonly issuer: string;
  /** The `aud` that its tokens must carry; undefined: any. */
  readonly expectedAudience?: string;
  /** The `aud` that its logout tokens may carry besides; undefined: none. */
  readonly logoutAudience?: string;
  /** The `iss` that its logout tokens may carry besides: a provider that signs by a key of the entry; undefined: none. */
  readonly logoutIssuer?: string;
  /** The flows of its tokens; undefined: all but identity assertions. */
  readonly flows?: ReadonlySet<Flow>;
  /** From this moment on no token of the entry is taken. */
  readonly notAfter?: Date;
  /** The origins that may frame the instance and post embedded logins; undefined: any may post. */
  readonly origins?: ReadonlySet<string>;
  /** Tokens of the entry in a minute, counted by the entry and no longer by the address that sends them. */
  readonly perMinute?: number;
  /** The clients that may send identity assertions of the entry, by id. Default none. */
  readonly clients?: ReadonlyMap<string, TrustedClient>;
  /** Whether no token of the entry is taken, until it is resumed. Stored entries only. Default false. */
  readonly isSuspended?: boolean;

  /** The roles that the `role` claim may assign; undefined: every assignable one. */
  readonly allowedRoles?: ReadonlySet<string>;
  /** Whether users get in only whose stored role is among `allowedRoles` before any claim is applied. Default false. */
  readonly roleCeiling?: boolean;
  /** Whether the owner is kept out. Default false. */
  readonly excludeOwner?: boolean;

  /** Whether the issuer has to call an e-mail address verified; else it must only not call it unverified. Default false. */
  readonly requireVerifiedEmail?: boolean;
  /** Domains, in lower-case ASCII, whose addresses alone link and provision; undefined, or `ANY_DOMAIN` alone: any. Subdomains are domains of their own. */
  readonly emailDomains?: ReadonlySet<string>;
  /** Whether an unknown identity may be linked to the user who has its e-mail address. Default true. */
  readonly linkExistingUsers?: boolean;
  /** Whether that user may be the owner or an administrator. Default true. */
  readonly linkPrivileged?: boolean;
  /** Whether new users are provisioned. Default true. */
  readonly provisionUsers?: boolean;

  /** What the claim of projects may do; undefined: it is not read. */
  readonly projects?: ProjectsPolicy;

  /** The issuers whose subjects an actor of the entry may act for; undefined: any. */
  readonly actFor?: ReadonlySet<string>;
  /** Whether a subject of the entry needs an actor: no login, and no token for the subject alone. Default false. */
  readonly requireActor?: boolean;
  /** Whose rights an actor's call has: the actor's, or what actor and subject both have. Default `actor`. */
  readonly rights?: DelegatedRights;

  /** The scopes that an access token may have; undefined: it has none, and is not limited. */
  readonly scopes?: ReadonlySet<string>;
  /** The services, by absolute URI, that an access token may be made for beside the instance; undefined: none is checked. */
  readonly resources?: ReadonlySet<string>;
}

/** What a client authenticates by: its public keys, in the entry or fetched, or the SHA-256 of its secret in hexadecimal digits. */
export type ClientCredential =
  { readonly keys: readonly JwksKey[] } | { readonly jwksUrl: string } | { readonly secretHash: string };

export type TrustedClient = ClientCredential & { readonly id: string };
