// svc-admin token: signs external tokens as a partner would, for a trial, and explains the tokens of partners.
import { createPublicKey, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import type {
  Explained,
  ExplainedEvent,
  ExplainedRequest,
  TokenToExplain,
} from '../administration/explain/explain-token.operation.js';
import { TokenOperations } from '../administration/explain/explain-token.operation.js';
import { CommandError } from '../administration/operation.js';
import { printable, renderTable } from '../administration/table.js';
import { Clock } from '../platform/clock.js';
import type {
  Algorithm,
  ExplainedCheck,
  ExplainedToken,
  ExplainedUser,
  TokenExplanation,
} from '../token-exchange/instance.js';
import {
  ACCESS_FLOWS,
  ALGORITHMS,
  algorithmsFitting,
  FLOWS,
  MAX_TOKEN_CHARACTERS,
  signCompactJws,
} from '../token-exchange/instance.js';
import { addCommand, addOperation, isoMoment, jsonMember, usableKid, wholeNumber } from './command.js';
import type { CommandContext } from './command-context.js';
import { MisuseError } from './command-context.js';
import { defaultKid, inputName, readInput, readPrivateKey, signerOf, STANDARD_INPUT } from './files.js';

/** The longest lifetime that embedded login allows. */
const DEFAULT_LIFETIME_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 86_400;

interface SignOptions {
  /** Path of the private key. */
  readonly key: string;
  readonly kid?: string;
  readonly alg?: Algorithm;
  readonly issuer: string;
  readonly subject: string;
  readonly audience: string;
  /** The lifetime in seconds. */
  readonly lifetime: number;
  readonly email?: string;
  readonly emailVerified?: true;
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
  readonly jti?: string;
  readonly claim?: [string, unknown][];
}

export function addTokenCommands(program: Command, context: CommandContext): void {
  const token = program.command('token').description('create external tokens for tests, and explain tokens');
  addSign(token, context);
  addExplain(token, context);
}

function addSign(token: Command, context: CommandContext): void {
  addCommand(
    token,
    'sign',
    'sign an external token, for tests; prints the token and nothing else',
    'token sign --key partner.pem --kid 2026-11 --issuer https://partner.example \\\n' +
      '    --audience https://instance.example --subject customer-1 --email customer-1@product.example --email-verified',
    'Each token can be used once. An actor is a second token, about the user who acts.',
  )
    .requiredOption('--key <file>', "the partner's private key, PEM, as `keys keygen` creates it")
    .option('--kid <kid>', 'kid of the header; the thumbprint of the key if left out', usableKid)
    .addOption(
      new Option('--alg <name>', 'alg of the header; the first one that fits the key if left out').choices(
        ALGORITHMS,
      ),
    )
    .requiredOption('--issuer <url>', 'iss')
    .requiredOption('--subject <id>', 'sub')
    .requiredOption('--audience <text>', 'aud')
    .option(
      '--lifetime <seconds>',
      'exp - iat',
      wholeNumber(1, MAX_LIFETIME_SECONDS),
      DEFAULT_LIFETIME_SECONDS,
    )
    .option('--email <address>', 'email')
    .option('--given-name <name>', 'given_name')
    .option('--family-name <name>', 'family_name')
    .option('--role <role>', 'role')
    .option('--jti <id>', 'jti; random if left out')
    .option('--claim <name=json>', 'another claim, or another value of one; repeatable', jsonMember)
    .option('--email-verified', 'email_verified: true, which the strict policy needs')
    .action((options: SignOptions) => sign(options, context));
}

async function sign(options: SignOptions, context: CommandContext): Promise<void> {
  const { key: path, alg: given } = options;
  const key = readPrivateKey(context, path);
  const alg = given ?? algorithmsFitting(createPublicKey(key))[0];
  if (alg === undefined) throw new CommandError(`The key in ${path} fits no supported algorithm.`);
  const header = { typ: 'JWT', kid: options.kid ?? (await defaultKid(key)), alg };
  const claims = { ...claimsOf(options), ...Object.fromEntries(options.claim ?? []) };
  const token = signCompactJws(header, claims, signerOf(key, alg, path));
  context.answers.give({ token, header, claims }, `${token}\n`);
}

/** Missing options are undefined, so JSON omits them. */
function claimsOf(options: SignOptions) {
  const { issuer: iss, subject: sub, audience: aud, jti = randomUUID(), lifetime, email, role } = options;
  const iat = Math.floor(new Clock().nowSeconds());
  const names = { given_name: options.givenName, family_name: options.familyName };
  const profile = { email, email_verified: options.emailVerified, ...names, role };
  return { iss, sub, aud, iat, exp: iat + lifetime, jti, ...profile };
}

interface ExplainOptions {
  readonly tokenFile: string;
  readonly requestId?: string;
  readonly actorTokenFile?: string;
  readonly proofFile?: string;
  readonly flow: TokenToExplain['flow'];
  readonly scope?: string;
  readonly resource?: string;
  readonly origin?: string;
  readonly at?: Date;
}

const OF_A_TOKEN = ['tokenFile', 'actorTokenFile', 'proofFile', 'flow', 'scope', 'resource', 'origin', 'at'];

function addExplain(token: Command, context: CommandContext): void {
  addOperation(token, context, TokenOperations, 'explain', {
    about:
      'say why a token would be refused, or what it would get; exits with 1 if refused, and leaves the token usable',
    more:
      'The token is checked by the code that checks requests, with stored and configured data: give the command the variables of\n' +
      'the service. Nothing is used up, written, fetched or counted. Fetched keys are read from the database. The token\n' +
      'is never shown, e-mail addresses and sub only in part.',
    example: '< token.txt\n  svc-admin token explain --request-id 1fr68knv0000a8k2rq4t',
    input: (options: ExplainOptions) =>
      options.requestId === undefined ? inputOf(options, context) : { requestId: options.requestId },
    text: explainedText,
    json: (explained) => ('token' in explained ? explained.token : explained.request),
    after: refuse,
  })
    .option('--token-file <file>', 'the (subject) token; - reads standard input', STANDARD_INPUT)
    .option('--actor-token-file <file>', 'the actor token')
    .option('--proof-file <file>', 'the DPoP proof that the client sends with them')
    .addOption(
      new Option('--flow <flow>', 'the flow that the token is for').choices(ACCESS_FLOWS).default('exchange'),
    )
    .option('--scope <scopes>', 'as the client requests them, separated by spaces')
    .option('--resource <uris>', 'as the client requests them, separated by spaces')
    .option('--origin <origin>', 'origin of the page that posts an embedded login; no browser if left out')
    .option('--at <moment>', 'check times as of this moment; now if left out', isoMoment)
    .addOption(
      new Option('--request-id <id>', 'explain from the audit trail why this request was refused').conflicts(
        OF_A_TOKEN,
      ),
    );
}

/** @throws CommandError if the token is refused */
function refuse(explained: Explained): void {
  const refusal = 'token' in explained ? explained.token.refusal : null;
  if (refusal !== null) throw new CommandError(`The service would refuse this token: ${refusal.reason}.`);
}

function inputOf(options: ExplainOptions, context: CommandContext): TokenToExplain {
  const { flow, tokenFile, actorTokenFile, proofFile, scope, resource, origin, at } = options;
  const files = [tokenFile, actorTokenFile, proofFile];
  if (files.filter((file) => file === STANDARD_INPUT).length > 1)
    throw new MisuseError('Only one of them can come from standard input.');
  const readIf = (file?: string) => (file === undefined ? undefined : readToken(context, file));
  return {
    ...{ flow, scope, resource, origin, at: at?.toISOString() },
    token: readToken(context, tokenFile),
    actorToken: readIf(actorTokenFile),
    proof: readIf(proofFile),
  };
}

/** @throws CommandError if there is no token, or if it is too long */
function readToken(context: CommandContext, file: string): string {
  const token = readInput(context, file).trim();
  const where = inputName(file);
  if (token === '') throw new CommandError(`${where} contains no token.`);
  if (token.length <= MAX_TOKEN_CHARACTERS) return token;
  throw new CommandError(
    `${where} has more than ${MAX_TOKEN_CHARACTERS} characters: the service refuses it as token_malformed.`,
  );
}

/** @throws CommandError if the request is unknown */
function explainedText(explained: Explained): string {
  return 'token' in explained ? explanationText(explained.token) : requestText(explained.request);
}

const HEADINGS = ['STATE', 'TOKEN', 'CHECK', 'OF', 'EXPECTED', 'FOUND'];

function explanationText(explanation: TokenExplanation): string {
  const { checks, notes, asOf } = explanation;
  const inState = (state: ExplainedCheck['state']) => checks.filter((check) => check.state === state);
  const [passed, failed, unreached] = [inState('passed'), inState('failed'), inState('not-reached')];
  // If a check failed, it comes first.
  const shown = failed.length > 0 ? failed : passed;
  const lines = [
    ...outcomeLines(explanation),
    ...notes.map((note) => `Note: ${note}`),
    ...explanation.tokens.flatMap(tokenLines),
  ];
  const rest = [
    ...(failed.length > 0 ? placesLine('Passed', passed, failed) : []),
    ...placesLine('Not reached', unreached, failed),
  ];
  return [
    `${lines.map(printable).join('\n')}\n`,
    `\nChecks, as of ${asOf}:\n${renderTable(HEADINGS, shown.map(rowOf))}`,
    ...rest,
  ].join('');
}

function outcomeLines(explanation: TokenExplanation): string[] {
  const { refusal, flow, checks, issued } = explanation;
  const work = FLOWS[flow].work.replace(/^a/, 'A');
  if (refusal === null) return issuedLines(work, issued);
  const { reason, check, party, detail, cause, remedy } = refusal;
  const failed = checks.find(({ state }) => state === 'failed');
  const place = `${check}${party === null ? '' : `, of the ${party} token`}`;
  const { expected, found } = failed ?? {};
  return [
    `${work} would be refused: ${reason}`,
    ...refusalLines({ check: place, cause, remedy, detail, expected, found }),
  ];
}

/** Omits missing properties. A payload's properties may be of any type. */
function refusalLines(said: {
  readonly check: string | null;
  readonly cause: string | null;
  readonly remedy: string | null;
  readonly detail?: unknown;
  readonly expected?: unknown;
  readonly found?: unknown;
}): string[] {
  const { check, cause, remedy, detail, expected, found } = said;
  const lines = {
    'Check:   ': check,
    'Cause:   ': `${cause ?? 'this release has no such reason'}${typeof detail === 'string' ? ` (${detail})` : ''}`,
    'Remedy:  ': remedy,
    'Expected:': expected,
    'Found:   ': found,
  };
  return Object.entries(lines).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [`${name} ${text}`] : [],
  );
}

