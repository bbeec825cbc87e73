// Checks the data of credentials by the schemas of their types.
import { Injectable } from '@nestjs/common';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { CredentialSchema } from './credential-types.js';
import { CREDENTIAL_TYPES } from './credential-types.js';

@Injectable()
export class CredentialSchemas {
  private readonly ajv = createAjv();
  private readonly validators = new Map<string, ValidateFunction>();

  /** The fault of the data, as a sentence with names of members and rules but no value; undefined: none. */
  problemOf(type: string, data: object): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    // Before the rest, which names every error: how many members are unknown is the sender's choice.
    if (unknownNames(data, schema).length > 0) return unknownMember(schema);
    const validate = this.validatorOf(type, schema);
    if (validate(data)) return undefined;
    const error = firstOf(validate.errors ?? []);
    return error === undefined ? 'data is not valid' : sentenceOf(error);
  }

  /** The fault of a patch of data, from its names alone: null removes a member of any name. */
  problemOfPatch(type: string, patch: Readonly<Record<string, unknown>>): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    const isUnknown = unknownNames(patch, schema).some((name) => patch[name] !== null);
    return isUnknown ? unknownMember(schema) : undefined;
  }

  /** Compiled when it is first needed: a new schema costs some milliseconds, and few types are ever used. */
  private validatorOf(type: string, schema: CredentialSchema): ValidateFunction {
    const validate = this.validators.get(type) ?? this.ajv.compile(schema);
    this.validators.set(type, validate);
    return validate;
  }
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  return ajv;
}

/** A condition may fail only because a member is wrong that another rule names better. */
function firstOf(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find(({ schemaPath }) => !/^#\/(if|then|else)/.test(schemaPath)) ?? errors[0];
}

function unknownNames(data: object, { properties }: CredentialSchema): string[] {
  return Object.keys(data).filter((name) => !Object.hasOwn(properties, name));
}

function unknownMember({ properties }: CredentialSchema): string {
  return `data has an unknown member; known are ${Object.keys(properties).join(', ')}`;
}

function sentenceOf({ keyword, instancePath, params, message }: ErrorObject): string {
  const member = `data${instancePath.replaceAll('/', '.')}`;
  const { missingProperty, allowedValues } = params as { missingProperty?: string; allowedValues?: string[] };
  if (keyword === 'required') return `${member}.${missingProperty ?? ''} is required`;
  if (keyword === 'enum') return `${member} must be one of ${allowedValues?.join(', ') ?? ''}`;
  // The rest of ajv's messages quote the schema, never the value.
  return `${member} ${message ?? 'is not valid'}`;
}
