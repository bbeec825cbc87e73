// svc-admin keys entry: writes a trusted key entry, checked as the service would check it.
import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { Algorithm, Findings } from '../token-exchange/plain.js';
import { ALGORITHMS, algorithmsFitting, readEntry } from '../token-exchange/plain.js';
import type { CommandContext } from './command-settings.js';
import { rulesOf } from './instance-settings.js';
import { defaultKid } from './key-files.js';
import { jsonMember, listOf, wholeNumber } from './option-values.js';
import { readTextFile } from './text-file.js';

const MOST_PER_MINUTE = 1_000_000;

interface EntryOptions {
  readonly publicKey?: string;
  readonly jwksUri?: string;
  readonly issuer: string;
  readonly audience?: string;
  readonly kid?: string;
  readonly alg?: Algorithm[];
  readonly set?: readonly [string, unknown][];
  readonly strict: boolean;
  readonly array?: boolean;
}

/** Options that are members under another name. */
type PolicyOptions = Readonly<Record<(typeof MEMBERS)[number][0], unknown>>;

/** By the names that commander gives to options. */
const MEMBERS = [
  ['name', 'name'],
  ['roles', 'allowedRoles'],
  ['origins', 'origins'],
  ['emailDomains', 'emailDomains'],
  ['scopes', 'scopes'],
  ['resources', 'resources'],
  ['flows', 'flows'],
  ['logoutIssuer', 'logoutIssuer'],
  ['logoutAudience', 'logoutAudience'],
  ['actFor', 'actFor'],
  ['requireActor', 'requireActor'],
  ['rights', 'rights'],
  ['notAfter', 'notAfter'],
  ['perMinute', 'perMinute'],
] as const;

export function addEntryCommand(keys: Command, context: CommandContext): void {
  const command = keys
    .command('entry')
    .description('print a trusted key entry for the file of trusted keys, or for `keys add`');
  withKey(command);
  withPolicy(command)
    .option('--set <member=json>', 'any other member; repeatable', jsonMember)
    .option('--no-strict', 'check without the strict policy: what the entry leaves out is then allowed')
    .option('--array', 'print a whole file of trusted keys, with this one entry')
    .addHelpText('after', HELP)
    .action((options: EntryOptions & PolicyOptions) => printEntry(options, context));
}

const HELP = `
It is checked by the strict policy (SVC_TOKEN_EXCHANGE_STRICT=true): audience, roles and e-mail domains ('*' for any) must be
there, and origins unless --flows exchange.

Example:
  svc-admin keys entry --public-key partner.pub.pem --kid 2026-11 --name acme --issuer https://partner.example \\
    --audience https://instance.example --roles global:member --origins https://product.example \\
    --email-domains product.example --scopes workflow:read > acme.json
  svc-admin keys add --file acme.json`;

function withKey(command: Command): Command {
  return command
    .addOption(new Option('--public-key <file>', "the partner's public key, PEM").conflicts('jwksUri'))
    .option('--jwks-uri <url>', "address of the partner's key set, in place of --public-key")
    .requiredOption('--issuer <url>', 'the `iss` of its tokens, character by character')
    .option('--audience <text>', '`aud` of its tokens, usually the address of the instance')
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

function withPolicy(command: Command): Command {
  return command
    .option('--name <name>', 'name in logs and commands; `keys add` needs one')
    .option('--roles <list>', 'roles that its tokens may assign', texts)
    .option('--origins <list>', 'origins of pages that may frame the instance and sign in', texts)
    .option(
      '--email-domains <list>',
      "domains whose addresses may link to users and create them, or '*' for any",
      texts,
    )
    .option('--scopes <list>', 'scopes that its access tokens may have', texts)
    .option('--resources <list>', 'other services that its access tokens may be for', texts)
    .option('--flows <list>', 'of embed, exchange, id-jag and logout', texts)
    .option('--logout-issuer <url>', 'the provider that sends logouts, if another than --issuer')
    .option('--logout-audience <text>', 'another `aud` that logout tokens may have')
    .option('--act-for <list>', 'issuers whose subjects its actors may act for', texts)
    .option('--require-actor', 'refuse subjects without an actor')
    .option('--rights <rights>', 'whose rights a call with an actor needs: actor or both')
    .option('--not-after <moment>', 'when trust ends')
    .addOption(
      new Option('--per-minute <number>', 'tokens a minute, counted by the entry').argParser(
        wholeNumber(1, MOST_PER_MINUTE),
      ),
    );
}

async function printEntry(options: EntryOptions & PolicyOptions, context: CommandContext): Promise<void> {
  const entry = { ...(await keyMembers(options, context)), ...policyMembers(options) };
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
  const { publicKey: path, jwksUri: url, issuer, audience: expectedAudience } = options;
  if (url !== undefined) return { type: 'jwks', url, issuer, expectedAudience };
  if (path === undefined) throw new CommandError('Give --public-key or --jwks-uri.');
  const pem = readTextFile(context, path);
  const key = publicKeyOf(pem);
  const kid = options.kid ?? (key === undefined ? '' : await defaultKid(key));
  const algorithms = options.alg ?? (key === undefined ? [] : firstFitting(key));
  return { type: 'static', kid, algorithms, key: pem, issuer, expectedAudience };
}

/** Undefined where it is none: the reader of entries says what is wrong with it. */
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

/** Members that were not given are undefined, and JSON leaves them out. */
function policyMembers(options: EntryOptions & PolicyOptions): Record<string, unknown> {
  const named = MEMBERS.map(([option, member]) => [member, options[option]]);
  return Object.fromEntries([...named, ...(options.set ?? [])]) as Record<string, unknown>;
}

function texts(list: string): string[] {
  return list === '' ? [] : list.split(',').map((text) => text.trim());
}
