// svc-admin partners: asks a few questions, adds a partner, and prints its entry, its code and the next steps.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { EntryOperations } from '../administration/entries/entries.operations.js';
import { fetchedInWords, fetchKeySets } from '../administration/keys/key-sets.operations.js';
import { CommandError } from '../administration/operation.js';
import type { PartnerAnswers, PartnerKeys } from '../administration/partners/partner-entry.js';
import {
  PARTNER_QUESTIONS,
  PARTNER_ROLES,
  partnerEntry,
  recommended,
} from '../administration/partners/partner-entry.js';
import type { PartnerFacts, Templates } from '../administration/partners/snippets.js';
import {
  agentText,
  backendSnippets,
  pageSnippets,
  policySnippet,
  PROGRAMS,
} from '../administration/partners/snippets.js';
import { readTemplates } from '../administration/partners/templates.js';
import { printable, quoted } from '../administration/table.js';
import { domainNamed } from '../platform/text/email-address.js';
import { pageOrigin } from '../platform/text/origin.js';
import { parsedUrl } from '../platform/text/url.js';
import type { Algorithm, Findings } from '../token-exchange/instance.js';
import { ALGORITHMS, newPrivateKey, readEntry } from '../token-exchange/instance.js';
import { addCommand, perform, usableKid } from './command.js';
import { rulesOf } from './command.module.js';
import type { CommandContext, Terminal } from './command-context.js';
import { MisuseError } from './command-context.js';
import type { NewFile } from './files.js';
import { defaultKid, keyTexts, STANDARD_INPUT, staticKey, writeFiles } from './files.js';
import type { NextCommand } from './first-requests.js';
import { firstRequests, nextInWords, word } from './first-requests.js';
import type { Question } from './terminal.js';
import { answersTo, listed } from './terminal.js';

const KEY_FILE = 'partner-key.pem';

interface AddOptions extends Partial<TypedPartner> {
  readonly jwksUri?: string;
  readonly publicKey?: string;
  readonly newKey?: string | true;
  readonly kid?: string;
  readonly alg: Algorithm;
  readonly audience?: string;
  readonly language: string;
  readonly agentFile?: string;
  readonly store: boolean;
  readonly yes?: true;
}

export function addPartnersCommands(program: Command, context: CommandContext): void {
  const partners = program.command('partners').description('add a partner');
  const about =
    'store the entry of a new partner; print the entry, the code of the partner and the next steps';
  const command = addCommand(partners, 'add', about, EXAMPLE, MORE);
  for (const { flag, about } of QUESTIONS) command.option(flag, about);
  withKeys(command)
    .option('--audience <text>', "the `aud` of its tokens; the instance's address if left out")
    .addOption(
      new Option('--language <name>', 'language of the printed backend')
        .choices(PROGRAMS.map(({ id }) => id))
        .default('node'),
    )
    .option('--agent-file <file>', 'also write all code into one file for a coding agent; it has no secret')
    .option('--no-store', 'store nothing: for an instance that is configured by file')
    .option('--yes', 'ask nothing: use the options and the recommended answers, as without a terminal')
    .action((options: AddOptions) => add(options, command, context));
}

const MORE = `It asks for what no option gives: the issuer, the key, and five questions about permissions. Everything else gets the
recommended value, which \`keys policy\` can change.`;
const EXAMPLE = `partners add --name acme --issuer https://partner.example --origins https://product.example --new-key
  svc-admin partners add --name acme --issuer https://partner.example --origins https://product.example \\
    --jwks-uri https://partner.example/jwks.json --language python --agent-file embed.md`;

function withKeys(command: Command): Command {
  return command
    .addOption(
      new Option('--jwks-uri <url>', 'address of its key set').conflicts(['publicKey', 'newKey', 'kid']),
    )
    .addOption(new Option('--public-key <file>', 'its public key, PEM or JWK').conflicts('newKey'))
    .option(
      '--new-key [file]',
      `create its key pair; the private key goes into this file (${KEY_FILE}), or with - it is printed once`,
    )
    .option('--kid <kid>', "id of its key; the JWK's, or the key's thumbprint, if left out", usableKid)
    .addOption(new Option('--alg <name>', 'algorithm of a new key').choices(ALGORITHMS).default('ES256'));
}

