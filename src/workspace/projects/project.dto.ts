// Bodies and answers of projects and their members.
import { ApiProperty } from '../api/body/api-documentation.js';
import { ChoiceField, IdField, TextField } from '../api/body/field-rules.js';
import type { ProjectRole } from '../rights/rights.js';
import { PROJECT_ROLES } from '../rights/rights.js';
import type { MemberRow } from './project-member.repository.js';
import type { Project } from './project.repository.js';

const MAX_NAME_CHARACTERS = 128;

export class ProjectBody {
  @TextField({ description: 'Name of the project.', max: MAX_NAME_CHARACTERS })
  readonly name!: string;
}

export class ProjectAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id.' })
  readonly id!: string;

  @ApiProperty({ enum: ['personal', 'team'], description: 'Type.' })
  readonly type!: string;

  @ApiProperty({ description: 'Name.' })
  readonly name!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was made.' })
  readonly createdAt!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was changed last.' })
  readonly updatedAt!: string;
}

export class MemberRoleBody {
  @ChoiceField({ description: 'Role in the project.', values: PROJECT_ROLES })
  readonly role!: ProjectRole;
}

export class NewMemberBody extends MemberRoleBody {
  @IdField({ description: 'The user who becomes a member.' })
  readonly userId!: string;
}

export class MemberAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id of the user.' })
  readonly id!: string;

  @ApiProperty({ format: 'email', description: 'E-mail address.' })
  readonly email!: string;

  @ApiProperty({ description: 'Given name.' })
  readonly givenName!: string;

  @ApiProperty({ description: 'Family name.' })
  readonly familyName!: string;

  @ApiProperty({ enum: [...PROJECT_ROLES], description: 'Role in this project.' })
  readonly role!: string;
}

export function projectAnswer({ id, type, name, createdAt, updatedAt }: Project): ProjectAnswer {
  return { id, type, name, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

export function memberAnswer({ id, email, givenName, familyName, role }: MemberRow): MemberAnswer {
  return { id, email, givenName, familyName, role };
}
