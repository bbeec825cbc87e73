// svc-admin migrate: brings the database's schema up to date.
import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { withDatabase } from './instance-database.js';

export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date; the service does the same when it starts")
    .addHelpText('after', '\nExample:\n  svc-admin --env-file production.env migrate')
    .action(() => migrate(context));
}

/** To open a database is to bring its schema up to date. */
function migrate(context: CommandContext): Promise<void> {
  return withDatabase(context, async ({ appliedMigrations }) => {
    for (const name of appliedMigrations) context.stdout.write(`Applied ${name}.\n`);
    if (appliedMigrations.length === 0) context.stdout.write('The schema was up to date.\n');
  });
}
