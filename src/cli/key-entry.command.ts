// svc-admin keys entry: writes a trusted key entry, checked as the service would check it.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { SHOW_USER } from '../administration/users.operations.js';
import { firstCharacters } from '../platform/text/characters.js';
import { pemFault } from '../platform/text/pem-fault.js';
import type { Algorithm, Findings, Row } from '../token-exchange/instance.js';
import { ALGORITHMS, KEY_MEMBERS, POLICY, algorithmsFitting, readEntry } from '../token-exchange/instance.js';
import { OPERATOR_ROLES, OWNER_ROLE } from '../users/role.js';
import { readOne } from './administration.js';
import { addCommand } from './command.js';
import type { CommandContext } from './command-settings.js';
import { rulesOf } from './instance-settings.js';
import { defaultKid } from './key-files.js';
import { jsonMember, listOf, wholeNumber } from './option-values.js';
import { readTextFile } from './text-file.js';

interface EntryOptions {
  readonly publicKey?: string;
  readonly jwksUri?: string;
  readonly issuer?: string;
  readonly kid?: string;
  readonly alg?: Algorithm[];
  readonly github?: string;
  readonly branch?: string;
  readonly id?: string;
  readonly server?: string;
  readonly as?: string;
  readonly set?: readonly [string, unknown][];
  readonly strict: boolean;
  readonly array?: boolean;
}

/** Of a stored entry. */
const MAX_NAME_CHARACTERS = 64;
/** Of a job that creates and replaces workflows. */
const JOB_SCOPES = ['workflow:read', 'workflow:write'];

/** Members that have an option of their own, by the names that commander gives to options. */
const MEMBER_OPTIONS = Object.entries<Row<unknown>>({ ...KEY_MEMBERS.both, ...POLICY }).flatMap(
  ([member, row]) => (row.option === undefined ? [] : [{ member, row, option: optionOf(row.option, row) }]),
);