async function add(options: AddOptions, command: Command, context: CommandContext): Promise<void> {
  const { answers } = context;
  const terminal = options.yes === true || answers.isJson ? undefined : context.terminal;
  const refuse = (message: string) => command.error(`error: ${message}`);
  const typed = await answersTo(QUESTIONS, { given: options, settings: undefined, terminal, refuse });
  const trusted = await trustedBy(await withAskedKey(options, terminal), context);
  const { baseUrl = '' } = rulesOf(context);
  const audience = options.audience ?? baseUrl;
  const partner = partnerOf(typed);
  const entry = partnerEntry(trusted.keys, partner, recommended(audience));
  const { warnings } = checkedEntry(entry, context);
  for (const warning of warnings) answers.remark(`warning: ${warning}`);
  const facts = { ...trusted, issuer: typed.issuer, audience, baseUrl };
  const templates = readTemplates();
  const written = [...trusted.files, ...agentFiles(options, templates, facts)];
  const shown = shownCode(templates, facts, options.language);
  await settle(entry, written, options, context);
  const [emailDomain = ''] = partner.emailDomains;
  const next = nextSteps({ ...facts, emailDomain }, options);
  const added = { entry, stored: options.store, privateKey: trusted.printed, next };
  const { kid, algorithm, keyFile } = facts;
  const { backend, page, policy } = shown;
  answers.give({ ...added, kid, algorithm, keyFile, backend, page, policy }, textOf(added, kid, shown));
}

/** @throws CommandError if the service would not accept it */
function checkedEntry(entry: object, context: CommandContext): Findings {
  const findings: Findings = { problems: [], warnings: [] };
  readEntry(undefined, entry, rulesOf(context), findings);
  if (findings.problems.length === 0) return findings;
  throw new CommandError('The service would not accept this entry:', findings.problems);
}

/** The partner's code, and its program in the given language. @throws MisuseError if there is no such program */
function shownCode(templates: Templates, facts: PartnerFacts, language: string) {
  const backend = backendSnippets(templates, facts);
  const program = backend.find(({ id }) => id === language);
  if (program === undefined)
    throw new MisuseError(
      `--language ${language} has no program for ${facts.algorithm}. Choose another one.`,
    );
  return { backend, page: pageSnippets(templates, facts), policy: policySnippet(facts), program };
}

/** Asks for the key if no option names it. */
async function withAskedKey(options: AddOptions, terminal: Terminal | undefined): Promise<AddOptions> {
  if ([options.jwksUri, options.publicKey, options.newKey].some((given) => given !== undefined))
    return options;
  if (terminal === undefined) throw new MisuseError('Give --jwks-uri, --public-key or --new-key.');
  const about = 'The address of its key set, the file of its public key, or new for a new key pair [new]: ';
  const answer = (await terminal.ask(about)).trim();
  if (answer === '' || answer === 'new') return { ...options, newKey: true };
  return /^https?:/.test(answer) ? { ...options, jwksUri: answer } : { ...options, publicKey: answer };
}

/** The key that an entry trusts, and what the partner's code needs to know about it. */
interface Trusted extends Pick<PartnerFacts, 'kid' | 'algorithm' | 'keyFile'> {
  readonly keys: PartnerKeys;
  readonly files: readonly NewFile[];
  readonly printed?: string;
}

function trustedBy(options: AddOptions, context: CommandContext): Promise<Trusted> {
  if (options.jwksUri !== undefined) return ofKeySet(options.jwksUri, options, context);
  return options.publicKey === undefined
    ? ofNewPair(options)
    : ofPublicKey(options.publicKey, options, context);
}

