// svc-admin token: signs external tokens as a partner would, for a trial, and explains the tokens of partners.
import { createPublicKey, randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { Explained, TokenToExplain } from '../administration/explain/explain-token.operation.js';
import { TokenOperations } from '../administration/explain/explain-token.operation.js';
import { Clock } from '../platform/clock.js';
import type { Algorithm } from '../token-exchange/instance.js';
import {
  ACCESS_FLOWS,
  ALGORITHMS,
  algorithmsFitting,
  MAX_TOKEN_CHARACTERS,
  signCompactJws,
} from '../token-exchange/instance.js';
import { addCommand, addOperation, isoMoment, jsonMember, usableKid, wholeNumber } from './command.js';
import { MisuseError } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { explainedText } from './explain-text.js';
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
