// Validates the data of credentials with the schemas of their types.
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

  /**
   * What is wrong with the data, as a sentence with names of fields and rules, but no value; undefined if it
   * is valid.
   */
  problemOf(type: string, data: object): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    // Checked first, because the validator reports every error, and the sender chooses the number of unknown
    // fields.
    if (unknownNames(data, schema).length > 0) return unknownMember(schema);
    const validate = this.validatorOf(type, schema);
    if (validate(data)) return undefined;
    const error = firstOf(validate.errors ?? []);
    return error === undefined ? 'data is not valid' : sentenceOf(error);
  }

  /** What is wrong with a patch, judged by its names alone. Null may remove a field of any name. */
  problemOfPatch(type: string, patch: Readonly<Record<string, unknown>>): string | undefined {
    const schema = CREDENTIAL_TYPES.get(type);
    if (schema === undefined) return 'type is not known';
    const isUnknown = unknownNames(patch, schema).some((name) => patch[name] !== null);
    return isUnknown ? unknownMember(schema) : undefined;
  }

  /** Compiled on first use: a schema takes some milliseconds, and few types are ever used. */
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

/** The error to report. A condition may fail only because of a field that another rule describes better. */
function firstOf(errors: readonly ErrorObject[]): ErrorObject | undefined {
  return errors.find(({ schemaPath }) => !/^#\/(if|then|else)/.test(schemaPath)) ?? errors[0];
}

function unknownNames(data: object, { properties }: CredentialSchema): string[] {
  return Object.keys(data).filter((name) => !Object.hasOwn(properties, name));
}

function unknownMember({ properties }: CredentialSchema): string {
  return `data has an unknown property; known are ${Object.keys(properties).join(', ')}`;
}

function sentenceOf({ keyword, instancePath, params, message }: ErrorObject): string {
  const member = `data${instancePath.replaceAll('/', '.')}`;
  const { missingProperty, allowedValues } = params as { missingProperty?: string; allowedValues?: string[] };
  if (keyword === 'required') return `${member}.${missingProperty ?? ''} is required`;
  if (keyword === 'enum') return `${member} must be one of ${allowedValues?.join(', ') ?? ''}`;
  // ajv's other messages quote the schema, never the value.
  return `${member} ${message ?? 'is not valid'}`;
}
