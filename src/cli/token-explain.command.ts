// svc-admin token explain: says why a token would be refused, or what it would get, without using it up.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { TokenToExplain } from '../administration/explain-token.operation.js';
import { EXPLAIN_TOKEN } from '../administration/explain-token.operation.js';
import { MAX_TOKEN_CHARACTERS } from '../token-exchange/verification/compact-jws.js';
import { readList } from './administration.js';
import type { CommandContext } from './command-context.js';
import { explanationText } from './explanation-text.js';
import { isoMoment } from './option-values.js';
import { readTextFile } from './text-file.js';

const STANDARD_INPUT = '-';

interface ExplainOptions {
  readonly tokenFile: string;
  readonly actorTokenFile?: string;
  readonly flow: TokenToExplain['flow'];
  readonly scope?: string;
  readonly resource?: string;
  readonly origin?: string;
  readonly at?: Date;
  readonly json?: true;
}

export function addExplain(token: Command, context: CommandContext): void {
  token
    .command('explain')
    .description('say why a token would be refused, or what it would get; it stays as good as it was')
    .option('--token-file <file>', 'the (subject) token; - reads standard input', STANDARD_INPUT)
    .option('--actor-token-file <file>', 'the actor token')
    .addOption(new Option('--flow <flow>', 'the way in').choices(['exchange', 'embed']).default('exchange'))
    .option('--scope <scopes>', 'as the client asks for them, with spaces between them')
    .option('--resource <uris>', 'as the client asks for them, with spaces between them')
    .option('--origin <origin>', 'of the page that posts an embedded login; no browser if left out')
    .addOption(
      new Option('--at <moment>', 'judge times as of this moment; now if left out').argParser(isoMoment),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action((options: ExplainOptions) => explain(options, context));
}

const HELP = `
The token is judged by the code that judges requests, on what is stored and configured: give the command the variables of
the service. Nothing is used up, written, fetched or counted. Of keys that are fetched those count that are stored. The token
is never shown, an e-mail address and a sub in part only.

Example:
  svc-admin token explain < token.txt`;

async function explain(options: ExplainOptions, context: CommandContext): Promise<void> {
  const [explanation] = await readList(context, EXPLAIN_TOKEN, inputOf(options, context));
  if (explanation === undefined) throw new CommandError('The service has not answered.');
  const text = options.json ? `${JSON.stringify(explanation, null, 2)}\n` : explanationText(explanation);
  context.stdout.write(text);
}

function inputOf(options: ExplainOptions, context: CommandContext): TokenToExplain {
  const { flow, tokenFile, actorTokenFile, scope, resource, origin, at } = options;
  if (tokenFile === STANDARD_INPUT && actorTokenFile === STANDARD_INPUT)
    throw new CommandError('Only one of the two tokens can come from standard input.');
  return {
    ...{ flow, token: readToken(context, tokenFile) },
    ...(actorTokenFile === undefined ? {} : { actorToken: readToken(context, actorTokenFile) }),
    ...{ scope, resource, origin },
    at: at?.toISOString(),
  };
}

/** @throws CommandError where there is none, or what is there is longer than any */
function readToken(context: CommandContext, file: string): string {
  const isInput = file === STANDARD_INPUT;
  const token = (isInput ? context.stdin.read() : readTextFile(context, file)).trim();
  const where = isInput ? 'Standard input' : file;
  if (token === '') throw new CommandError(`${where} holds no token.`);
  if (token.length <= MAX_TOKEN_CHARACTERS) return token;
  throw new CommandError(
    `${where} has more than ${MAX_TOKEN_CHARACTERS} characters: both ways in refuse that as token_malformed.`,
  );
}
