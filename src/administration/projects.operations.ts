// Lists projects with the keys by which tokens of partners name them, and gives a project such a key.
import { hasMoreCharacters } from '../platform/text/characters.js';
import { isId } from '../platform/text/id.js';
import { MAX_KEY_CHARACTERS } from '../token-exchange/plain.js';
import type { ExternalKey } from '../workspace/projects/project.repository.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, readNothing, storableText } from './input.js';
import { changeOperation, listOperation } from './operation.js';

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
});

const readKey = members({ project: projectId, issuer: issuerUrl, key: keyText });

/** The project's earlier key of the issuer is replaced, and another project that has the key loses it. */
export const SET_PROJECT_KEY = changeOperation('projects set-key', readKey, {
  async change(input, { parts: { projects }, transaction }) {
    const { project } = input;
    if (!(await projects.setKey(transaction, project, input)))
      throw new CommandError('There is no project of a team with this id.');
    return { result: input, things: { projectId: project } };
  },
});

function projectId(value: unknown): Read<string> {
  return typeof value === 'string' && isId(value)
    ? { value: value.toLowerCase() }
    : { rule: 'must be the id of a project' };
}

function issuerUrl(value: unknown): Read<string> {
  const text = storableText(value);
  return 'rule' in text || URL.canParse(text.value) ? text : { rule: 'must be a URL' };
}

function keyText(value: unknown): Read<string> {
  const text = storableText(value);
  const isGood = 'value' in text && text.value !== '' && !hasMoreCharacters(text.value, MAX_KEY_CHARACTERS);
  return isGood ? text : { rule: `must be a text of 1 to ${MAX_KEY_CHARACTERS} characters` };
}
