// Lists projects with the keys by which tokens of partners name them, and gives a project such a key.
import { Injectable } from '@nestjs/common';
import { hasMoreCharacters } from '../platform/text/characters.js';
import { isId } from '../platform/text/id.js';
import { parsedUrl } from '../platform/text/url.js';
import { MAX_KEY_CHARACTERS } from '../token-exchange/instance.js';
import type { ExternalKey } from '../workspace/projects/project.repository.js';
import { ProjectRepository } from '../workspace/projects/project.repository.js';
import { CommandError } from './command-error.js';
import type { Read } from './input.js';
import { members, readNothing, storableText } from './input.js';
import type { ChangeWork } from './operation.js';
import { Change, Stream } from './operation.js';

const PAGE_SIZE = 100;

export interface ListedProject {
  readonly id: string;
  readonly name: string;
  readonly externalKeys: readonly ExternalKey[];
}

const readKey = members({ project: projectId, issuer: issuerUrl, key: keyText });

@Injectable()
export class ProjectOperations {
  constructor(private readonly projects: ProjectRepository) {}

  @Stream('projects list', readNothing)
  async *list(): AsyncGenerator<readonly ListedProject[]> {
    let page = await this.projects.list({}, { limit: PAGE_SIZE });
    while (page.length > 0) {
      yield page
        .filter(({ type }) => type === 'team')
        .map(({ id, name, externalKeys = [] }) => ({ id, name, externalKeys }));
      page = await this.projects.list({}, { afterId: page.at(-1)?.id, limit: PAGE_SIZE });
    }
  }

  /** The project's earlier key of the issuer is replaced, and another project that has the key loses it. */
  @Change('projects set-key', readKey)
  async setKey(input: ReturnType<typeof readKey>, { transaction }: ChangeWork) {
    const { project } = input;
    if (!(await this.projects.setKey(transaction, project, input)))
      throw new CommandError('There is no project of a team with this id.');
    return { result: input, things: { projectId: project } };
  }
}

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
