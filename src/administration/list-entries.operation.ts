// Lists trusted key entries, configured and stored, with what each allows and what of it is revoked.
import type { CheckedStoredEntry, TrustRevocation, TrustedKeyEntry } from '../token-exchange/instance.js';
import { labelOf, stateOf, toJwksAddress, policyInWords, thumbprintOf } from '../token-exchange/instance.js';
import { counted } from '../platform/text/wording.js';
import { readNothing } from './input.js';
import type { InstanceParts } from './instance-parts.js';
import { listOperation } from './operation.js';
import { printable, renderTable } from './table.js';

const PAGE_SIZE = 100;

/** Where its keys are: one with its thumbprint (RFC 7638), or an address. An address is shown without its query; its hash is that of the stored key set. */
type KeyPlace =
  | { readonly kid: string; readonly thumbprint: string | null }
  | { readonly url: string; readonly urlHash: string };

export interface ListedEntry {
  readonly from: 'configuration' | 'command';
  /** The variable, and the file, in which it is configured; null where it is stored. */
  readonly configuredIn: string | null;
  /** Its name in logs and metrics. */
  readonly entry: string;
  /** As it was given; null where the entry is configured. Commands take both this and `entry`. */
  readonly name: string | null;
  /** The service accepts no token of an entry that is `refused` (it has problems), `revoked` (its key or issuer is) or `ended` (at `until`). */
  readonly state: 'trusted' | 'suspended' | 'refused' | 'revoked' | 'ended';
  /** The revocations that concern it; of a key set each revoked key of the issuer, held or not. */
  readonly revoked: readonly RevokedKey[];
  /** The next three are null where it is refused. */
  readonly type: 'static' | 'jwks' | null;
  readonly issuer: string | null;
  readonly keys: KeyPlace | null;
  /** The `aud` that it expects; null where it expects none, or is refused. */
  readonly audience: string | null;
  /** When trust in it ends or has ended, ISO 8601; null where it does not, or the entry is refused. */
  readonly until: string | null;
  /** What its tokens may do, in phrases. */
  readonly policy: readonly string[];
  readonly problems: readonly string[];
  /** ISO 8601; null where it is configured. */
  readonly changedAt: string | null;
}

interface RevokedKey {
  /** Null: every key of the issuer. */
  readonly kid: string | null;
  /** ISO 8601. */
  readonly revokedAt: string;
}

type UnrevokedEntry = Omit<ListedEntry, 'revoked'>;

export const LIST_ENTRIES = listOperation('keys list', readNothing, {
  async *list(_input, { storedEntries, configuredIn, revocations, clock }) {
    const now = clock.now();
    const stored = await storedEntries.list();
    const holding = (await revocations.list()).filter(({ restoredAt }) => restoredAt === null);
    const configured = storedEntries.configured.map((entry) => configuredEntry(entry, configuredIn, now));
    const entries = await Promise.all([...configured, ...stored.map((one) => storedEntry(one, now))]);
    const all = entries.map((entry) => withRevocations(entry, holding, now));
    for (let start = 0; start < all.length; start += PAGE_SIZE) yield all.slice(start, start + PAGE_SIZE);
  },

  command: {
    about: 'list configured and stored entries, with what each allows',
    example: '--json',
    nothing: 'There is no trusted key entry.',
    text: listText,
  },
});

const HEADINGS = ['ENTRY', 'FROM', 'STATE', 'TYPE', 'ISSUER', 'KID OR URL', 'AUDIENCE', 'UNTIL', 'CHANGED'];
const POLICY_HEADINGS = ['ENTRY', 'POLICY'];
/** So long before its end an entry gets a notice, as on the operator's page and in the alerts. */
const NOTICE_DAYS = 30;
const DAY_MS = 86_400_000;

function listText(all: readonly ListedEntry[]): string {
  const tables = [renderTable(HEADINGS, all.map(rowOf)), renderTable(POLICY_HEADINGS, all.map(policyRow))];
  const place = all.find(({ from }) => from === 'configuration')?.configuredIn;
  const note = `Configured entries are in ${printable(place ?? '')}: change them there, and restart.\n`;
  return [...tables, ...(place === undefined ? [] : [note])].join('\n');
}

function rowOf(listed: ListedEntry): string[] {
  const { entry, from, state, revoked, type, issuer, keys, audience, until, changedAt } = listed;
  const stateCell = state === 'trusted' && revoked.length > 0 ? 'trusted, but for revoked keys' : state;
  const place = keys === null ? '' : 'kid' in keys ? keys.kid : keys.url;
  const trust = [type ?? '', issuer ?? '', place, type === null ? '' : (audience ?? 'not checked')];
  return [entry, from, stateCell, ...trust, untilCell(until), changedAt ?? ''];
}

/** An end that is near says so. */
function untilCell(until: string | null): string {
  if (until === null) return 'no end';
  const days = Math.ceil((Date.parse(until) - Date.now()) / DAY_MS);
  const moment = until.replace('.000', '');
  return days > 0 && days <= NOTICE_DAYS ? `${moment} (within ${counted(days, 'day')})` : moment;
}

function policyRow({ entry, policy, problems }: ListedEntry): string[] {
  return [entry, problems.length > 0 ? `nothing: ${problems.join('; ')}` : policy.join('; ')];
}

/** Those that take tokens, the configured ones first. */
export async function trustedEntries({ storedEntries }: InstanceParts): Promise<TrustedKeyEntry[]> {
  const stored = (await storedEntries.list()).flatMap(({ entry }) => entry ?? []);
  return [...storedEntries.configured, ...stored];
}

function withRevocations(entry: UnrevokedEntry, holding: readonly TrustRevocation[], now: Date): ListedEntry {
  const { issuer, keys } = entry;
  const ownKid = keys !== null && 'kid' in keys ? keys.kid : undefined;
  const revoked = holding
    .filter((one) => one.issuer === issuer && [null, ownKid ?? one.kid].includes(one.kid))
    .map(({ kid, revokedAt }) => ({ kid, revokedAt: revokedAt.toISOString() }));
  const isWhole = revoked.some(({ kid }) => kid === null || kid === ownKid);
  if (entry.state !== 'trusted') return { ...entry, revoked };
  const hasEnded = entry.until !== null && Date.parse(entry.until) <= now.getTime();
  return { ...entry, revoked, state: isWhole ? 'revoked' : hasEnded ? 'ended' : 'trusted' };
}

async function configuredEntry(
  entry: TrustedKeyEntry,
  configuredIn: string,
  now: Date,
): Promise<UnrevokedEntry> {
  const { label } = entry;
  return {
    ...{ from: 'configuration', configuredIn, entry: label, name: null },
    state: entry.suspended === true ? 'suspended' : 'trusted',
    ...(await whatIsTrusted(entry, now)),
    ...{ problems: [], changedAt: null },
  };
}

async function storedEntry(checked: CheckedStoredEntry, now: Date): Promise<UnrevokedEntry> {
  const { stored, entry, problems } = checked;
  const { name, changedAt } = stored;
  return {
    ...{ from: 'command', configuredIn: null, entry: labelOf(name), name, state: stateOf(checked) },
    ...(await whatIsTrusted(entry, now)),
    ...{ problems, changedAt: changedAt.toISOString() },
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
      ? toJwksAddress(entry.url)
      : { kid: entry.key.kid, thumbprint: (await thumbprintOf(entry.key.publicKey)) ?? null };
  const audience = entry.expectedAudience ?? null;
  const until = entry.notAfter?.toISOString() ?? null;
  return { type, issuer, keys, audience, until, policy: policyInWords(entry, now) };
}
