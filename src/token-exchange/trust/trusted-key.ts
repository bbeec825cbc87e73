// What the service knows of an entry of the trusted keys, and of a key that it trusts, wherever they came from.
import type { Flow } from '../endpoint/flows.js';
import type { JwksKey } from './jwks-content.js';
import type { PolicyMembers } from './policy-rows.js';
import { ANY_DOMAIN, FLOWS_BY_DEFAULT } from './policy-rows.js';

/** What an entry allows its tokens: the members that it says, or that stand where it says nothing, with what tells entries apart. */
export interface TrustPolicy extends PolicyMembers {
  /** Index of the entry in the configuration, from 0; undefined: it is stored. */
  readonly entryIndex?: number;
  /** The name of the entry in logs and metrics. */
  readonly label: string;
  /** The `iss` that its tokens must carry, compared character by character. */
  readonly issuer: string;
  /** Whether an administrator stored it, and not the owner or somebody who may as much: it signs in no privileged user. Default false. */
  readonly byAdministrator?: boolean;
}

/** A public key with all that decides whether a token is taken. */
export interface TrustedKey extends JwksKey {
  readonly policy: TrustPolicy;
}

export interface StaticKeyEntry extends TrustPolicy {
  readonly type: 'static';
  readonly key: TrustedKey;
}

/** An entry whose keys are fetched. */
export interface JwksEntry extends TrustPolicy {
  readonly type: 'jwks';
  readonly url: string;
  /** Cache life where the answer names none; 60 to 86,400 seconds. */
  readonly cacheTtlSeconds?: number;
  /** Whether the URL is that of a client ID metadata document, which has the key set or says where it is. Default false. */
  readonly isClientDocument?: boolean;
}

export type TrustedKeyEntry = StaticKeyEntry | JwksEntry;

/** How logs and metrics call a stored entry, so that it is not taken for a configured one of the same name. */
export function labelOf(name: string): string {
  return `stored:${name}`;
}

/** By which throttles count entries: two entries of one issuer apart, and two of one label. */
export function entryKeyOf({ entryIndex, label, issuer }: TrustPolicy, clientId?: string): string {
  const entry = [entryIndex, label, issuer];
  return JSON.stringify(clientId === undefined ? entry : [...entry, clientId]);
}

/** The ways in for which tokens of an entry are good. */
export function flowsOf({ flows = FLOWS_BY_DEFAULT }: Pick<PolicyMembers, 'flows'>): ReadonlySet<Flow> {
  return flows;
}

/** Whether an audience is compared: that of an identity assertion is always this instance. */
export function comparesAudience(policy: Pick<PolicyMembers, 'flows'>): boolean {
  return flowsOf(policy).has('embed') || flowsOf(policy).has('exchange');
}

/** The domains whose addresses alone link and provision; undefined: any. */
export function domainsOf({
  emailDomains,
}: Pick<PolicyMembers, 'emailDomains'>): ReadonlySet<string> | undefined {
  return emailDomains?.has(ANY_DOMAIN) === true ? undefined : emailDomains;
}

/** Members of an entry as it was given, or read. */
interface SeatMembers {
  readonly issuer?: unknown;
  readonly maxUsers?: unknown;
}

/** The first of other entries that has another number of seats for the same issuer. */
export function contradicting<Entry extends SeatMembers>(
  { issuer, maxUsers }: SeatMembers,
  others: readonly Entry[],
): Entry | undefined {
  const isRival = (other: Entry) =>
    other.issuer === issuer && other.maxUsers !== undefined && other.maxUsers !== maxUsers;
  return maxUsers === undefined ? undefined : others.find(isRival);
}

/** The number of seats of an issuer, which any of its entries may have. */
export function maxUsersOf(issuer: string, entries: readonly TrustPolicy[]): number | undefined {
  return entries.find((entry) => entry.issuer === issuer && entry.maxUsers !== undefined)?.maxUsers;
}
