// svc-admin migrate: brings the database's schema up to date.
import type { Command } from 'commander';
import type { CommandContext } from './command-settings.js';
import { withDatabase } from './instance-database.js';
import { withProgress } from './progress.js';

export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date; the service does the same when it starts")
    .addHelpText('after', '\nExample:\n  svc-admin --env-file production.env migrate')
    .action(() => migrate(context));
}

/** To open a database is to bring its schema up to date. */
async function migrate(context: CommandContext): Promise<void> {
  const migrating = withDatabase(context, async ({ appliedMigrations }) => appliedMigrations);
  const applied = await withProgress(context, 'Bringing the schema up to date', migrating);
  const text = applied.map((name) => `Applied ${name}.\n`).join('') || 'The schema was up to date.\n';
  context.answers.give({ applied }, text);
}
