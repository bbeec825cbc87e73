// Lists trusted key entries, configured and stored, with what each allows and its revocations.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { CheckedStoredEntry, TrustedKeyEntry, TrustRevocation } from '../../token-exchange/instance.js';
import {
  labelOf,
  policyInWords,
  RevocationRepository,
  stateOf,
  StoredEntryChanges,
  thumbprintOf,
  toJwksAddress,
} from '../../token-exchange/instance.js';
import { Read, readNothing } from '../operation.js';
import { AdministrationSettings } from '../settings.js';

/** An entry's key with its thumbprint (RFC 7638), or the address of its key set without the query. */
type KeyPlace = { readonly kid: string; readonly thumbprint: string | null } | { readonly url: string };

export interface ListedEntry {
  readonly from: 'configuration' | 'command';
  /** The variable and the file that configure it; null if it is stored. */
  readonly configuredIn: string | null;
  /** Its name in logs and metrics. */
  readonly entry: string;
  /** The stored name; null if the entry is configured. Commands accept both this and `entry`. */
  readonly name: string | null;
  /** `refused` (it has problems), `revoked` (its key or issuer is) and `ended` (at `until`) entries accept no token. */
  readonly state: 'trusted' | 'suspended' | 'refused' | 'revoked' | 'ended';
  /** Its revocations. A key set has each revoked key of its issuer, even one that is not in the set. */
  readonly revoked: readonly RevokedKey[];
  /** This and the next two are null if it is refused. */
  readonly type: 'static' | 'jwks' | null;
  readonly issuer: string | null;
  readonly keys: KeyPlace | null;
  /** The expected `aud`; null if none is expected or it is refused. */
  readonly audience: string | null;
  /** When trust ends or has ended, ISO 8601; null if there is no end or it is refused. */
  readonly until: string | null;
  /** Phrases that say what its tokens may do. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601; null if it is configured. */
  readonly changedAt: string | null;
}

interface RevokedKey {
  /** Null means every key of the issuer. */
  readonly kid: string | null;
  /** ISO 8601. */
  readonly revokedAt: string;
}

@Injectable()
export class EntryListOperations {
  constructor(
    private readonly entries: StoredEntryChanges,
    private readonly revocations: RevocationRepository,
    private readonly settings: AdministrationSettings,
    private readonly clock: Clock,
  ) {}

  @Read('keys list', readNothing)
  async list(): Promise<readonly ListedEntry[]> {
    const now = this.clock.now();
    const { configuredIn } = this.settings;
    const stored = await this.entries.list();
    const holding = (await this.revocations.list()).filter(({ restoredAt }) => restoredAt === null);
    const configured = await configuredEntries(this.entries.configured, configuredIn, now);
    const entries = [...configured, ...(await Promise.all(stored.map((one) => storedEntry(one, now))))];
    return entries.map((entry) => withRevocations(entry, holding));
  }
}

/** The entries that accept tokens, configured ones first. */
export async function trustedEntries(entries: StoredEntryChanges): Promise<TrustedKeyEntry[]> {
  const stored = (await entries.list()).flatMap(({ entry }) => entry ?? []);
  return [...entries.configured, ...stored];
}

function withRevocations(entry: ListedEntry, holding: readonly TrustRevocation[]): ListedEntry {
  const { issuer, keys, state } = entry;
  const ownKid = keys !== null && 'kid' in keys ? keys.kid : undefined;
  const revoked = holding
    .filter((one) => one.issuer === issuer && [null, ownKid ?? one.kid].includes(one.kid))
    .map(({ kid, revokedAt }) => ({ kid, revokedAt: revokedAt.toISOString() }));
  const isWhole = revoked.some(({ kid }) => kid === null || kid === ownKid);
  const isRevoked = isWhole && (state === 'trusted' || state === 'ended');
  return { ...entry, revoked, state: isRevoked ? 'revoked' : state };
}

/** Whether trust has ended by now. */
function stateAt(now: Date, state: 'trusted' | 'suspended' | 'refused', entry: TrustedKeyEntry | undefined) {
  const hasEnded = entry?.notAfter !== undefined && entry.notAfter <= now;
  return state === 'trusted' && hasEnded ? 'ended' : state;
}

/** Configured entries without their revocations. @param configuredIn the variable, and the file if there is one */
export function configuredEntries(
  entries: readonly TrustedKeyEntry[],
  configuredIn: string,
  now: Date,
): Promise<ListedEntry[]> {
  return Promise.all(
    entries.map(async (entry) => ({
      ...{ from: 'configuration' as const, configuredIn, entry: entry.label, name: null },
      state: stateAt(now, entry.suspended === true ? 'suspended' : 'trusted', entry),
      ...(await whatIsTrusted(entry, now)),
      ...{ revoked: [], problems: [], changedAt: null },
    })),
  );
}

async function storedEntry(checked: CheckedStoredEntry, now: Date): Promise<ListedEntry> {
  const { stored, entry, problems } = checked;
  const { name, changedAt } = stored;
  return {
    ...{ from: 'command', configuredIn: null, entry: labelOf(name), name },
    state: stateAt(now, stateOf(checked), entry),
    ...(await whatIsTrusted(entry, now)),
    ...{ revoked: [], problems, changedAt: changedAt.toISOString() },
  };
}

async function whatIsTrusted(
  entry: TrustedKeyEntry | undefined,
  now: Date,
): Promise<Pick<ListedEntry, 'type' | 'issuer' | 'keys' | 'audience' | 'until' | 'policy'>> {
  if (entry === undefined)
    return { type: null, issuer: null, keys: null, audience: null, until: null, policy: [] };
  const { type, issuer } = entry;
  const keys =
    type === 'jwks'
      ? { url: toJwksAddress(entry.url).url }
      : { kid: entry.key.kid, thumbprint: (await thumbprintOf(entry.key.publicKey)) ?? null };
  const audience = entry.expectedAudience ?? null;
  const until = entry.notAfter?.toISOString() ?? null;
  return { type, issuer, keys, audience, until, policy: policyInWords(entry, now) };
}
