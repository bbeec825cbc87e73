// Imports workflows into a user's personal project: all of a file, or none.
import { setImmediate as othersTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { BODY_LIMIT_BYTES } from '../../platform/http/http-messages.js';
import type { Checked } from '../../platform/input/schemas.js';
import { readBy, storableString } from '../../platform/input/schemas.js';
import {
  hasUnstorableText,
  isJsonObject,
  JsonError,
  parseStrictJson,
} from '../../platform/json/strict-json.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { UserRepository } from '../../users/user.repository.js';
import { ApiRefusal } from '../../workspace/api/api-refusal.js';
import { ProjectRepository } from '../../workspace/projects/project.repository.js';
import { Quotas } from '../../workspace/quotas/quotas.js';
import type { NewWorkflow } from '../../workspace/workflows/workflow.repository.js';
import { WorkflowRepository } from '../../workspace/workflows/workflow.repository.js';
import { CommandError } from '../command-error.js';
import type { ChangeWork } from '../operation.js';
import { Change, inputOf } from '../operation.js';

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

/** A workflow without its project. */
export type WorkflowDraft = Omit<NewWorkflow, 'projectId'>;

/** The workflows, or problems, with which nothing is imported. */
interface WorkflowFileReading {
  readonly workflows: WorkflowDraft[];
  readonly problems: string[];
}

const MAX_NAME_CHARACTERS = 128;
const DEFAULTS = { active: false, nodes: [], connections: {} };

/** Each field's rule, in words and as a check. */
const RULES = [
  { member: 'name', rule: `must be a string of 1 to ${MAX_NAME_CHARACTERS} characters`, holds: isName },
  { member: 'active', rule: 'must be true or false', holds: (value: unknown) => typeof value === 'boolean' },
  { member: 'nodes', rule: 'must be an array of objects', holds: isObjectArray },
  { member: 'connections', rule: 'must be an object', holds: isJsonObject },
];
const KNOWN = RULES.map(({ member }) => member);

/** Parses a JSON array of `{name, active?, nodes?, connections?}`, and reports all problems at once. */
export function readWorkflowFile(text: string): WorkflowFileReading {
  try {
    return readWorkflows(parseStrictJson(text));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { workflows: [], problems: [error.message] };
  }
}

/** Like `readWorkflowFile`, for parsed JSON. */
export function readWorkflows(list: unknown): WorkflowFileReading {
  if (!Array.isArray(list)) return { workflows: [], problems: ['must be a JSON array of workflows'] };
  const problems = list.flatMap((value, index) => workflowProblems(value, index));
  if (problems.length > 0) return { workflows: [], problems };
  return { workflows: list.map((value) => ({ ...DEFAULTS, ...(value as WorkflowDraft) })), problems };
}

function workflowProblems(value: unknown, index: number): string[] {
  if (!isJsonObject(value)) return [`workflow ${index}: must be an object`];
  const problems = [...unknownMembers(value), ...brokenRules({ ...DEFAULTS, ...value }), ...excess(value)];
  return problems.map((problem) => `workflow ${index}, ${problem}`);
}

/** Refuses unknown fields, which would be lost silently. */
function unknownMembers(workflow: Record<string, unknown>): string[] {
  const unknown = Object.keys(workflow).filter((member) => !KNOWN.includes(member));
  return unknown.map(
    (member) => `${JSON.stringify(member)}: is not a known member; known are ${KNOWN.join(', ')}`,
  );
}

function brokenRules(workflow: Record<string, unknown>): string[] {
  const broken = RULES.filter(({ member, holds }) => !holds(workflow[member]));
  const unstorable = KNOWN.filter((member) => hasUnstorableText(workflow[member]));
  return [
    ...broken.map(({ member, rule }) => `${member}: ${rule}`),
    ...unstorable.map((member) => `${member}: has NUL or a lone surrogate, which cannot be stored`),
  ];
}

/** Refuses workflows that are larger than the API allows: responses must stay within bounds. */
function excess(workflow: Record<string, unknown>): string[] {
  const isTooLarge = Buffer.byteLength(JSON.stringify(workflow)) > BODY_LIMIT_BYTES;
  return isTooLarge ? [`as a whole: is larger than ${BODY_LIMIT_BYTES / 1024} KiB`] : [];
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !hasMoreCharacters(value, MAX_NAME_CHARACTERS);
}

function isObjectArray(value: unknown): boolean {
  return Array.isArray(value) && value.every(isJsonObject);
}