/** The service fetches the keys by itself, perhaps from another network, so a failure is only a warning. */
async function ofKeySet(url: string, { alg }: AddOptions, context: CommandContext): Promise<Trusted> {
  if (!parsedUrl(url)) throw new MisuseError('--jwks-uri must be a URL.');
  const [set] = await fetchKeySets([{ label: 'the key set', url }], rulesOf(context));
  if (set !== undefined) context.answers.remark(fetchedInWords(set).trimEnd());
  const [key] = set?.keys ?? [];
  const [algorithm = alg] = key?.algorithms ?? [];
  return {
    keys: { type: 'jwks', url },
    ...{ kid: key?.kid ?? 'KEY_ID', algorithm, keyFile: KEY_FILE, files: [] },
  };
}

async function ofPublicKey(path: string, { kid }: AddOptions, context: CommandContext): Promise<Trusted> {
  const key = await staticKey(path, kid, context);
  const [algorithm = ''] = key.algorithms;
  return { keys: { type: 'static', ...key }, kid: key.kid, algorithm, keyFile: KEY_FILE, files: [] };
}

async function ofNewPair({ newKey, kid: given, alg }: AddOptions): Promise<Trusted> {
  const path = newKey === true || newKey === undefined ? KEY_FILE : newKey;
  const pair = newPrivateKey(alg);
  const kid = given ?? (await defaultKid(pair));
  const { privatePem, publicPem } = keyTexts(pair, kid, alg);
  const keys: PartnerKeys = { type: 'static', kid, algorithms: [alg], key: publicPem };
  const common = { keys, kid, algorithm: alg };
  if (path === STANDARD_INPUT) return { ...common, keyFile: KEY_FILE, files: [], printed: privatePem };
  return { ...common, keyFile: path, files: [{ path, text: privatePem, isPrivate: true }] };
}

function agentFiles({ agentFile }: AddOptions, templates: Templates, facts: PartnerFacts): NewFile[] {
  return agentFile === undefined ? [] : [{ path: agentFile, text: agentText(templates, facts) }];
}

/** Stores the entry once its files are written: a private key that cannot be written would be lost. */
async function settle(
  entry: object,
  files: readonly NewFile[],
  { store }: AddOptions,
  context: CommandContext,
): Promise<void> {
  writeFiles(context, files, {});
  if (!store) return;
  try {
    await perform(context, EntryOperations, 'add', { entry });
  } catch (error) {
    // Without the entry the files are useless.
    for (const { path } of files) rmSync(resolve(context.workingDirectory, path), { force: true });
    throw error;
  }
}

function nextSteps(
  { keyFile, kid, issuer, audience, emailDomain, baseUrl }: PartnerFacts & { readonly emailDomain: string },
  { store }: AddOptions,
): NextCommand[] {
  const token = { keyFile, kid, issuer, audience, address: baseUrl };
  return [
    ...(store
      ? []
      : [
          {
            command: 'npx svc-admin keys check',
            does: 'write the entry into the file of trusted keys, check it, and restart the service',
          },
        ]),
    ...firstRequests({ ...token, emailDomain: emailDomain === '*' ? 'partner.example' : emailDomain }),
    {
      command: `npx svc-admin audit list --issuer ${word(issuer)} --since 10m`,
      does: 'show the requests of the partner with their results and reasons',
    },
  ];
}

interface AddedPartner {
  readonly entry: { readonly name: string };
  readonly stored: boolean;
  /** PEM. Undefined if it was written to a file or is the partner's own. */
  readonly privateKey?: string;
  readonly next: readonly NextCommand[];
}

function textOf(
  { entry, stored, privateKey, next }: AddedPartner,
  kid: string,
  { program, page, policy }: ReturnType<typeof shownCode>,
): string {
  const state = stored
    ? `The entry ${quoted(entry.name)} is stored, and trusted everywhere within 10 seconds:`
    : `The entry ${quoted(entry.name)} for the file of trusted keys:`;
  const key = `\nThe private key, which is shown only now and belongs to the partner alone:\n\n${privateKey}`;
  return [
    `${state}\n\n${JSON.stringify(entry, null, 2)}\n`,
    privateKey === undefined ? '' : key,
    `\nThe kid of the key is ${printable(kid)}. The backend of the partner, ${program.file}:\n\n${program.text}`,
    `\nThe page of the partner:\n\n${page[0]?.text ?? ''}`,
    `\nIf the page has a policy, it must allow the instance:\n\n  ${policy}\n`,
    ...nextInWords(next).map((line) => `${printable(line)}\n`),
  ].join('');
}

