// Request bodies and responses of credentials. No response contains their data.
import { ApiProperty, PickType } from '@nestjs/swagger';
import {
  ChoiceField,
  FlagField,
  IdField,
  ObjectField,
  TextField,
  TimedAnswer,
  timesOf,
} from '../api/body/field-rules.js';
import { ProjectAnswer } from '../projects/project.dto.js';
import type { CredentialRow } from './credential.repository.js';
import { CREDENTIAL_TYPE_NAMES } from './credential-types.js';

const MAX_NAME_CHARACTERS = 128;

export class NewCredentialBody {
  @TextField({ description: 'Name of the credential.', max: MAX_NAME_CHARACTERS })
  readonly name!: string;

  @ChoiceField({ description: "Type. It determines data's schema.", values: CREDENTIAL_TYPE_NAMES })
  readonly type!: string;

  @ObjectField({ description: "Secret data that matches the type's schema. It is never returned." })
  readonly data!: Record<string, unknown>;

  @IdField({ description: "The project; by default the acting user's personal project.", optional: true })
  readonly projectId?: string;
}

export class CredentialChangeBody {
  @TextField({ description: 'Name of the credential.', max: MAX_NAME_CHARACTERS, optional: true })
  readonly name?: string;

  @ChoiceField({
    description: 'A different type needs new data.',
    values: CREDENTIAL_TYPE_NAMES,
    optional: true,
  })
  readonly type?: string;

  @ObjectField({
    description: "Replaces all data, or is merged into it. The result must match the type's schema.",
    optional: true,
  })
  readonly data?: Record<string, unknown>;

  @FlagField({
    description: 'If true, only the given properties of data change. Null removes a property.',
    optional: true,
  })
  readonly isPartialData?: boolean;
}

export class CredentialProjectAnswer extends PickType(ProjectAnswer, ['id', 'name', 'type']) {}

export class CredentialAnswer extends TimedAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id.' })
  readonly id!: string;

  @ApiProperty({ description: 'Name.' })
  readonly name!: string;

  @ApiProperty({ enum: [...CREDENTIAL_TYPE_NAMES], description: 'Type.' })
  readonly type!: string;

  @ApiProperty({ description: 'The project that the credential belongs to.' })
  readonly project!: CredentialProjectAnswer;
}

export function credentialAnswer(row: CredentialRow): CredentialAnswer {
  const { id, name, type, projectId, projectName, projectType } = row;
  const project = { id: projectId, name: projectName, type: projectType };
  return { id, name, type, project, ...timesOf(row) };
}
