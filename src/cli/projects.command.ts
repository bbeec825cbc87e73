// svc-admin projects: shows by which keys tokens of partners name projects, and gives a project a key.
import type { Command } from 'commander';
import type { ListedProject } from '../administration/projects.operations.js';
import { LIST_PROJECTS, SET_PROJECT_KEY } from '../administration/projects.operations.js';
import { perform, readList } from './administration.js';
import type { CommandContext } from './command-settings.js';
import { renderTable } from './table.js';

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
