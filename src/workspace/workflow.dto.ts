// Bodies and answers of workflows.
import { ApiProperty } from '../http/api-documentation.js';
import { IdField, ObjectArrayField, ObjectField, TextField } from '../http/field-rules.js';
import type { Workflow } from './workflow.repository.js';

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

  @IdField({ description: "The project; the acting user's personal one unless given.", optional: true })
  readonly projectId?: string;
}

export class WorkflowChangeBody {
  @TextField({ description: 'Name of the workflow.', max: MAX_NAME_CHARACTERS, optional: true })
  readonly name?: string;

  @ObjectArrayField({ description: NODES, optional: true })
  readonly nodes?: readonly unknown[];

  @ObjectField({ description: CONNECTIONS, optional: true })
  readonly connections?: Record<string, unknown>;
}

export class WorkflowAnswer {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ format: 'uuid' })
  readonly projectId!: string;

  @ApiProperty()
  readonly name!: string;

  @ApiProperty()
  readonly active!: boolean;

  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  readonly nodes!: readonly unknown[];

  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly connections!: Record<string, unknown>;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  readonly updatedAt!: string;
}

/** A workflow in a list, where a page of buttons must know which of them it may offer. */
export class ListedWorkflowAnswer extends WorkflowAnswer {
  /** Whether the acting user may change it, at this moment. */
  @ApiProperty()
  readonly canEdit!: boolean;
}

export function workflowAnswer(workflow: Workflow): WorkflowAnswer {
  const { id, projectId, name, active, nodes, connections, createdAt, updatedAt } = workflow;
  return {
    id,
    projectId,
    name,
    active,
    nodes,
    connections,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
