// Request bodies and responses of projects and their members.
import { ApiProperty, PickType } from '@nestjs/swagger';
import { ChoiceField, IdField, TextField, TimedAnswer, timesOf } from '../api/body/field-rules.js';
import type { ProjectRole } from '../rights/rights.js';
import { PROJECT_ROLES } from '../rights/rights.js';
import { UserAnswer } from '../users/user.dto.js';
import type { Project } from './project.repository.js';

const MAX_NAME_CHARACTERS = 128;

export class ProjectBody {
  @TextField({ description: 'Name of the project.', max: MAX_NAME_CHARACTERS })
  readonly name!: string;
}

export class ExternalKeyAnswer {
  @ApiProperty({ description: 'Issuer of the tokens.' })
  readonly issuer!: string;

  @ApiProperty({ description: "The project's key in these tokens." })
  readonly key!: string;
}

export class ProjectAnswer extends TimedAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id.' })
  readonly id!: string;

  @ApiProperty({ enum: ['personal', 'team'], description: 'Type.' })
  readonly type!: string;

  @ApiProperty({ description: 'Name.' })
  readonly name!: string;

  @ApiProperty({ type: [ExternalKeyAnswer], description: "The project's keys in partners' tokens." })
  readonly externalKeys!: readonly ExternalKeyAnswer[];
}

export class MemberRoleBody {
  @ChoiceField({ description: 'Role in the project.', values: PROJECT_ROLES })
  readonly role!: ProjectRole;
}

export class NewMemberBody extends MemberRoleBody {
  @IdField({ description: 'The user who becomes a member.' })
  readonly userId!: string;
}

/** A user with the role in one project. */
export class MemberAnswer extends PickType(UserAnswer, ['id', 'email', 'givenName', 'familyName']) {
  @ApiProperty({ enum: [...PROJECT_ROLES], description: 'Role in this project.' })
  readonly role!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Issuer whose claim added the member; null if a user did.',
  })
  readonly issuer!: string | null;
}

export function projectAnswer(project: Project): ProjectAnswer {
  const { id, type, name, externalKeys = [] } = project;
  return { id, type, name, externalKeys, ...timesOf(project) };
}
