// Lists projects with the keys by which tokens of partners name them, and gives a project such a key.
import { hasMoreCharacters } from '../platform/text/characters.js';
import { isId } from '../platform/text/id.js';
import { MAX_KEY_CHARACTERS } from '../token-exchange/instance.js';
import type { ExternalKey } from '../workspace/projects/project.repository.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, readNothing, storableText } from './input.js';
import { changeOperation, listOperation } from './operation.js';
import { renderTable } from './table.js';
import { parsedUrl } from '../platform/text/url.js';

const PAGE_SIZE = 100;

export interface ListedProject {
  readonly id: string;
  readonly name: string;
  readonly externalKeys: readonly ExternalKey[];
}

export const LIST_PROJECTS = listOperation('projects list', readNothing, {
  async *list(_input, { projects }) {
    let page = await projects.list({}, { limit: PAGE_SIZE });
    while (page.length > 0) {
      yield page
        .filter(({ type }) => type === 'team')
        .map(({ id, name, externalKeys = [] }): ListedProject => ({ id, name, externalKeys }));
      page = await projects.list({}, { afterId: page.at(-1)?.id, limit: PAGE_SIZE });
    }
  },

  command: {
    about: 'list the projects of teams, with the keys by which tokens of partners name them',
    example: '--json',
    text: (all) => renderTable(['ID', 'NAME', 'ISSUER', 'KEY'], all.flatMap(rowsOf)),
  },
});

/** A line for each key. */
function rowsOf({ id, name, externalKeys }: ListedProject): string[][] {
  if (externalKeys.length === 0) return [[id, name, '-', '-']];
  return externalKeys.map(({ issuer, key }) => [id, name, issuer, key]);
}

const readKey = members({ project: projectId, issuer: issuerUrl, key: keyText });

/** The project's earlier key of the issuer is replaced, and another project that has the key loses it. */
export const SET_PROJECT_KEY = changeOperation('projects set-key', readKey, {
  async change(input, { parts: { projects }, transaction }) {
    const { project } = input;
    if (!(await projects.setKey(transaction, project, input)))
      throw new CommandError('There is no project of a team with this id.');
    return { result: input, things: { projectId: project } };
  },

  command: {
    about: "give a project the key by which an issuer's tokens name it, in place of its previous key",
    takes: { project: ['<project-id>', 'a project of a team'] },
    example: '0190163d-8694-739b-aea5-966c26f8ad95 --issuer https://partner.example --key acme',
    text: ({ issuer, project }) => `Tokens of ${issuer} name the project ${project} by that key.\n`,
  },
});

function projectId(value: unknown): Read<string> {
  return typeof value === 'string' && isId(value)
    ? { value: value.toLowerCase() }
    : { rule: 'must be the id of a project' };
}

function issuerUrl(value: unknown): Read<string> {
  const text = storableText(value);
  return 'rule' in text || parsedUrl(text.value) ? text : { rule: 'must be a URL' };
}

function keyText(value: unknown): Read<string> {
  const text = storableText(value);
  const isGood = 'value' in text && text.value !== '' && !hasMoreCharacters(text.value, MAX_KEY_CHARACTERS);
  return isGood ? text : { rule: `must be a text of 1 to ${MAX_KEY_CHARACTERS} characters` };
}
