// svc-admin keys: the commands that add, change, suspend, resume, remove and list trusted key entries while the service runs.
import type { Command } from 'commander';
import type { ChangedEntry, ListedEntry } from '../administration/entries.operations.js';
import {
  ADD_ENTRY,
  CHANGE_ENTRY_POLICY,
  LIST_ENTRIES,
  REMOVE_ENTRY,
  RESUME_ENTRY,
  SHOW_ENTRY,
  SUSPEND_ENTRY,
} from '../administration/entries.operations.js';
import { CommandError } from '../administration/command-error.js';
import { perform, readList } from './administration.js';
import { counted } from '../platform/text/wording.js';
import type { CommandContext } from './command-settings.js';
import { staticKey } from './key-entry.command.js';
import { jsonMember } from './option-values.js';
import { findingLines, printable, quoted, renderTable } from './table.js';
import { readJsonFile } from './text-file.js';

const HEADINGS = ['ENTRY', 'FROM', 'STATE', 'TYPE', 'ISSUER', 'KID OR URL', 'UNTIL', 'CHANGED'];

const POLICY_HEADINGS = ['ENTRY', 'POLICY'];

/** So long before its end an entry is worth a notice: as the operator's page and the alerts have it. */
const NOTICE_DAYS = 30;
const DAY_MS = 86_400_000;

export function addEntryCommands(keys: Command, context: CommandContext): void {
  addList(keys, context);
  addShow(keys, context);
  addAdd(keys, context);
  addPolicy(keys, context);
  addSwitch(keys, context, {
    name: 'suspend',
    effect: 'refuse tokens of a stored entry until it is resumed; what was issued stays valid',
    operation: SUSPEND_ENTRY,
    outcome: 'is suspended',
    already: 'was suspended already',
  });
  addSwitch(keys, context, {
    name: 'resume',
    effect: 'take tokens of a suspended entry again',
    operation: RESUME_ENTRY,
    outcome: 'is trusted again',
    already: 'was not suspended',
  });
  addSwitch(keys, context, {
    name: 'remove',
    effect: 'remove a stored entry; what was issued stays valid',
    operation: REMOVE_ENTRY,
    outcome: 'is removed',
  });
}

function addList(keys: Command, context: CommandContext): void {
  keys
    .command('list')
    .description('list configured and stored entries, with what each allows')
    .addHelpText('after', '\nExample:\n  svc-admin keys list --json')
    .action(async () => {
      const all = await readList(context, LIST_ENTRIES, {});
      context.answers.giveList(all, () => listText(all), 'There is no trusted key entry.');
    });
}

function policyRow({ entry, policy, problems }: ListedEntry): string[] {
  return [entry, problems.length > 0 ? `nothing: ${problems.join('; ')}` : policy.join('; ')];
}

function listText(all: readonly ListedEntry[]): string {
  const tables = [renderTable(HEADINGS, all.map(rowOf)), renderTable(POLICY_HEADINGS, all.map(policyRow))];
  const place = all.find(({ from }) => from === 'configuration')?.configuredIn;
  const note = `Configured entries are in ${printable(place ?? '')}: change them there, and restart.\n`;
  return [...tables, ...(place === undefined ? [] : [note])].join('\n');
}

function rowOf(listed: ListedEntry): string[] {
  const { entry, from, state, revoked, type, issuer, keys, until, changedAt } = listed;
  const stateCell = state === 'trusted' && revoked.length > 0 ? 'trusted, but for revoked keys' : state;
  const place = keys === null ? '' : 'kid' in keys ? keys.kid : keys.url;
  return [entry, from, stateCell, type ?? '', issuer ?? '', place, untilCell(until), changedAt ?? ''];
}

/** An end that is near says so. */
function untilCell(until: string | null): string {
  if (until === null) return 'no end';
  const days = Math.ceil((Date.parse(until) - Date.now()) / DAY_MS);
  const moment = until.replace('.000', '');
  return days > 0 && days <= NOTICE_DAYS ? `${moment} (within ${counted(days, 'day')})` : moment;
}

function addAdd(keys: Command, context: CommandContext): void {
  keys
    .command('add')
    .description('store a trusted key entry; every instance trusts it within 10 seconds, without a restart')
    .option('--file <file>', 'one entry as JSON, with a name; - reads standard input')
    .option(
      '--like <entry>',
      'a stored entry with a static key, of which all is taken but the key and its kid; needs --key',
    )
    .option('--key <file>', "with --like: the partner's new public key, PEM")
    .option('--kid <kid>', 'with --like: the `kid` of its tokens; the thumbprint of the key if left out')
    .option('--name <name>', 'with --like: name of the new entry; that of the other with -2 if left out')
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin keys add --file entry.json\n  svc-admin keys add --like acme --key new.pub.pem --kid 2027-01',
    )
    .action(async (options: AddOptions) => {
      const changed = await perform(context, ADD_ENTRY, await newEntry(options, context));
      writeChange(changed, 'is stored, and trusted everywhere within 10 seconds', context);
    });
}

