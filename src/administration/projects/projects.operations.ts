// Lists projects with their keys in partners' tokens, and sets such a key.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { BODY_LIMIT_BYTES } from '../../platform/http/http-messages.js';
import type { Checked, Problem } from '../../platform/input/schemas.js';
import { flag, holding, read, readBy, storableString, stringUpTo } from '../../platform/input/schemas.js';
import {
  hasUnstorableText,
  isJsonObject,
  JsonError,
  parseStrictJson,
} from '../../platform/json/strict-json.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { isId } from '../../platform/text/id.js';
import { parsedUrl } from '../../platform/text/url.js';
import { IdentityLinkRepository, MAX_KEY_CHARACTERS } from '../../token-exchange/instance.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal } from '../../workspace/api/api-refusal.js';
import type { ExternalKey } from '../../workspace/projects/project.repository.js';
import { ProjectRepository } from '../../workspace/projects/project.repository.js';
import { Quotas } from '../../workspace/quotas/quotas.js';
import type { NewWorkflow } from '../../workspace/workflows/workflow.repository.js';
import { WorkflowRepository } from '../../workspace/workflows/workflow.repository.js';
import type { ChangeWork } from '../operation.js';
import { Change, CommandError, inputOf, readNothing, Stream } from '../operation.js';

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

/** Rows per statement. If the embedded database runs on the main thread, each statement blocks requests. */
const BATCH_SIZE = 25;
/** The command line shows all problems of its file; this limit is for other callers. */
const MAX_PROBLEMS = 10;

const readImport = inputOf({ ownerEmail: storableString(), workflows: readBy(z.unknown(), drafts) });

@Injectable()
export class WorkflowOperations {
  constructor(
    private readonly users: UserRepository,
    private readonly projects: ProjectRepository,
    private readonly workflows: WorkflowRepository,
    private readonly quotas: Quotas,
  ) {}

  @Change('workflows import', readImport)
  async import({ ownerEmail, workflows }: ReturnType<typeof readImport>, { transaction }: ChangeWork) {
    const owner = await this.users.findByEmail(ownerEmail, transaction);
    if (owner === undefined) throw new CommandError('There is no user with this e-mail address.');
    const projectId = await this.projects.personalProjectId(transaction, owner.id);
    try {
      await this.quotas.within(transaction, { workflows: projectId }, async () => {
        for (let start = 0; start < workflows.length; start += BATCH_SIZE) {
          const batch = workflows.slice(start, start + BATCH_SIZE);
          await this.workflows.insert(
            transaction,
            batch.map((draft) => ({ ...draft, projectId })),
          );
          await othersTurn();
        }
      });
    } catch (error) {
      throw error instanceof ApiRefusal ? new CommandError(`${error.message}.`) : error;
    }
    return { result: { imported: workflows.length }, targets: { userId: owner.id, projectId } };
  }
}

function drafts(value: unknown): Checked<readonly WorkflowDraft[]> {
  const { workflows, problems } = readWorkflows(value);
  return problems.length === 0 ? { value: workflows } : { rule: problems.slice(0, MAX_PROBLEMS).join('; ') };
}

export type WorkflowDraft = Omit<NewWorkflow, 'projectId'>;

/** The workflows, or problems, with which nothing is imported. */
interface WorkflowFileReading {
  readonly workflows: WorkflowDraft[];
  readonly problems: string[];
}

const MAX_NAME_CHARACTERS = 128;

/** Responses must stay within bounds, so no workflow is larger than the API allows. */
const WORKFLOWS = z.array(
  z
    .strictObject({
      name: stringUpTo(MAX_NAME_CHARACTERS).min(1, 'must not be empty'),
      active: flag().default(false),
      nodes: storable<readonly object[]>(
        (value) => Array.isArray(value) && value.every(isJsonObject),
        'must be an array of objects',
      ).default([]),
      connections: storable<Record<string, unknown>>(isJsonObject, 'must be an object').default({}),
    })
    .refine(
      (workflow) => Buffer.byteLength(JSON.stringify(workflow)) <= BODY_LIMIT_BYTES,
      `is larger than ${BODY_LIMIT_BYTES / 1024} KiB`,
    ),
  'must be a JSON array of workflows',
);

function storable<T>(check: (value: unknown) => boolean, rule: string) {
  return holding<T>(check, rule).refine(
    (value) => !hasUnstorableText(value),
    'has NUL or a lone surrogate, which cannot be stored',
  );
}

/** Parses a JSON array of `{name, active?, nodes?, connections?}`, and reports all problems at once. */
export function readWorkflowFile(text: string): WorkflowFileReading {
  try {
    return readWorkflows(parseStrictJson(text));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { workflows: [], problems: [error.message] };
  }
}

function readWorkflows(list: unknown): WorkflowFileReading {
  const reading = read(WORKFLOWS, list);
  if ('value' in reading) return { workflows: reading.value, problems: [] };
  return { workflows: [], problems: reading.problems.map(problemLine) };
}

function problemLine({ path, rule }: Problem): string {
  const [index = '', member] = path.split('.');
  if (index === '') return rule;
  return `workflow ${index}${member === undefined ? '' : `, ${member}`}: ${rule}`;
}
