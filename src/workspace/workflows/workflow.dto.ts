// Request bodies and responses of workflows.
import { ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import {
  IdField,
  ObjectArrayField,
  ObjectField,
  TextField,
  TimedAnswer,
  timesOf,
} from '../api/body/field-rules.js';
import type { Workflow } from './workflow.repository.js';
import type { ListedWorkflow } from './workflow-list.query.js';
import { MAX_COUNT } from './workflow-list.query.js';

const MAX_NAME_CHARACTERS = 128;
const NODES = 'Nodes, kept and answered as they are.';
const CONNECTIONS = 'Connections between nodes, kept and answered as they are.';

export class NewWorkflowBody {
  @TextField({ description: 'Name of the workflow.', max: MAX_NAME_CHARACTERS })
  readonly name!: string;

  @ObjectArrayField({ description: NODES, optional: true })
  readonly nodes?: readonly unknown[];

  @ObjectField({ description: CONNECTIONS, optional: true })
  readonly connections?: Record<string, unknown>;

  @IdField({ description: "The project; by default the acting user's personal project.", optional: true })
  readonly projectId?: string;
}

/** `null` is not the same as a missing field. */
export class WorkflowChangeBody extends PartialType(OmitType(NewWorkflowBody, ['projectId']), {
  skipNullProperties: false,
}) {}

class WorkflowHead extends TimedAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id.' })
  readonly id!: string;

  @ApiProperty({ format: 'uuid', description: 'Id of its project.' })
  readonly projectId!: string;

  @ApiProperty({ description: 'Name.' })
  readonly name!: string;

  @ApiProperty({ description: 'Whether it is active.' })
  readonly active!: boolean;

  /** The current state, so that a page shows only the buttons that work. */
  @ApiProperty({ description: 'Whether the user and the token of the call may change it.' })
  readonly canEdit!: boolean;
}

export class WorkflowAnswer extends WorkflowHead {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Nodes, as they were sent.',
  })
  readonly nodes!: readonly unknown[];

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'Connections between nodes, as they were sent.',
  })
  readonly connections!: Record<string, unknown>;
}

/** A workflow in a list, without nodes and connections, so that pages stay small. */
export class ListedWorkflowAnswer extends WorkflowHead {}

export class WorkflowCountAnswer {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: MAX_COUNT, description: 'How many there are.' })
  readonly count!: number;

  @ApiProperty({
    description: `Whether there are more than ${MAX_COUNT}.`,
  })
  readonly hasMore!: boolean;
}

export function workflowAnswer(workflow: Workflow, canEdit: boolean): WorkflowAnswer {
  const { nodes, connections } = workflow;
  return { ...listedWorkflowAnswer(workflow, canEdit), nodes, connections };
}

export function listedWorkflowAnswer(workflow: ListedWorkflow, canEdit: boolean): ListedWorkflowAnswer {
  const { id, projectId, name, active } = workflow;
  return { id, projectId, name, active, ...timesOf(workflow), canEdit };
}
