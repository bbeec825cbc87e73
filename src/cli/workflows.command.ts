// svc-admin workflows: brings workflows into the instance.
import type { Command } from 'commander';
import type { User } from '../users/user.repository.js';
import type { CommandContext } from './command-context.js';
import { CommandError } from './command-error.js';
import type { InstanceParts } from './instance-database.js';
import { withInstance } from './instance-database.js';
import { readTextFile } from './text-file.js';
import type { WorkflowDraft } from './workflow-file.js';
import { readWorkflowFile } from './workflow-file.js';

/** Rows of one statement: PostgreSQL takes 65,535 parameters. */
const BATCH_SIZE = 1000;

interface ImportOptions {
  file: string;
  ownerEmail: string;
}

export function addWorkflowsCommands(program: Command, context: CommandContext): void {
  const workflows = program.command('workflows').description('look after workflows');
  addImport(workflows, context);
}

function addImport(workflows: Command, context: CommandContext): void {
  workflows
    .command('import')
    .description("import workflows into a user's personal project: all of a file, or none")
    .requiredOption('--file <file>', 'a JSON array of {"name", "active"?, "nodes"?, "connections"?}')
    .requiredOption('--owner-email <address>', 'whose personal project they go into')
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin workflows import --file workflows.json --owner-email somebody@example.com',
    )
    .action((options: ImportOptions) => importFile(options, context));
}

async function importFile({ file, ownerEmail }: ImportOptions, context: CommandContext): Promise<void> {
  const drafts = readDrafts(file, context);
  await withInstance(context, async (instance) => {
    const owner = await instance.users.findByEmail(ownerEmail);
    if (owner === undefined) throw new CommandError('There is no user with this e-mail address.');
    await insertAll(drafts, owner, instance);
  });
  context.stdout.write(`Imported ${drafts.length} workflow(s).\n`);
}

function readDrafts(file: string, context: CommandContext): WorkflowDraft[] {
  const { workflows, problems } = readWorkflowFile(readTextFile(context, file));
  if (problems.length === 0) return workflows;
  throw new CommandError(`${file} has ${problems.length} problem(s); nothing was imported:`, problems);
}

function insertAll(drafts: readonly WorkflowDraft[], owner: User, instance: InstanceParts): Promise<void> {
  const { transactions, projects, workflows } = instance;
  return transactions.run(async (transaction) => {
    const projectId = await projects.personalProjectId(transaction, owner.id);
    for (let start = 0; start < drafts.length; start += BATCH_SIZE) {
      const batch = drafts.slice(start, start + BATCH_SIZE);
      await workflows.insert(
        transaction,
        batch.map((draft) => ({ ...draft, projectId })),
      );
    }
  });
}
