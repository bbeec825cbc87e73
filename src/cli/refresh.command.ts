// svc-admin keys refresh: has the running service fetch key sets now, and says what came.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { LIST_ENTRIES } from '../administration/entries.operations.js';
import type { StoredKeySet } from '../administration/key-sets.operations.js';
import { LONGEST_WAIT_SECONDS, REFRESH_KEY_SETS } from '../administration/key-sets.operations.js';
import { keySetInWords } from '../token-exchange/instance.js';
import { readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { wholeNumber } from './option-values.js';
import { withProgress } from './progress.js';
import { quoted, renderTable } from './table.js';
import { counted } from '../platform/text/wording.js';

const USUAL_WAIT_SECONDS = 20;
const HEADINGS = ['ENTRY', 'URL', 'OUTCOME', 'STATE', 'KEYS HELD'];

interface RefreshOptions {
  /** In seconds. */
  readonly wait: number;
}

/** An entry that is of type jwks. */
interface Address {
  readonly entry: string;
  readonly url: string;
  readonly urlHash: string;
}

/** The outcome for one; `fetched` is false if the fetch failed, and undefined if none was tried. */
interface Refreshed extends Omit<Address, 'urlHash'> {
  readonly fetched: boolean | null;
  readonly failure: string | null;
  readonly state: StoredKeySet['state'] | null;
  readonly servesUntil: string | null;
  /** Why it does not serve as it should. */
  readonly reason: string | null;
  readonly kids: readonly string[];
}

export function addRefresh(keys: Command, context: CommandContext): void {
  keys
    .command('refresh')
    .description(
      'make the running service fetch key sets now; exits with 1 if a fetch fails or brings no usable key',
    )
    .argument('[entry]', 'the entry, by its name; every entry of type jwks if left out')
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for the results')
        .default(USUAL_WAIT_SECONDS)
        .argParser(wholeNumber(1, LONGEST_WAIT_SECONDS)),
    )
    .addHelpText('after', '\nExample:\n  svc-admin keys refresh acme')
    .action((entry: string | undefined, options: RefreshOptions) => refresh(entry, options, context));
}

async function refresh(entry: string | undefined, { wait }: RefreshOptions, context: CommandContext) {
  const addresses = await addressesOf(entry, context);
  const urlHashes = [...new Set(addresses.map(({ urlHash }) => urlHash))];
  const asking = readList(context, REFRESH_KEY_SETS, { urlHashes, waitSeconds: wait });
  const outcomes = await withProgress(context, `Waiting for ${counted(urlHashes.length, 'key set')}`, asking);
  const byHash = new Map(outcomes.map((outcome) => [outcome.urlHash, outcome]));
  const all = addresses.map((address) => refreshed(address, byHash.get(address.urlHash)));
  context.answers.give(all, renderTable(HEADINGS, all.map(rowOf)));
  refuseMissing(all, wait);
}

/** @throws CommandError where there is none */
async function addressesOf(name: string | undefined, context: CommandContext): Promise<Address[]> {
  const listed = await readList(context, LIST_ENTRIES, {});
  const addresses = listed.flatMap(({ entry, name: stored, keys }) =>
    keys !== null && 'url' in keys && (name === undefined || name === entry || name === stored)
      ? [{ entry, ...keys }]
      : [],
  );
  if (addresses.length > 0) return addresses;
  throw new CommandError(
    name === undefined
      ? 'No trusted key entry is of type jwks.'
      : `There is no trusted key entry of type jwks called ${quoted(name)}.`,
  );
}

/** The newer of the two is the outcome. */
function refreshed({ entry, url }: Address, outcome: StoredKeySet | undefined): Refreshed {
  if (outcome === undefined)
    return {
      entry,
      url,
      fetched: null,
      failure: null,
      state: null,
      servesUntil: null,
      reason: null,
      kids: [],
    };
  const { lastSuccess, lastFailure, state, servesUntil, reason, kids } = outcome;
  const hasFailed = lastFailure !== null && (lastSuccess === null || lastFailure.at > lastSuccess);
  const failure = hasFailed ? lastFailure.reason : null;
  return { entry, url, fetched: !hasFailed, failure, state, servesUntil, reason, kids };
}

function rowOf(refreshed: Refreshed): string[] {
  const { entry, url, fetched, failure, state, kids } = refreshed;
  const outcome = fetched === null ? 'not tried' : fetched ? 'fetched' : `failed: ${failure ?? ''}`;
  const stateCell = state === null ? 'not known' : stateInWords({ ...refreshed, state });
  return [entry, url, outcome, stateCell, kids.join(', ') || 'none'];
}

/** As logs and explanations of refused tokens say it. */
export function stateInWords({
  state,
  servesUntil,
  reason,
}: Pick<StoredKeySet, 'state' | 'servesUntil' | 'reason'>): string {
  const until = servesUntil === null ? undefined : new Date(servesUntil);
  return keySetInWords({ state, servesUntil: until, reason: reason ?? undefined });
}

function refuseMissing(all: readonly Refreshed[], waitSeconds: number): void {
  const failed = all.filter(({ state }) => state !== 'held').length;
  if (all.some(({ fetched }) => fetched === null))
    throw new CommandError(
      `No service tried within ${waitSeconds} seconds. A service with token exchange and these entries must be running.`,
    );
  if (failed > 0)
    throw new CommandError(`Key sets that could not be fetched or have no usable key: ${failed}.`);
}
