// svc-admin projects and workflows: sets the keys by which tokens name projects, and imports workflows.
import type { Command } from 'commander';
import { CommandError } from '../administration/operation.js';
import type { ListedProject, WorkflowDraft } from '../administration/projects/projects.operations.js';
import {
  ProjectOperations,
  readWorkflowFile,
  WorkflowOperations,
} from '../administration/projects/projects.operations.js';
import { renderTable } from '../administration/table.js';
import { counted } from '../platform/text/wording.js';
import { addOperation } from './command.js';
import type { CommandContext } from './command-context.js';
import { readTextFile } from './files.js';

export function addProjectsCommands(program: Command, context: CommandContext): void {
  const projects = program.command('projects').description('manage team projects');
  addOperation(projects, context, ProjectOperations, 'list', {
    about: 'list team projects and their keys in tokens',
    example: '--json',
    text: (all) => renderTable(['ID', 'NAME', 'ISSUER', 'KEY'], all.flatMap(rowsOf)),
  });
  addOperation(projects, context, ProjectOperations, 'setKey', {
    about: "set the key by which an issuer's tokens name a project",
    takes: { project: ['<project-id>', 'id of a team project'] },
    example: '0190163d-8694-739b-aea5-966c26f8ad95 --issuer https://partner.example --key acme',
    text: ({ issuer, project }) => `Tokens of ${issuer} name the project ${project} by that key.\n`,
  })
    .requiredOption('--issuer <url>', 'the `iss` of the tokens')
    .requiredOption('--key <key>', 'key in the claim; taken from another project that has it');
}

/** One line for each key. */
function rowsOf({ id, name, externalKeys }: ListedProject): string[][] {
  if (externalKeys.length === 0) return [[id, name, '-', '-']];
  return externalKeys.map(({ issuer, key }) => [id, name, issuer, key]);
}

export function addWorkflowsCommands(program: Command, context: CommandContext): void {
  const workflows = program.command('workflows').description('manage workflows');
  addOperation(workflows, context, WorkflowOperations, 'import', {
    about: "import workflows into a user's personal project; all of a file, or none",
    example: '--file workflows.json --owner-email user@example.com',
    input: ({ file, ...typed }: { readonly file: string }) => ({
      ...typed,
      workflows: readDrafts(file, context),
    }),
    doing: ({ workflows: drafts }) => `Importing ${counted(drafts.length, 'workflow')}`,
    text: ({ imported }) => `Imported ${counted(imported, 'workflow')}.\n`,
  })
    .requiredOption('--file <file>', 'a JSON array of {"name", "active"?, "nodes"?, "connections"?}')
    .requiredOption('--owner-email <address>', 'the owner of the personal project');
}

function readDrafts(file: string, context: CommandContext): WorkflowDraft[] {
  const { workflows, problems } = readWorkflowFile(readTextFile(context, file));
  if (problems.length === 0) return workflows;
  throw new CommandError(
    `${file} has ${counted(problems.length, 'problem')}; nothing was imported:`,
    problems,
  );
}
