// svc-admin token explain: says why a token would be refused, or what it would get, without using it up.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { Explained, TokenToExplain } from '../administration/explain-token.operation.js';
import { EXPLAIN_TOKEN } from '../administration/explain-token.operation.js';
import { MAX_TOKEN_CHARACTERS } from '../token-exchange/instance.js';
import { addOperation } from './command.js';
import type { CommandContext } from './command-settings.js';
import { isoMoment } from './option-values.js';
import { readTextFile } from './text-file.js';

const STANDARD_INPUT = '-';

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

export function addExplain(token: Command, context: CommandContext): void {
  addOperation(token, context, EXPLAIN_TOKEN, {
    input: (options: ExplainOptions) =>
      options.requestId === undefined ? inputOf(options, context) : { requestId: options.requestId },
    after: ([explained]: readonly Explained[]) => refuse(explained),
  })
    .option('--token-file <file>', 'the (subject) token; - reads standard input', STANDARD_INPUT)
    .option('--actor-token-file <file>', 'the actor token')
    .option('--proof-file <file>', 'the DPoP proof that the client sends with them')
    .addOption(
      new Option('--flow <flow>', 'the flow that the token is for')
        .choices(['exchange', 'embed', 'id-jag', 'jwt-bearer'])
        .default('exchange'),
    )
    .option('--scope <scopes>', 'as the client asks for them, separated by spaces')
    .option('--resource <uris>', 'as the client asks for them, separated by spaces')
    .option('--origin <origin>', 'origin of the page that posts an embedded login; no browser if left out')
    .option('--at <moment>', 'check times as of this moment; now if left out', isoMoment)
    .addOption(
      new Option('--request-id <id>', 'explain from the audit trail why this request was refused').conflicts(
        OF_A_TOKEN,
      ),
    );
}

/** @throws CommandError where the token is refused */
function refuse(explained: Explained | undefined): void {
  const refusal = explained !== undefined && 'token' in explained ? explained.token.refusal : null;
  if (refusal !== null) throw new CommandError(`The service would refuse this token: ${refusal.reason}.`);
}

function inputOf(options: ExplainOptions, context: CommandContext): TokenToExplain {
  const { flow, tokenFile, actorTokenFile, proofFile, scope, resource, origin, at } = options;
  const fromInput = [tokenFile, actorTokenFile, proofFile].filter((file) => file === STANDARD_INPUT);
  if (fromInput.length > 1) throw new CommandError('Only one of them can come from standard input.');
  return {
    ...{ flow, token: readToken(context, tokenFile) },
    actorToken: actorTokenFile === undefined ? undefined : readToken(context, actorTokenFile),
    proof: proofFile === undefined ? undefined : readToken(context, proofFile),
    ...{ scope, resource, origin },
    at: at?.toISOString(),
  };
}

/** @throws CommandError where there is no token, or a text too long for one */
function readToken(context: CommandContext, file: string): string {
  const isInput = file === STANDARD_INPUT;
  const token = (isInput ? context.stdin.read() : readTextFile(context, file)).trim();
  const where = isInput ? 'Standard input' : file;
  if (token === '') throw new CommandError(`${where} holds no token.`);
  if (token.length <= MAX_TOKEN_CHARACTERS) return token;
  throw new CommandError(
    `${where} has more than ${MAX_TOKEN_CHARACTERS} characters: the service refuses it as token_malformed.`,
  );
}
