// Lists projects with their keys in partners' tokens, and sets such a key.
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Checked } from '../../platform/input/schemas.js';
import { readBy, storableString } from '../../platform/input/schemas.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { isId } from '../../platform/text/id.js';
import { parsedUrl } from '../../platform/text/url.js';
import { IdentityLinkRepository, MAX_KEY_CHARACTERS } from '../../token-exchange/instance.js';
import type { ExternalKey } from '../../workspace/projects/project.repository.js';
import { ProjectRepository } from '../../workspace/projects/project.repository.js';
import { CommandError } from '../command-error.js';
import type { ChangeWork } from '../operation.js';
import { Change, inputOf, readNothing, Stream } from '../operation.js';

const PAGE_SIZE = 100;

export interface ListedProject {
  readonly id: string;
  readonly name: string;
  readonly externalKeys: readonly ExternalKey[];
}

const readKey = inputOf({
  project: readBy(z.unknown(), projectId),
  issuer: issuerUrl(),
  key: keyText(),
});

@Injectable()
export class ProjectOperations {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly links: IdentityLinkRepository,
  ) {}

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

  /** Replaces the project's earlier key of the issuer. Another project that has the key loses it. */
  @Change('projects set-key', readKey)
  async setKey(input: ReturnType<typeof readKey>, { transaction }: ChangeWork) {
    const { project } = input;
    if (!(await this.projects.setKey(transaction, project, input)))
      throw new CommandError('There is no project of a team with this id.');
    await this.links.forgetProjects(transaction, input.issuer);
    return { result: input, targets: { projectId: project } };
  }
}

function projectId(value: unknown): Checked<string> {
  return typeof value === 'string' && isId(value)
    ? { value: value.toLowerCase() }
    : { rule: 'must be the id of a project' };
}

function issuerUrl() {
  return storableString().refine((text) => parsedUrl(text) !== undefined, 'must be a URL');
}

function keyText() {
  const rule = `must be a string of 1 to ${MAX_KEY_CHARACTERS} characters`;
  const isGood = (text: string) => text !== '' && !hasMoreCharacters(text, MAX_KEY_CHARACTERS);
  return storableString().refine(isGood, rule);
}