function issuedLines(work: string, issued: TokenExplanation['issued']): string[] {
  if (issued?.kind !== 'access-token') {
    const seconds = issued?.lifetimeSeconds ?? null;
    return [`${work} would succeed: a session${seconds === null ? '' : ` of ${seconds} s`} is opened.`];
  }
  const { lifetimeSeconds, expiresAt, scopes, audience, rights, keyThumbprint } = issued;
  return [
    `${work} would succeed: an access token of ${lifetimeSeconds} s, until ${expiresAt}.`,
    `Scopes: ${scopes === null ? 'not limited' : scopes.join(' ')}`,
    `Audience: ${audience ?? 'this instance'}`,
    `Rights: ${rights === 'both' ? 'what actor and subject both have' : "the acting user's"}`,
    `Bound to: ${keyThumbprint === null ? 'no key' : `the key ${keyThumbprint}`}`,
  ];
}

function tokenLines({ party, content, entry, user }: ExplainedToken): string[] {
  const said = Object.entries(content).filter(([, value]) => value !== null);
  return [
    '',
    `The ${party} token: ${said.map(([name, value]) => `${name} ${value}`).join(', ') || 'nothing that can be read'}`,
    ...(entry === null
      ? ['  Entry: none']
      : [
          `  Entry: ${entry.label} (${placeOf(entry)}, ${entry.type})${entry.isSuspended ? ', suspended' : ''}`,
          `  Policy: ${entry.policy.join('; ')}`,
        ]),
    ...(user === null ? [] : [`  User: ${userLine(user)}`]),
  ];
}

