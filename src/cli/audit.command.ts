// svc-admin audit: lists, follows and exports the events of the audit trail.
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { SoughtEvents } from '../administration/read-audit-trail.operation.js';
import {
  EXPORT_EVENTS,
  LIST_EVENTS,
  MOST_LINES,
  MOST_LISTED,
  TAIL_EVENTS,
} from '../administration/read-audit-trail.operation.js';
import type { ShownEvent } from '../audit/audit-trail.reader.js';
import { EVENT_NAME_START } from '../audit/instance-events.js';
import { MOST_DAYS } from '../audit/trail-filter.js';
import { readList, readPages } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { isoMoment, wholeNumber } from './option-values.js';
import { Progress } from './progress.js';
import { printable, renderTable } from '../administration/table.js';

const USUAL_LIMIT = 100;
const USUAL_LINES = 10;
const HEADINGS = ['TIME', 'EVENT', 'SUBJECT', 'ACTOR', 'REQUEST', 'PAYLOAD'];
/** Widths of the columns: names of events are shorter, ids as long. */
const WIDTHS = [24, 34, 36, 36, 36];
const NO_USER = '-';
const FIRST_MEMBERS = ['operation', 'reason', 'issuer', 'kid'];

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^(\d{1,6})([smhd])$/;

interface TimeOptions {
  readonly since?: string;
  readonly until?: string;
}

interface ListOptions extends SoughtEvents, TimeOptions {
  readonly limit: number;
}

interface TailOptions extends SoughtEvents {
  readonly lines: number;
}

const TIME_HELP =
  `\nThe command looks through the last day unless --since or --until say otherwise, through ${MOST_DAYS} days at most; with --request-id alone through ` +
  'the whole trail.\n';

export function addAuditCommands(program: Command, context: CommandContext): void {
  const audit = program.command('audit').description('read the audit trail');
  addList(audit, context);
  addTail(audit, context);
  addExport(audit, context);
}

function addList(audit: Command, context: CommandContext): void {
  const command = audit.command('list').description('list events, the newest first');
  withTime(withFilters(command))
    .addOption(
      new Option('--limit <number>', `maximum number of events, up to ${MOST_LISTED}`)
        .default(USUAL_LIMIT)
        .argParser(wholeNumber(1, MOST_LISTED)),
    )
    .addHelpText(
      'after',
      `${TIME_HELP}\nExample:\n  svc-admin audit list --event token-exchange.failed --issuer https://partner.example --since 2h`,
    )
    .action((options: ListOptions) => list(options, context));
}

function addTail(audit: Command, context: CommandContext): void {
  const command = audit.command('tail').description('show the last events, and new ones until you stop it');
  withFilters(command)
    .addOption(
      new Option('--lines <number>', 'number of events of the last day to begin with')
        .default(USUAL_LINES)
        .argParser(wholeNumber(0, MOST_LINES)),
    )
    .addHelpText('after', '\nExample:\n  svc-admin audit tail --event "token-exchange.*" --json')
    .action((options: TailOptions) => tail(options, context));
}

function addExport(audit: Command, context: CommandContext): void {
  const command = audit
    .command('export')
    .description('print all events of a time range, oldest first, one JSON object a line');
  withTime(withFilters(command))
    .addHelpText(
      'after',
      `${TIME_HELP}\nExample:\n  svc-admin audit export --since 2031-05-01 --until 2031-06-01 > may.jsonl`,
    )
    .action((options: SoughtEvents & TimeOptions) => exportAll(options, context));
}

function withFilters(command: Command): Command {
  return command
    .option(
      '--event <name>',
      'name of the events, or the beginning of names and *; svc.audit. may be left out',
    )
    .option('--user <id-or-email>', 'the subject or the actor')
    .option('--subject <id-or-email>', 'the subject; found faster than by --user')
    .option(
      '--person <id-email-or-sub>',
      'whom it is about: a user, or somebody whom only refused tokens name; found faster than by --user',
    )
    .option('--issuer <url>', '`iss` of the payload, character by character')
    .option('--kid <kid>', 'the `kid` in its payload')
    .option('--reason <word>', 'the reason of a refusal')
    .option('--request-id <id>', 'the X-Request-Id of an answer');
}

function withTime(command: Command): Command {
  const moment = '2031-05-01, 2031-05-01T12:00:00Z, or 90m, 2h, 7d ago';
  return command
    .addOption(new Option('--since <time>', `from then on: ${moment}`).argParser(momentOrAgo))
    .addOption(new Option('--until <time>', 'before then').argParser(momentOrAgo));
}

async function list({ limit, ...sought }: ListOptions, context: CommandContext): Promise<void> {
  // One more than is shown is read, to know whether there are more.
  const events = await readList(context, LIST_EVENTS, { ...sought, limit: limit + 1 });
  const shown = events.slice(0, limit);
  const { answers } = context;
  answers.giveLines(shown, () => renderTable(HEADINGS, shown.map(rowOf)));
  if (shown.length === 0 && !answers.isJson) answers.remark('No event was found.');
  if (events.length > limit) answers.remark(`There are more than ${limit}: see --limit and --until.`);
}

async function tail(sought: TailOptions, context: CommandContext): Promise<void> {
  for await (const page of readPages(context, TAIL_EVENTS, sought)) {
    context.answers.giveLines(page, () => page.map(lineOf).join(''));
    if (context.stdout.isClosed === true) return;
  }
  context.answers.remark('The service has stopped.');
}

async function exportAll(sought: SoughtEvents & TimeOptions, context: CommandContext): Promise<void> {
  const progress = new Progress(context);
  let count = 0;
  for await (const page of readPages(context, EXPORT_EVENTS, sought)) {
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

/** `name=value` of each member; what one looks for first comes first. */
function inWords(payload: ShownEvent['payload']): string {
  const first = Object.fromEntries(
    FIRST_MEMBERS.filter((name) => name in payload).map((name) => [name, payload[name]]),
  );
  return Object.entries({ ...first, ...payload })
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** A moment, or how long ago it was. */
function momentOrAgo(text: string): string {
  const [, count, unit] = AGO.exec(text) ?? [];
  if (count !== undefined)
    return new Date(Date.now() - Number(count) * (UNITS[unit ?? ''] ?? 0)).toISOString();
  try {
    return isoMoment(text).toISOString();
  } catch {
    throw new InvalidArgumentError(
      'It must be a moment such as 2031-05-01 or 2031-05-01T12:00:00Z, or 90m, 2h or 7d.',
    );
  }
}
