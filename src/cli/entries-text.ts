// The text of `keys list`.
import type { ListedEntry } from '../administration/entries/list-entries.operation.js';
import { printable, renderTable } from '../administration/table.js';
import { counted } from '../platform/text/wording.js';

const HEADINGS = ['ENTRY', 'FROM', 'STATE', 'TYPE', 'ISSUER', 'KID OR URL', 'AUDIENCE', 'UNTIL', 'CHANGED'];
const POLICY_HEADINGS = ['ENTRY', 'POLICY'];
/** An entry that ends within this time is marked, as on the operator's page and in the alerts. */
const NOTICE_DAYS = 30;
const DAY_MS = 86_400_000;

export function entriesText(all: readonly ListedEntry[]): string {
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

/** Marks an end that is near. */
function untilCell(until: string | null): string {
  if (until === null) return 'no end';
  const days = Math.ceil((Date.parse(until) - Date.now()) / DAY_MS);
  const moment = until.replace('.000', '');
  return days > 0 && days <= NOTICE_DAYS ? `${moment} (within ${counted(days, 'day')})` : moment;
}

function policyRow({ entry, policy, problems }: ListedEntry): string[] {
  return [entry, problems.length > 0 ? `nothing: ${problems.join('; ')}` : policy.join('; ')];
}
