// The types of trusted key entries and their keys, configured or stored.
import type { Flow } from '../endpoint/flows.js';
import type { JwksKey } from './jwks-content.js';
import type { PolicyMembers } from './policy-rows.js';
import { ANY_DOMAIN, FLOWS_BY_DEFAULT } from './policy-rows.js';

/** An entry's properties, given or by default, and what identifies the entry. */
export interface TrustPolicy extends PolicyMembers {
  /** Index of the entry in the configuration, from 0; undefined if it is stored. */
  readonly entryIndex?: number;
  /** The name of the entry in logs and metrics. */
  readonly label: string;
  /** The `iss` that its tokens must carry, compared character by character. */
  readonly issuer: string;
  /** Whether an administrator stored it, who has fewer rights than the owner. Then it signs in no privileged user. Default false. */
  readonly byAdministrator?: boolean;
}

/** A public key with its entry's policy. */
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
  /** Cache lifetime if the response has none: 60 to 86,400 seconds. */
  readonly cacheTtlSeconds?: number;
  /** Whether the URL is a client ID metadata document, which contains the key set or its URL. Default false. */
  readonly isClientDocument?: boolean;
}

export type TrustedKeyEntry = StaticKeyEntry | JwksEntry;

/** The label of a stored entry in logs and metrics. It differs from a configured entry's with the same name. */
export function labelOf(name: string): string {
  return `stored:${name}`;
}

/** The key by which throttles count an entry. It is unique among entries of one issuer, and of one label. */
export function entryKeyOf({ entryIndex, label, issuer }: TrustPolicy, clientId?: string): string {
  const entry = [entryIndex, label, issuer];
  return JSON.stringify(clientId === undefined ? entry : [...entry, clientId]);
}

/** The flows that an entry allows. */
export function flowsOf({ flows = FLOWS_BY_DEFAULT }: Pick<PolicyMembers, 'flows'>): ReadonlySet<Flow> {
  return flows;
}

/** Whether `expectedAudience` is compared. An identity assertion's audience must always be this instance. */
export function comparesAudience(policy: Pick<PolicyMembers, 'flows'>): boolean {
  return flowsOf(policy).has('embed') || flowsOf(policy).has('exchange');
}

/** The domains of e-mail addresses that may link and provision; undefined for any domain. */
export function domainsOf({
  emailDomains,
}: Pick<PolicyMembers, 'emailDomains'>): ReadonlySet<string> | undefined {
  return emailDomains?.has(ANY_DOMAIN) === true ? undefined : emailDomains;
}

/** Properties of an entry, before or after it was parsed. */
interface SeatMembers {
  readonly issuer?: unknown;
  readonly maxUsers?: unknown;
}

/** The first other entry with a different number of seats for the same issuer. */
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
