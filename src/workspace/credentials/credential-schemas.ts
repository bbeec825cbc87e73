// Judges the data of credentials by the schemas of their types.
import { Injectable } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { CredentialSchema } from './credential-types.js';
import { CREDENTIAL_TYPES } from './credential-types.js';

@Injectable()
export class CredentialSchemas {
  private readonly ajv: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();

  constructor() {
    this.ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
    addFormats.default(this.ajv);
  }

  /** Undefined for a type that does not exist. */
  schemaOf(type: string): CredentialSchema | undefined {
    return CREDENTIAL_TYPES.get(type);
  }

  /** What is wrong with the data, as a sentence that names members and rules but holds no value; undefined: nothing. */
  problemOf(type: string, data: unknown): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    const validate = this.validatorOf(type, schema);
    if (validate(data)) return undefined;
    const error = firstOf(validate.errors ?? []);
    return error === undefined ? 'data is not valid' : sentenceOf(error, schema);
  }

  /** Compiled when it is first needed: a new schema costs some milliseconds, and few types are ever used. */
  private validatorOf(type: string, schema: CredentialSchema): ValidateFunction {
    const validate = this.validators.get(type) ?? this.ajv.compile(schema);
    this.validators.set(type, validate);
    return validate;
  }
}

/** A condition may fail only because a member is wrong that another rule names better. */
function firstOf(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find(({ schemaPath }) => !/^#\/(if|then|else)/.test(schemaPath)) ?? errors[0];
}

function sentenceOf(
  { keyword, instancePath, params, message }: ErrorObject,
  schema: CredentialSchema,
): string {
  const member = `data${instancePath.replaceAll('/', '.')}`;
  const { missingProperty, allowedValues } = params as { missingProperty?: string; allowedValues?: string[] };
  if (keyword === 'required') return `${member}.${missingProperty ?? ''} is required`;
  if (keyword === 'additionalProperties')
    return `${member} has an unknown member; known are ${Object.keys(schema.properties).join(', ')}`;
  if (keyword === 'enum') return `${member} must be one of ${allowedValues?.join(', ') ?? ''}`;
  // The rest of ajv's messages quote the schema, never the value.
  return `${member} ${message ?? 'is not valid'}`;
}
