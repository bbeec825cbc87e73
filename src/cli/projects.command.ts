// svc-admin projects and workflows: gives projects the keys that tokens name, and brings workflows in.
import type { Command } from 'commander';
import { CommandError } from '../administration/command-error.js';
import { IMPORT_WORKFLOWS, readWorkflowFile } from '../administration/import-workflows.operation.js';
import { LIST_PROJECTS, SET_PROJECT_KEY } from '../administration/projects.operations.js';
import type { WorkflowDraft } from '../administration/import-workflows.operation.js';
import { counted } from '../platform/text/wording.js';
import { addOperation } from './command.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';

export function addProjectsCommands(program: Command, context: CommandContext): void {
  const projects = program.command('projects').description('manage the projects of teams');
  addOperation(projects, context, LIST_PROJECTS);
  addOperation(projects, context, SET_PROJECT_KEY)
    .requiredOption('--issuer <url>', 'the `iss` of the tokens')
    .requiredOption('--key <key>', 'as the claim has it; another project with this key loses it');
}

export function addWorkflowsCommands(program: Command, context: CommandContext): void {
  const workflows = program.command('workflows').description('look after workflows');
  addOperation(workflows, context, IMPORT_WORKFLOWS, {
    input: ({ file, ...typed }: { readonly file: string }) => ({
      ...typed,
      workflows: readDrafts(file, context),
    }),
    doing: ({ workflows: drafts }: { readonly workflows: readonly WorkflowDraft[] }) =>
      `Importing ${counted(drafts.length, 'workflow')}`,
  })
    .requiredOption('--file <file>', 'a JSON array of {"name", "active"?, "nodes"?, "connections"?}')
    .requiredOption('--owner-email <address>', 'whose personal project they go into');
}

function readDrafts(file: string, context: CommandContext): WorkflowDraft[] {
  const { workflows, problems } = readWorkflowFile(readTextFile(context, file));
  if (problems.length === 0) return workflows;
  throw new CommandError(
    `${file} has ${counted(problems.length, 'problem')}; nothing was imported:`,
    problems,
  );
}
