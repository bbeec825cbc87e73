// svc-admin usage: prints the number of users of each issuer.
import type { Command } from 'commander';
import { renderTable } from '../administration/table.js';
import type { IssuerUsage } from '../administration/usage/usage.operations.js';
import { MOST_MONTHS, USUAL_MONTHS, UsageOperations } from '../administration/usage/usage.operations.js';
import { MisuseError } from './command-answers.js';
import type { CommandContext } from './command-context.js';
import { addCommand, wholeNumber } from './command.js';
import { perform } from './operation-call.js';

const HEADINGS = ['ISSUER', 'USERS', 'MAX USERS', 'MONTH', 'ACTIVE USERS'];
const COLUMNS = 'issuer,users,max_users,month,active_users\n';
const MORE =
  'Users are those with a seat now: linked to the issuer, and not disabled. A user is active in a month with a first sign-in, login or\n' +
  'token exchange; the service records it within minutes. Months are in UTC.';

interface UsageOptions {
  readonly months: number;
  readonly csv?: boolean;
}

export function addUsageCommand(program: Command, context: CommandContext): void {
  const about = 'count the users of each issuer, and its active users by month';
  addCommand(program, 'usage', about, 'usage --months 3 --csv > usage.csv', MORE)
    .option(
      '--months <number>',
      `number of months, with the current one, up to ${MOST_MONTHS}`,
      wholeNumber(1, MOST_MONTHS),
      USUAL_MONTHS,
    )
    .option('--csv', 'print comma-separated values')
    .action((options: UsageOptions) => show(options, context));
}

async function show({ months, csv = false }: UsageOptions, context: CommandContext): Promise<void> {
  const { answers } = context;
  if (csv && answers.isJson) throw new MisuseError('--csv and --json cannot be used together.');
  const usage = await perform(context, UsageOperations, 'show', { months });
  const rows = usage.flatMap(rowsOf);
  const text = () => (csv ? COLUMNS + rows.map(csvLine).join('') : renderTable(HEADINGS, rows.map(cells)));
  answers.giveList(usage, text, 'There are no issuers.');
}

type Row = readonly [issuer: string, users: number, maxUsers: number | null, month: string, active: number];

/** An issuer without active users also has a row. */
function rowsOf({ issuer, users, maxUsers, months }: IssuerUsage): Row[] {
  const shown = months.length > 0 ? months : [{ month: '', activeUsers: 0 }];
  return shown.map(({ month, activeUsers }) => [issuer, users, maxUsers, month, activeUsers]);
}

function cells([issuer, users, maxUsers, month, active]: Row): string[] {
  return [issuer, String(users), maxUsers === null ? 'any' : String(maxUsers), month, String(active)];
}

/** RFC 4180. */
function csvLine([issuer, ...others]: Row): string {
  return `"${issuer.replaceAll('"', '""')}",${others.map((value) => value ?? '').join(',')}\n`;
}