function placeOf({ index }: { readonly index: number | null }): string {
  return index === null ? 'stored' : `configured, index ${index}`;
}

const FOUND_BY: Readonly<Record<ExplainedUser['by'], string>> = {
  link: 'known by the link of an earlier login',
  email: 'found by the e-mail address, to be linked',
  entry: 'named by the entry',
  provisioning: 'to be created',
};

function userLine(user: ExplainedUser): string {
  const { id, by, roleBefore, roleAfter, changedNames, ignoresRoleClaim, projects } = user;
  const roles = [roleBefore, roleAfter].filter((role) => role !== null);
  return [
    `${id ?? 'a new one'}, ${FOUND_BY[by]}`,
    `role ${[...new Set(roles)].join(', then ')}`,
    ...(ignoresRoleClaim ? ['the role claim is ignored: it does not name an assignable role'] : []),
    ...(changedNames.length === 0 ? [] : [`changed: ${changedNames.join(', ')}`]),
    ...projects,
  ].join('; ');
}

function rowOf({ state, party, check, about, expected, found }: ExplainedCheck): string[] {
  return [state, party ?? '-', check, about ?? '', expected ?? '', found ?? ''];
}

/** Names each check once for each token. Omits a check that also failed. */
function placesLine(
  state: string,
  checks: readonly ExplainedCheck[],
  failed: readonly ExplainedCheck[],
): string[] {
  const places = new Set(checks.map(placeOfCheck));
  for (const check of failed) places.delete(placeOfCheck(check));
  return places.size === 0 ? [] : [`${state}: ${[...places].join(', ')}.\n`];
}

