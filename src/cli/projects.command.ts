// svc-admin projects and workflows: gives projects the keys that tokens name, and brings workflows in.
import type { Command } from 'commander';
import type { ListedProject } from '../administration/projects.operations.js';
import { LIST_PROJECTS, SET_PROJECT_KEY } from '../administration/projects.operations.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { renderTable } from './table.js';
import { CommandError } from '../administration/command-error.js';
import { IMPORT_WORKFLOWS } from '../administration/import-workflows.operation.js';
import type { WorkflowDraft } from '../administration/workflow-file.js';
import { readWorkflowFile } from '../administration/workflow-file.js';
import { withProgress } from './progress.js';
import { readTextFile } from './text-file.js';
import { counted } from '../platform/text/wording.js';

const HEADINGS = ['ID', 'NAME', 'ISSUER', 'KEY'];

export function addProjectsCommands(program: Command, context: CommandContext): void {
  const projects = program.command('projects').description('manage the projects of teams');
  projects
    .command('list')
    .description('list the projects of teams, with the keys by which tokens of partners name them')
    .addHelpText('after', '\nExample:\n  svc-admin projects list --json')
    .action(async () => {
      const all = await readList(context, LIST_PROJECTS, {});
      context.answers.give(all, renderTable(HEADINGS, all.flatMap(rowsOf)));
    });
  projects
    .command('set-key')
    .description("give a project the key by which an issuer's tokens name it, in place of its previous key")
    .argument('<project-id>', 'a project of a team')
    .requiredOption('--issuer <url>', 'the `iss` of the tokens')
    .requiredOption('--key <key>', 'as the claim has it; another project with this key loses it')
    .addHelpText(
      'after',
      '\nExample:\n  svc-admin projects set-key 0190163d-8694-739b-aea5-966c26f8ad95 --issuer https://partner.example --key acme',
    )
    .action(async (project: string, { issuer, key }: { issuer: string; key: string }) => {
      const done = await perform(context, SET_PROJECT_KEY, { project, issuer, key });
      context.answers.give(done, `Tokens of ${done.issuer} name the project ${done.project} by that key.\n`);
    });
}

/** A line for each key. */
function rowsOf({ id, name, externalKeys }: ListedProject): string[][] {
  if (externalKeys.length === 0) return [[id, name, '-', '-']];
  return externalKeys.map(({ issuer, key }) => [id, name, issuer, key]);
}

/** svc-admin workflows: brings workflows into the instance. */
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
