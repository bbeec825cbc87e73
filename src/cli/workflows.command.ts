// svc-admin workflows: brings workflows into the instance.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { IMPORT_WORKFLOWS } from '../administration/import-workflows.operation.js';
import type { WorkflowDraft } from '../administration/workflow-file.js';
import { readWorkflowFile } from '../administration/workflow-file.js';
import { perform } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { withProgress } from './progress.js';
import { readTextFile } from './text-file.js';
import { counted } from '../platform/text/wording.js';

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
      '\nExample:\n  svc-admin workflows import --file workflows.json --owner-email user@example.com',
    )
    .action((options: ImportOptions) => importFile(options, context));
}

async function importFile({ file, ownerEmail }: ImportOptions, context: CommandContext): Promise<void> {
  const workflows = readDrafts(file, context);
  const importing = perform(context, IMPORT_WORKFLOWS, { ownerEmail, workflows });
  const { imported } = await withProgress(
    context,
    `Importing ${counted(workflows.length, 'workflow')}`,
    importing,
  );
  context.answers.give({ imported }, `Imported ${counted(imported, 'workflow')}.\n`);
}

function readDrafts(file: string, context: CommandContext): WorkflowDraft[] {
  const { workflows, problems } = readWorkflowFile(readTextFile(context, file));
  if (problems.length === 0) return workflows;
  throw new CommandError(
    `${file} has ${counted(problems.length, 'problem')}; nothing was imported:`,
    problems,
  );
}
