// The kinds of field in JSON bodies. One line validates and documents a field.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsIn, IsObject, IsUUID, ValidateBy, ValidateIf } from 'class-validator';
import { hasMoreCharacters } from '../../../platform/text/characters.js';
import { isEmailAddress } from '../../../platform/text/email-address.js';

/** D42. */
const MAX_EMAIL_CHARACTERS = 254;

export interface Field {
  readonly description: string;
  /** The field may be left out. `null` is a value, and must satisfy the rule. */
  readonly optional?: boolean;
}

/** A string of 1 to `max` code points, as the database counts; of 0 to `max` with `mayBeEmpty`. */
export function TextField(
  field: Field & { readonly max: number; readonly mayBeEmpty?: boolean },
): PropertyDecorator {
  const { max, mayBeEmpty = false } = field;
  const min = mayBeEmpty ? 0 : 1;
  const holds = (value: unknown) =>
    typeof value === 'string' && value.length >= min && !hasMoreCharacters(value, max);
  const schema = { type: 'string', minLength: min, maxLength: max };
  return fieldOf(field, schema, rule(`must be a string of ${min} to ${max} characters`, holds));
}

export function EmailField(field: Field): PropertyDecorator {
  const schema = { type: 'string', format: 'idn-email', maxLength: MAX_EMAIL_CHARACTERS };
  const holds = (value: unknown) => String(value).length <= MAX_EMAIL_CHARACTERS && isEmailAddress(value);
  return fieldOf(field, schema, rule('must be an e-mail address', holds));
}

export function FlagField(field: Field): PropertyDecorator {
  return fieldOf(field, { type: 'boolean' }, IsBoolean());
}

export function IdField(field: Field): PropertyDecorator {
  return fieldOf(field, { type: 'string', format: 'uuid' }, IsUUID());
}

export function ChoiceField(field: Field & { readonly values: readonly string[] }): PropertyDecorator {
  const { values } = field;
  return fieldOf(field, { type: 'string', enum: [...values] }, IsIn(values));
}

export function ObjectField(field: Field): PropertyDecorator {
  return fieldOf(field, { type: 'object', additionalProperties: true }, IsObject());
}

export function ObjectArrayField(field: Field): PropertyDecorator {
  const schema = { type: 'array', items: { type: 'object', additionalProperties: true } };
  return fieldOf(field, schema, applyDecorators(IsArray(), IsObject({ each: true })));
}

function fieldOf(
  { description, optional = false }: Field,
  schema: object,
  check: PropertyDecorator,
): PropertyDecorator {
  const documented = ApiProperty({ ...schema, description, required: !optional });
  const skipped = optional ? [ValidateIf((_, value: unknown) => value !== undefined)] : [];
  return applyDecorators(documented, check, ...skipped);
}

function rule(text: string, holds: (value: unknown) => boolean): PropertyDecorator {
  const validator = { validate: holds, defaultMessage: () => `$property ${text}` };
  return ValidateBy({ name: text, validator });
}

export class TimedAnswer {
  @ApiProperty({ format: 'date-time', description: 'When it was made.' })
  readonly createdAt!: string;

  @ApiProperty({ format: 'date-time', description: 'When it was changed last.' })
  readonly updatedAt!: string;
}

export function timesOf(row: { readonly createdAt: Date; readonly updatedAt: Date }): TimedAnswer {
  return { createdAt: row.createdAt.toISOString(), updatedAt: row.updatedAt.toISOString() };
}
