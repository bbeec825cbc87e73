// svc-admin usage: prints the number of users of each issuer.
import type { Command } from 'commander';
import { renderTable } from '../administration/table.js';
import { MAX_MONTHS, UsageOperations, USUAL_MONTHS } from '../administration/usage/usage.operations.js';
import { usageCsv, usageRows } from '../administration/usage/usage-rows.js';
import { addCommand, perform, wholeNumber } from './command.js';
import type { CommandContext } from './command-context.js';
import { MisuseError } from './command-context.js';

const HEADINGS = ['ISSUER', 'USERS', 'MAX USERS', 'MONTH', 'ACTIVE USERS'];
const MORE =
  'Users are those with a seat now: linked to the issuer, and not disabled. A user is active in a month with a first sign-in, login or\n' +
  'token exchange; the service records it within minutes. Months are in UTC.';

interface UsageOptions {
  readonly months: number;
  readonly csv?: boolean;
}

export function addUsageCommand(program: Command, context: CommandContext): void {
  const about = "count each issuer's users and monthly active users";
  addCommand(program, 'usage', about, 'usage --months 3 --csv > usage.csv', MORE)
    .option(
      '--months <number>',
      `number of months, with the current one, up to ${MAX_MONTHS}`,
      wholeNumber(1, MAX_MONTHS),
      USUAL_MONTHS,
    )
    .option('--csv', 'print comma-separated values')
    .action((options: UsageOptions) => show(options, context));
}

async function show({ months, csv = false }: UsageOptions, context: CommandContext): Promise<void> {
  const { answers } = context;
  if (csv && answers.isJson) throw new MisuseError('--csv and --json cannot be used together.');
  const usage = await perform(context, UsageOperations, 'show', { months });
  const rows = usageRows(usage);
  const cells = rows.map(({ issuer, users, maxUsers, month, activeUsers }) =>
    [issuer, users, maxUsers ?? 'any', month, activeUsers].map(String),
  );
  const text = () => (csv ? usageCsv(rows) : renderTable(HEADINGS, cells));
  answers.giveList(usage, text, 'There are no issuers.');
}
