// svc-admin keys entry: writes a trusted key entry, checked as the service would check it.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { PublicKeyError, readPublicKey } from '../administration/partners/public-key.js';
import type { Algorithm, Findings, Row } from '../token-exchange/instance.js';
import { ALGORITHMS, KEY_MEMBERS, POLICY, readEntry } from '../token-exchange/instance.js';
import { MisuseError } from './command-answers.js';
import { addCommand, jsonMember, listOf, wholeNumber } from './command.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';
import { rulesOf } from './instance-settings.js';
import type { WorkloadOptions } from './workload-entry.js';
import { withWorkload, workloadMembers } from './workload-entry.js';

interface EntryOptions extends WorkloadOptions {
  readonly publicKey?: string;
  readonly jwksUri?: string;
  readonly issuer?: string;
  readonly kid?: string;
  readonly alg?: Algorithm[];
  readonly set?: readonly [string, unknown][];
  readonly strict: boolean;
  readonly array?: boolean;
}

/** Properties that have an option of their own, by commander's names of the options. */
const MEMBER_OPTIONS = Object.entries<Row<unknown>>({ ...KEY_MEMBERS.both, ...POLICY }).flatMap(
  ([member, row]) => (row.option === undefined ? [] : [{ member, row, option: optionOf(row.option, row) }]),
);

export function addEntryCommand(keys: Command, context: CommandContext): void {
  const about = 'print a trusted key entry for the file or `keys add`';
  const command = addCommand(keys, 'entry', about, EXAMPLE, MORE);
  withWorkload(withKey(command));
  for (const { option } of MEMBER_OPTIONS) command.addOption(option);
  command
    .option('--set <member=json>', 'any other member; repeatable', jsonMember)
    .option('--no-strict', 'check without the strict policy: what the entry leaves out is then allowed')
    .option('--array', 'print a whole file of trusted keys, with this one entry')
    .action((options: EntryOptions & Readonly<Record<string, unknown>>) => printEntry(options, context));
}

const MORE = `It is checked by the strict policy (SVC_TOKEN_EXCHANGE_STRICT=true): audience, roles and e-mail domains ('*' for any) must be
there, and origins unless --flows exchange.`;
const EXAMPLE = `keys entry --public-key partner.pub.pem --kid 2026-11 --name acme --issuer https://partner.example \\
    --audience https://instance.example --roles global:member --origins https://product.example \\
    --email-domains product.example --scopes workflow:read > acme.json
  svc-admin keys add --file acme.json
  svc-admin keys entry --github acme/flows --branch main --id 456789 --as deploy@example.com > ci.json`;

function withKey(command: Command): Command {
  return command
    .addOption(new Option('--public-key <file>', "the partner's public key, PEM or JWK").conflicts('jwksUri'))
    .option('--jwks-uri <url>', "address of the partner's key set, in place of --public-key")
    .option(
      '--issuer <url>',
      'the `iss` of its tokens, character by character; --github and --gitlab have a default',
    )
    .option(
      '--kid <kid>',
      "with --public-key: the `kid` of its tokens; the JWK's, or the key's thumbprint, if left out",
    )
    .addOption(
      new Option(
        '--alg <list>',
        'with --public-key: algorithms of its tokens; the first one that fits if left out',
      )
        .argParser(listOf(ALGORITHMS))
        .conflicts('jwksUri'),
    );
}

/** An option's help is its property's label, with the known values. */
function optionOf(flags: string, { kind, label, values, range }: Row<unknown>): Option {
  const known = Array.isArray(values) ? `: ${values.join(', ')}` : '';
  const option = new Option(flags, `${label.charAt(0).toLowerCase()}${label.slice(1)}${known}`);
  if (kind === 'list') option.argParser(texts);
  if (range !== undefined) option.argParser(wholeNumber(...range));
  return option;
}

async function printEntry(
  options: EntryOptions & Readonly<Record<string, unknown>>,
  context: CommandContext,
): Promise<void> {
  const workload = await workloadMembers(options, rulesOf(context).baseUrl, context);
  const keys = 'url' in workload ? {} : await keyMembers(options, context);
  const entry = { ...keys, ...workload, ...otherMembers(options) };
  const { strict, array } = options;
  const { warnings, notes } = checkedEntry(entry, strict, context);
  for (const warning of warnings) context.answers.remark(`warning: ${warning}`);
  for (const note of notes) context.answers.remark(`note: ${note}`);
  const value = array === true ? [entry] : entry;
  context.answers.give(value, `${JSON.stringify(value, null, 2)}\n`);
}

/** @throws CommandError if the service would not accept it */
export function checkedEntry(entry: object, isStrict: boolean, context: CommandContext): Findings {
  const findings: Findings = { problems: [], warnings: [], notes: [] };
  const rules = { ...rulesOf(context), defaults: isStrict ? ('strict' as const) : ('contract' as const) };
  readEntry(undefined, entry, rules, findings);
  if (findings.problems.length === 0) return findings;
  throw new CommandError('The service would not take this entry:', findings.problems);
}

async function keyMembers(options: EntryOptions, context: CommandContext): Promise<object> {
  const { publicKey: path, jwksUri: url, issuer } = options;
  if (issuer === undefined) throw new MisuseError('Give --issuer.');
  if (url !== undefined) return { type: 'jwks', url, issuer };
  if (path === undefined) throw new MisuseError('Give --public-key or --jwks-uri.');
  return { type: 'static', ...(await staticKey(path, options, context)), issuer };
}

/** The entry's properties for a key in a file, PEM or JWK. @throws CommandError if the file has no public key */
export async function staticKey(
  path: string,
  { kid, alg }: Pick<EntryOptions, 'kid' | 'alg'>,
  context: CommandContext,
): Promise<{ kid: string; algorithms: readonly Algorithm[]; key: string }> {
  try {
    const read = await readPublicKey(readTextFile(context, path));
    return { kid: kid ?? read.kid, algorithms: alg ?? read.algorithms, key: read.key };
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new CommandError(`${path} must hold a public key as PEM or JWK: it ${error.message}.`);
  }
}

function otherMembers(options: EntryOptions & Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = MEMBER_OPTIONS.map(
    ({ member, option }) => [member, options[option.attributeName()]] as const,
  );
  const given = named.filter(([, value]) => value !== undefined);
  return Object.fromEntries<unknown>([...given, ...(options.set ?? [])]);
}

function texts(list: string): string[] {
  return list === '' ? [] : list.split(',').map((text) => text.trim());
}
