// Request bodies and responses of users.
import { ApiProperty } from '@nestjs/swagger';
import type { GlobalRole } from '../../users/role.js';
import { ASSIGNABLE_ROLES, GLOBAL_ROLES, MEMBER_ROLE } from '../../users/role.js';
import type { User } from '../../users/user.repository.js';
import {
  ChoiceField,
  EmailField,
  FlagField,
  TextField,
  TimedAnswer,
  timesOf,
} from '../api/body/field-rules.js';

const MAX_NAME_CHARACTERS = 32;
const ROLE = `Global role, by default ${MEMBER_ROLE}. Only a command creates the owner.`;

export class NewUserBody {
  @EmailField({ description: "Partners' tokens find the user by this address." })
  readonly email!: string;

  @TextField({ description: 'Given name.', max: MAX_NAME_CHARACTERS, mayBeEmpty: true, optional: true })
  readonly givenName?: string;

  @TextField({ description: 'Family name.', max: MAX_NAME_CHARACTERS, mayBeEmpty: true, optional: true })
  readonly familyName?: string;

  @ChoiceField({ description: ROLE, values: ASSIGNABLE_ROLES, optional: true })
  readonly role?: GlobalRole;
}

export class UserChangeBody {
  @FlagField({ description: "If false, all of the user's access ends at once.", optional: true })
  readonly enabled?: boolean;

  @ChoiceField({ description: 'Global role.', values: ASSIGNABLE_ROLES, optional: true })
  readonly role?: GlobalRole;
}

export class UserAnswer extends TimedAnswer {
  @ApiProperty({ format: 'uuid', description: 'Id.' })
  readonly id!: string;

  @ApiProperty({ format: 'idn-email', description: 'E-mail address.' })
  readonly email!: string;

  @ApiProperty({ description: 'Given name.' })
  readonly givenName!: string;

  @ApiProperty({ description: 'Family name.' })
  readonly familyName!: string;

  @ApiProperty({ enum: [...GLOBAL_ROLES], description: 'Global role.' })
  readonly role!: string;

  @ApiProperty({ description: 'Whether the user can sign in.' })
  readonly enabled!: boolean;
}

export function userAnswer(user: User): UserAnswer {
  const { id, email, givenName, familyName, role, enabled } = user;
  return { id, email, givenName, familyName, role, enabled, ...timesOf(user) };
}
