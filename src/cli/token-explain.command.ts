// svc-admin token explain: says why a token would be refused, or what it would get, without using it up.
import type { Command } from 'commander';
import { Option } from 'commander';
import { CommandError } from '../administration/command-error.js';
import type { ExplainedRequest, ExplainedEvent } from '../administration/explained-request.js';
import type { TokenToExplain } from '../administration/explain-token.operation.js';
import { EXPLAIN_TOKEN } from '../administration/explain-token.operation.js';
import { MAX_TOKEN_CHARACTERS } from '../token-exchange/plain.js';
import { readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { explanationText } from './explanation-text.js';
import { isoMoment } from './option-values.js';
import { readTextFile } from './text-file.js';
import { printable } from './table.js';

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
  token
    .command('explain')
    .description(
      'say why a token would be refused, or what it would get; exits with 1 if refused, and leaves the token usable',
    )
    .option('--token-file <file>', 'the (subject) token; - reads standard input', STANDARD_INPUT)
    .option('--actor-token-file <file>', 'the actor token')
    .option('--proof-file <file>', 'the DPoP proof that the client sends with them')
    .addOption(
      new Option('--flow <flow>', 'the way in')
        .choices(['exchange', 'embed', 'id-jag', 'jwt-bearer'])
        .default('exchange'),
    )
    .option('--scope <scopes>', 'as the client asks for them, separated by spaces')
    .option('--resource <uris>', 'as the client asks for them, separated by spaces')
    .option('--origin <origin>', 'origin of the page that posts an embedded login; no browser if left out')
    .addOption(
      new Option('--at <moment>', 'check times as of this moment; now if left out').argParser(isoMoment),
    )
    .addOption(
      new Option('--request-id <id>', 'explain from the audit trail why this request was refused').conflicts(
        OF_A_TOKEN,
      ),
    )
    .addHelpText('after', HELP)
    .action((options: ExplainOptions) => explain(options, context));
}

const HELP = `
The token is checked by the code that checks requests, on what is stored and configured: give the command the variables of
the service. Nothing is used up, written, fetched or counted. Of keys that are fetched those count that are stored. The token
is never shown, an e-mail address and a sub in part only.

Example:
  svc-admin token explain < token.txt
  svc-admin token explain --request-id 1fr68knv0000a8k2rq4t`;

async function explain(options: ExplainOptions, context: CommandContext): Promise<void> {
  const { requestId } = options;
  const input = requestId === undefined ? inputOf(options, context) : { requestId };
  const [explained] = await readList(context, EXPLAIN_TOKEN, input);
  if (explained === undefined) throw new CommandError('The service has not answered.');
  if ('request' in explained) {
    refuseUnknown(explained.request);
    return context.answers.give(explained.request, requestText(explained.request));
  }
  const { token } = explained;
  context.answers.give(token, explanationText(token));
  if (token.refusal !== null)
    throw new CommandError(`The service would refuse this token: ${token.refusal.reason}.`);
}

/** @throws CommandError where there is nothing to explain */
function refuseUnknown({ events }: ExplainedRequest): void {
  if (events.length > 0) return;
  throw new CommandError(
    'The audit trail has no event of this request. Requests that are refused before their token is read, such as a form with ' +
      'a fault or a request above a limit, are in the log only.',
  );
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

/** @throws CommandError where there is none, or what is there is longer than any */
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

/** Members with lines of their own. */
const SHOWN = ['reason', 'detail', 'expected', 'found'];
/** The database keeps no order of members. */
const FIRST = ['flow', 'party', 'issuer', 'kid'];

function requestText({ requestId, events }: ExplainedRequest): string {
  const lines = [`Request ${requestId}`, ...events.flatMap((event) => ['', ...eventLines(event)])];
  return `${lines.map(printable).join('\n')}\n`;
}

function eventLines(event: ExplainedEvent): string[] {
  const { reason, check, cause, remedy, payload } = event;
  const head = `${event.occurredAt} ${event.event}`;
  if (reason === null) return [head, ...event.notices.flatMap(noticeLines), ...valueLines(event)];
  const { detail, expected, found } = payload;
  return [
    `${head}: ${reason}`,
    ...(check === null ? [] : [`Check:    ${check}`]),
    `Cause:    ${cause ?? 'this release has no such reason'}${typeof detail === 'string' ? ` (${detail})` : ''}`,
    ...(remedy === null ? [] : [`Remedy:   ${remedy}`]),
    ...(typeof expected === 'string' ? [`Expected: ${expected}`] : []),
    ...(typeof found === 'string' ? [`Found:    ${found}`] : []),
    ...valueLines(event),
  ];
}

function noticeLines({ cause, remedy, detail }: ExplainedEvent['notices'][number]): string[] {
  return [`Notice:   ${cause} (${detail})`, `Remedy:   ${remedy}`];
}

/** The other members. */
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
