// Reads SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: every entry, then what two entries must not share; tells all problems at once.
import { JsonError, parseStrictJson } from '../../strict-json.js';
import type { TrustedKeysReading, TrustedKeysRules } from './entry-reader.js';
import { EntryReader } from './entry-reader.js';

/**
 * Reads the JSON text of the trusted keys.
 * @rule D32 Every problem is listed at once, with entry, member and rule, never with the value.
 */
export function readTrustedKeys(text: string, rules: TrustedKeysRules): TrustedKeysReading {
  const reading: TrustedKeysReading = { entries: [], problems: [], warnings: [] };
  const list = parseList(text, reading.problems);
  for (const [index, value] of list.entries()) {
    const entry = new EntryReader(index, value, rules, reading).read();
    if (entry !== undefined) reading.entries.push(entry);
  }
  noteDuplicates(reading);
  return reading;
}

function parseList(text: string, problems: string[]): unknown[] {
  try {
    const list = parseStrictJson(text);
    if (Array.isArray(list)) return list;
    problems.push('must be a JSON array of entries');
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    problems.push(error.message);
  }
  return [];
}

/** Two entries that would answer for the same token make it unclear which of them decides. */
function noteDuplicates({ entries, problems }: TrustedKeysReading): void {
  const seen = new Map<string, number>();
  for (const entry of entries) {
    const identity =
      entry.type === 'static' ? JSON.stringify([entry.issuer, entry.key.kid]) : new URL(entry.url).href;
    const first = seen.get(identity);
    const what = entry.type === 'static' ? 'issuer and kid' : 'url';
    if (first !== undefined)
      problems.push(`entry ${entry.entryIndex}: has the same ${what} as entry ${first}`);
    else seen.set(identity, entry.entryIndex);
  }
}