interface AddOptions {
  readonly file?: string;
  readonly like?: string;
  readonly key?: string;
  readonly kid?: string;
  readonly name?: string;
}

async function newEntry({ file, like, key, kid, name }: AddOptions, context: CommandContext) {
  if (file !== undefined && [like, key, kid, name].every((option) => option === undefined))
    return { entry: readJsonFile(context, file, 'one entry') };
  if (file !== undefined || like === undefined || key === undefined)
    throw new CommandError('Give either --file, or --like and --key.');
  // The algorithms stay those of the other entry.
  const { algorithms: _fitting, ...ownKey } = await staticKey(key, { kid }, context);
  return { entry: { name: name ?? `${like.replace(/^stored:/, '')}-2`, ...ownKey }, like };
}

function addShow(keys: Command, context: CommandContext): void {
  keys
    .command('show')
    .description('print a stored entry as JSON, as `keys policy --file` takes it; secrets are hashes')
    .argument('<name>', 'the stored entry, as `keys list` prints it or without `stored:`')
    .addHelpText('after', '\nExample:\n  svc-admin keys show acme > acme.json')
    .action(async (name: string) => {
      const [shown] = await readList(context, SHOW_ENTRY, { name });
      context.answers.give(shown, `${JSON.stringify(shown?.definition, null, 2)}\n`);
    });
}

interface PolicyOptions {
  readonly set?: readonly [string, unknown][];
  readonly unset?: readonly string[];
  readonly file?: string;
}

function addPolicy(keys: Command, context: CommandContext): void {
  keys
    .command('policy')
    .description('change the policy of a stored entry')
    .argument('<name>', 'the stored entry, as `keys list` prints it or without `stored:`')
    .option('--set <member=json>', 'set a member; repeatable', jsonMember)
    .option('--unset <member>', 'remove a member; repeatable', collected)
    .option('--file <file>', 'the whole new entry, as JSON; - reads standard input')
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin keys policy acme --set \'allowedRoles=["global:member"]\' --unset notAfter',
    )
    .action(async (name: string, options: PolicyOptions) => {
      const edit = editOf(options, context);
      const [shown] = await readList(context, SHOW_ENTRY, { name });
      const { definition = {}, revision = '' } = shown ?? {};
      const changed = await perform(context, CHANGE_ENTRY_POLICY, {
        name,
        entry: edit(definition),
        revision,
      });
      const outcome = changed.changed ? 'is changed, everywhere within 10 seconds' : 'was so already';
      writeChange(changed, outcome, context);
    });
}

type Entry = Readonly<Record<string, unknown>>;

function editOf({ set = [], unset = [], file }: PolicyOptions, context: CommandContext) {
  const isByMember = set.length + unset.length > 0;
  if (isByMember === (file !== undefined))
    throw new CommandError('Give either --set and --unset, or --file.');
  if (file === undefined) return (entry: Entry) => edited(entry, Object.fromEntries(set), unset);
  const whole = readJsonFile(context, file, 'one entry');
  return () => whole;
}

/** @throws CommandError for a member that is to be taken away and is not there, or is to be set as well */
function edited(entry: Entry, set: Entry, unset: readonly string[]): Entry {
  const problems = unset.flatMap((member) => {
    const name = JSON.stringify(member);
    if (set[member] !== undefined) return [`${name}: is to be set and unset`];
    return entry[member] === undefined ? [`${name}: is not set`] : [];
  });
  if (problems.length > 0) throw new CommandError('The policy cannot be changed so:', problems);
  return Object.fromEntries(
    Object.entries({ ...entry, ...set }).filter(([member]) => !unset.includes(member)),
  );
}

interface SwitchCommand {
  readonly name: string;
  readonly effect: string;
  readonly operation: typeof SUSPEND_ENTRY;
  /** Said of the entry, afterwards. */
  readonly outcome: string;
  /** Said where nothing was changed. */
  readonly already?: string;
}

function addSwitch(keys: Command, context: CommandContext, command: SwitchCommand): void {
  const { name: word, effect, operation, outcome, already = outcome } = command;
  keys
    .command(word)
    .description(effect)
    .argument('<name>', 'the stored entry, as `keys list` prints it or without `stored:`')
    .addHelpText('after', `\nExample:\n  svc-admin keys ${word} acme`)
    .action(async (name: string) => {
      const { changed } = await perform(context, operation, { name });
      const said = changed ? `${outcome}, everywhere within 10 seconds` : already;
      context.answers.give({ name, changed }, `The entry ${quoted(name)} ${said}.\n`);
    });
}

function writeChange(changed: ChangedEntry, outcome: string, { answers }: CommandContext): void {
  const { name, policy } = changed;
  const lines = [
    ...findingLines(changed),
    `The entry ${quoted(name)} ${outcome}: ${printable(policy.join('; '))}.\n`,
  ];
  answers.give(changed, lines.join(''));
}

function collected(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}