/** Strings as they are typed. Each question checks its own. */
interface TypedPartner {
  readonly name: string;
  readonly issuer: string;
  readonly emailDomains: string;
  readonly role: string;
  readonly projects: string;
  readonly origins: string;
  readonly maxTokenTtl: string;
  readonly maxUsers: string;
}

/** Each returns the rule that an answer breaks. */
export const PARTNER_CHECKS = {
  issuer: (text: string) => (parsedUrl(text) ? undefined : 'must be a URL'),
  origin: (text: string) =>
    pageOrigin(text) === undefined ? 'must be an origin such as https://product.example' : undefined,
  emailDomain: (text: string) =>
    domainNamed(text) === undefined ? 'must be a domain such as product.example' : undefined,
} as const;

/** The domain of the issuer's address, which most partners' users have. */
export function domainOf(issuer: string): string | undefined {
  const url = parsedUrl(issuer);
  return url && domainNamed(url.hostname);
}

const ROLES: readonly string[] = PARTNER_ROLES;

export const QUESTIONS: readonly Question<TypedPartner>[] = [
  {
    name: 'name',
    flag: '--name <name>',
    about: 'name of the partner in logs, metrics and commands',
    standard: () => undefined,
    check: (text) => (text === '' ? 'must not be empty' : undefined),
  },
  {
    name: 'issuer',
    flag: '--issuer <url>',
    about: 'the `iss` of its tokens, exactly',
    standard: () => undefined,
    check: PARTNER_CHECKS.issuer,
  },
  {
    name: 'emailDomains',
    flag: '--email-domains <list>',
    about: "domains of its users' e-mail addresses, separated by commas; * for any",
    standard: ({ issuer = '' }) => domainOf(issuer),
    check: (text) => (text === '*' ? undefined : eachOf(PARTNER_CHECKS.emailDomain)(text)),
  },
  {
    ...asked('role', '--role <role>'),
    check: (text) => (ROLES.includes(text) ? undefined : `must be ${ROLES.join(' or ')}`),
  },
  { ...asked('projects', '--projects <list>'), check: () => undefined },
  { ...asked('origins', '--origins <list>'), check: eachOf(PARTNER_CHECKS.origin) },
  { ...asked('maxTokenTtl', '--max-token-ttl <seconds>'), check: wholeNumber },
  { ...asked('maxUsers', '--max-users <number>'), check: wholeNumber },
];

/** Only a number is required here. The entry's check has the range. */
function wholeNumber(text: string): string | undefined {
  return /^\d{0,9}$/.test(text) ? undefined : 'must be a whole number';
}

/** One of the questions that the operator's page asks too. */
function asked(name: keyof typeof PARTNER_QUESTIONS, flag: string) {
  const { about, recommended } = PARTNER_QUESTIONS[name];
  return { name, flag, about, standard: () => recommended };
}

function eachOf(check: (text: string) => string | undefined) {
  return (text: string) => {
    const items = listed(text);
    return items.length === 0 ? 'must not be empty' : items.map(check).find((rule) => rule !== undefined);
  };
}

export function partnerOf(typed: TypedPartner): PartnerAnswers {
  const { maxTokenTtl, maxUsers } = typed;
  const { name, issuer, role } = typed;
  return {
    ...{ name, issuer, role, emailDomains: listed(typed.emailDomains) },
    ...{ projects: listed(typed.projects), origins: listed(typed.origins) },
    ...(maxTokenTtl !== '' && { maxTokenTtlSeconds: Number(maxTokenTtl) }),
    ...(maxUsers !== '' && { maxUsers: Number(maxUsers) }),
  };
}