function placeOfCheck({ check, party }: ExplainedCheck): string {
  return party === null ? check : `${check} (${party})`;
}

/** Properties with lines of their own. */
const SHOWN = ['reason', 'detail', 'expected', 'found'];
/** The database does not keep the order of properties. */
const FIRST = ['flow', 'party', 'issuer', 'kid'];

/** @throws CommandError if nothing is recorded about the request */
function requestText({ requestId, events }: ExplainedRequest): string {
  if (events.length === 0)
    throw new CommandError(
      'The audit trail has no event of this request. Requests that are refused before their token is read, such as a form with ' +
        'an error or a request above a limit, are in the log only.',
    );
  const lines = [`Request ${requestId}`, ...events.flatMap((event) => ['', ...eventLines(event)])];
  return `${lines.map(printable).join('\n')}\n`;
}

function eventLines(event: ExplainedEvent): string[] {
  const { reason, payload } = event;
  const head = `${event.occurredAt} ${event.event}`;
  if (reason === null) return [head, ...event.notices.flatMap(noticeLines), ...valueLines(event)];
  return [`${head}: ${reason}`, ...refusalLines({ ...payload, ...event }), ...valueLines(event)];
}

function noticeLines({ cause, remedy, detail }: ExplainedEvent['notices'][number]): string[] {
  return [`Notice:   ${cause} (${detail})`, `Remedy:   ${remedy}`];
}

/** Returns one line with all properties that have no line of their own. */
function valueLines({ subjectUserId, actorUserId, payload }: ExplainedEvent): string[] {
  const first = Object.fromEntries(FIRST.flatMap((name) => (name in payload ? [[name, payload[name]]] : [])));
  const values = Object.entries({ ...first, subjectUserId, actorUserId, ...payload }).filter(
    ([name, value]) => value !== null && !SHOWN.includes(name),
  );
  if (values.length === 0) return [];
  return [`Of:       ${values.map(([name, value]) => `${name} ${shown(value)}`).join(', ')}`];
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
