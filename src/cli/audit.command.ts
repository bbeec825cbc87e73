// svc-admin audit: lists, follows and exports the events of the audit trail.
import type { Command } from 'commander';
import { printable, renderTable } from '../administration/table.js';
import type { SoughtEvents } from '../administration/trail/read-audit-trail.operation.js';
import { AuditOperations, MAX_LIMIT, MAX_LINES } from '../administration/trail/read-audit-trail.operation.js';
import type { ShownEvent } from '../audit/audit-trail.reader.js';
import { EVENT_NAME_START } from '../audit/instance-events.js';
import { MAX_DAYS } from '../audit/trail-filter.js';
import { addCommand, perform, readPages, wholeNumber } from './command.js';
import type { CommandContext } from './command-context.js';
import { Progress } from './terminal.js';

const DEFAULT_LIMIT = 100;
const USUAL_LINES = 10;
const HEADINGS = ['TIME', 'EVENT', 'SUBJECT', 'ACTOR', 'REQUEST', 'PAYLOAD'];
/** Widths of the columns. No event name is longer, and ids have this length. */
const WIDTHS = [24, 34, 36, 36, 36];
const NO_USER = '-';
const FIRST_MEMBERS = ['operation', 'reason', 'issuer', 'kid'];

interface ListOptions extends SoughtEvents {
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

interface TailOptions extends SoughtEvents {
  readonly lines: number;
}

const TIME_HELP =
  `The command looks through the last day unless --since or --until say otherwise, through ${MAX_DAYS} days at most; with --request-id alone through ` +
  'the whole trail.';

export function addAuditCommands(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('read the audit trail');
  addList(audit, context);
  addTail(audit, context);
  addExport(audit, context);
}

function addList(audit: Command, context: CommandContext): void {
  const example = 'audit list --event token-exchange.failed --issuer https://partner.example --since 2h';
  const command = addCommand(audit, 'list', 'list events, the newest first', example, TIME_HELP);
  withTime(withFilters(command))
    .option(
      '--limit <number>',
      `maximum number of events, up to ${MAX_LIMIT}`,
      wholeNumber(1, MAX_LIMIT),
      DEFAULT_LIMIT,
    )
    .action((options: ListOptions) => list(options, context));
}

function addTail(audit: Command, context: CommandContext): void {
  const about = 'print recent events, then new ones';
  withFilters(addCommand(audit, 'tail', about, 'audit tail --event "token-exchange.*" --json'))
    .option(
      '--lines <number>',
      'number of events of the last day to begin with',
      wholeNumber(0, MAX_LINES),
      USUAL_LINES,
    )
    .action((options: TailOptions) => tail(options, context));
}

function addExport(audit: Command, context: CommandContext): void {
  const about = 'print all events of a time range, oldest first; one JSON object a line';
  const example = 'audit export --since 2031-05-01 --until 2031-06-01 > may.jsonl';
  withTime(withFilters(addCommand(audit, 'export', about, example, TIME_HELP))).action(
    (options: Omit<ListOptions, 'limit'>) => exportAll(options, context),
  );
}

function withFilters(command: Command): Command {
  return command
    .option('--event <name>', 'name of the events, or the start of names and *, without svc.audit.')
    .option('--user <id-or-email>', 'the subject or the actor')
    .option('--subject <id-or-email>', 'the subject; faster than --user')
    .option(
      '--person <id-email-or-sub>',
      'the person: a user, or somebody whom only refused tokens name; faster than --user',
    )
    .option('--issuer <url>', '`iss` in the payload, exactly')
    .option('--kid <kid>', 'the `kid` in its payload')
    .option('--reason <word>', 'the reason of a refusal')
    .option('--request-id <id>', 'the X-Request-Id of an answer');
}

function withTime(command: Command): Command {
  const moment = '2031-05-01, 2031-05-01T12:00:00Z, or 90m, 2h, 7d ago';
  return command.option('--since <time>', `from then on: ${moment}`).option('--until <time>', 'before then');
}

async function list({ limit, ...sought }: ListOptions, context: CommandContext): Promise<void> {
  // Reads one more than it shows, to know whether there are more.
  const events = await perform(context, AuditOperations, 'list', { ...sought, limit: limit + 1 });
  const shown = events.slice(0, limit);
  const { answers } = context;
  answers.giveLines(shown, () => renderTable(HEADINGS, shown.map(rowOf)));
  if (shown.length === 0 && !answers.isJson) answers.remark('No event was found.');
  if (events.length > limit) answers.remark(`There are more than ${limit}: see --limit and --until.`);
}

async function tail(sought: TailOptions, context: CommandContext): Promise<void> {
  for await (const page of readPages(context, AuditOperations, 'tail', sought)) {
    context.answers.giveLines(page, () => page.map(lineOf).join(''));
    if (context.stdout.isClosed === true) return;
  }
  context.answers.remark('The service has stopped.');
}

async function exportAll(sought: Omit<ListOptions, 'limit'>, context: CommandContext): Promise<void> {
  const progress = new Progress(context);
  let count = 0;
  for await (const page of readPages(context, AuditOperations, 'export', sought)) {
    context.answers.giveLines(page, () => linesOf(page));
    count += page.length;
    if (context.stdout.isTerminal !== true) progress.show(`${count} events`);
    if (context.stdout.isClosed === true) break;
  }
  progress.end();
}

function linesOf(events: readonly ShownEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

function rowOf({ occurredAt, event, requestId, clientRequestId, payload, ...users }: ShownEvent): string[] {
  const name = event.startsWith(EVENT_NAME_START) ? event.slice(EVENT_NAME_START.length) : event;
  const { subjectUserId, actorUserId } = users;
  const words = inWords({ ...payload, ...(clientRequestId !== undefined && { clientRequestId }) });
  return [occurredAt, name, subjectUserId ?? NO_USER, actorUserId ?? NO_USER, requestId, words];
}

function lineOf(event: ShownEvent): string {
  const cells = rowOf(event).map((cell, column) => printable(cell).padEnd(WIDTHS[column] ?? 0));
  return `${cells.join('  ').trimEnd()}\n`;
}

/** `name=value` of each property, the most important first. */
function inWords(payload: ShownEvent['payload']): string {
  const first = Object.fromEntries(
    FIRST_MEMBERS.filter((name) => name in payload).map((name) => [name, payload[name]]),
  );
  return Object.entries({ ...first, ...payload })
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
