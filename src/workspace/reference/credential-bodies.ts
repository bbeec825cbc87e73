// Describes the bodies that contain credential data, per type, with the schemas that validate them.
import type { OpenAPIObject } from '@nestjs/swagger';
import type { CredentialSchema } from '../credentials/credential-types.js';
import { CREDENTIAL_TYPES } from '../credentials/credential-types.js';

type Schemas = Record<string, Schema>;
interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly [keyword: string]: unknown;
}

const NEW = 'NewCredentialBody';
const CHANGE = 'CredentialChangeBody';

/**
 * A new credential has one of the types. Each has named schemas for its body and its data, so that generated
 * clients have classes for them. The data that a change may contain depends on the stored credential, which
 * no schema can express.
 */
export function describeCredentialTypes({ components }: OpenAPIObject): void {
  const schemas = (components?.schemas ?? {}) as Schemas;
  const whole = schemas[NEW];
  if (whole === undefined) throw new Error(`the description has no ${NEW}`);
  const types = [...CREDENTIAL_TYPES.keys()];
  for (const [type, schema] of CREDENTIAL_TYPES) {
    schemas[dataName(type)] = dataSchema(schema);
    schemas[bodyName(type)] = bodySchema(whole, type);
  }
  schemas[NEW] = {
    description: 'A credential of one of the types.',
    oneOf: types.map((type) => ({ $ref: reference(bodyName(type)) })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(types.map((type) => [type, reference(bodyName(type))])),
    },
  };
  Object.assign(schemas[CHANGE] ?? {}, PARTIAL_CHANGE);
}

/**
 * `isPartialData` is meaningless without data. Linters expect an example to have only the properties that
 * `then` names.
 */
const PARTIAL_CHANGE = {
  not: { properties: { isPartialData: {} }, required: ['isPartialData'], maxProperties: 1 },
  if: { required: ['isPartialData'], properties: { isPartialData: { const: true } } },
  then: { properties: { name: {}, type: {}, data: {}, isPartialData: {} }, required: ['data'] },
};

/** Omits the title, which some generators would use as the class name. */
function dataSchema({ $schema, title, ...schema }: CredentialSchema): Schema {
  return { ...schema, description: `Data of a credential of the type ${title}. By ${$schema}.` };
}

function bodySchema({ properties, ...whole }: Schema, type: string): Schema {
  return {
    ...whole,
    properties: {
      ...properties,
      type: { type: 'string', enum: [type], description: "Type. It determines data's schema." },
      data: { $ref: reference(dataName(type)) },
    },
  };
}

function bodyName(type: string): string {
  return `New${capitalised(type)}Body`;
}

function dataName(type: string): string {
  return `${capitalised(type)}Data`;
}

function capitalised(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}