export function addEntryCommand(keys: Command, context: CommandContext): void {
  const about = 'print a trusted key entry for the file of trusted keys, or for `keys add`';
  const command = addCommand(keys, 'entry', about, EXAMPLE, MORE);
  withJob(withKey(command));
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
    .addOption(new Option('--public-key <file>', "the partner's public key, PEM").conflicts('jwksUri'))
    .option('--jwks-uri <url>', "address of the partner's key set, in place of --public-key")
    .option('--issuer <url>', 'the `iss` of its tokens, character by character; needed but for --github')
    .option(
      '--kid <kid>',
      'with --public-key: the `kid` of its tokens; the thumbprint of the key if left out',
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

function withJob(command: Command): Command {
  const github = new Option('--github <owner/repository>', 'for jobs of a repository in GitHub Actions');
  return command
    .addOption(github.conflicts(['issuer', 'jwksUri', 'publicKey', 'kid', 'alg']))
    .option('--branch <name>', 'with --github: the branch; * stands for anything but : and /')
    .option('--id <number>', 'with --github: the id of the repository, which no other ever gets')
    .option('--server <url>', 'with --github: the address of a server of your own')
    .option(
      '--as <id-or-email>',
      'for a job or service: the user whom its tokens act as; the entry holds the id',
    );
}

/** The help of an option is the label of its member, with the known values. */
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
  const keys = options.github === undefined ? await keyMembers(options, context) : githubMembers(options);
  const entry = { ...keys, ...(await jobMembers(options, context)), ...otherMembers(options) };
  const { strict, array } = options;
  const { warnings, notes } = checked(entry, strict, context);
  for (const warning of warnings) context.answers.remark(`warning: ${warning}`);
  for (const note of notes) context.answers.remark(`note: ${note}`);
  const value = array === true ? [entry] : entry;
  context.answers.give(value, `${JSON.stringify(value, null, 2)}\n`);
}

/** @throws CommandError where the service would not take it */
function checked(entry: object, isStrict: boolean, context: CommandContext): Findings {
  const findings: Findings = { problems: [], warnings: [], notes: [] };
  const rules = { ...rulesOf(context), defaults: isStrict ? ('strict' as const) : ('contract' as const) };
  readEntry(undefined, entry, rules, findings);
  if (findings.problems.length === 0) return findings;
  throw new CommandError('The service would not take this entry:', findings.problems);
}

async function keyMembers(options: EntryOptions, context: CommandContext): Promise<object> {
  const { publicKey: path, jwksUri: url, issuer } = options;
  const stray = (['branch', 'id', 'server'] as const).find((name) => options[name] !== undefined);
  if (stray !== undefined) throw new CommandError(`--${stray} is for --github.`);
  if (issuer === undefined) throw new CommandError('Give --issuer.');
  if (url !== undefined) return { type: 'jwks', url, issuer };
  if (path === undefined) throw new CommandError('Give --public-key or --jwks-uri.');
  return { type: 'static', ...(await staticKey(path, options, context)), issuer };
}

/** The key set of GitHub, or of a server of one's own, and whose jobs of it are meant. @throws CommandError */
function githubMembers({ github = '', branch, id, server, as }: EntryOptions): object {
  if (as === undefined) throw new CommandError('--github needs --as: the user whom its tokens act as.');
  if (!/^[\w.-]+\/[\w.-]+$/.test(github)) throw new CommandError('--github must be OWNER/REPOSITORY.');
  if (!branch) throw new CommandError('--github needs --branch.');
  if (id !== undefined && !/^\d+$/.test(id)) throw new CommandError('--id must be a number.');
  const issuer =
    server === undefined
      ? 'https://token.actions.githubusercontent.com'
      : `${server.replace(/\/$/, '')}/_services/token`;
  const [owner, repository] = github.split('/');
  const ref = `ref:refs/heads/${branch}`;
  return {
    ...{ type: 'jwks', issuer, url: `${issuer}/.well-known/jwks` },
    name: firstCharacters(`github ${github} ${branch}`, MAX_NAME_CHARACTERS).trim(),
    // New repositories have immutable subjects, which contain ids.
    subjects: [`repo:${github}:${ref}`, `repo:${owner}@*/${repository}@${id ?? '*'}:${ref}`],
    claims: id === undefined ? undefined : { repository_id: id },
  };
}

/** What an entry has for a job or service, unless another option says otherwise. */
async function jobMembers({ github, id, as }: EntryOptions, context: CommandContext): Promise<object> {
  if (as === undefined) return {};
  const signInAs = await userIdFor(as, context);
  if (github !== undefined && id === undefined)
    context.answers.remark(
      'note: another repository may get the name of this one after it is renamed or deleted: --id keeps it out',
    );
  const { baseUrl } = rulesOf(context);
  return { expectedAudience: baseUrl, flows: ['exchange'], signInAs, scopes: JOB_SCOPES };
}

/** An e-mail address may belong to somebody else later; an id stays. */
async function userIdFor(idOrEmail: string, context: CommandContext): Promise<string> {
  const user = await readOne(context, SHOW_USER, { user: idOrEmail });
  if (user.role === OWNER_ROLE)
    throw new CommandError('--as: this user is the owner, and no entry may sign in as the owner.');
  if (OPERATOR_ROLES.includes(user.role))
    context.answers.remark(
      'warning: --as: this user is an administrator: the entry works only if the owner or a command adds it',
    );
  return user.id;
}

/** The members of an entry for the key in a file. @throws CommandError where it holds no public key */
export async function staticKey(
  path: string,
  { kid, alg }: Pick<EntryOptions, 'kid' | 'alg'>,
  context: CommandContext,
): Promise<{ kid: string; algorithms: readonly Algorithm[]; key: string }> {
  const pem = readTextFile(context, path);
  const key = publicKeyOf(pem);
  if (key === undefined)
    throw new CommandError(`${path} must hold a PEM public key: it ${pemFault(pem, 'public key')}.`);
  return { kid: kid ?? (await defaultKid(key)), algorithms: alg ?? firstFitting(key), key: pem };
}

/** Undefined where it is none. */
function publicKeyOf(pem: string): KeyObject | undefined {
  try {
    return pem.includes('PRIVATE KEY') ? undefined : createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** Of an RSA key, which fits several, the usual one. */
function firstFitting(key: KeyObject): readonly Algorithm[] {
  return algorithmsFitting(key).slice(0, 1);
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
