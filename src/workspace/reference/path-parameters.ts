// Says what the parameters in paths are: all but one are ids.
import type { OpenAPIObject } from '@nestjs/swagger';
import { CREDENTIAL_TYPE_NAMES } from '../credentials/credential-types.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
}
interface Operation {
  readonly parameters?: Parameter[];
}

const ID = { type: 'string', format: 'uuid' };
const MEANINGS: Readonly<Record<string, { description: string; schema: object }>> = {
  userId: { description: 'Id of the user', schema: ID },
  projectId: { description: 'Id of the project', schema: ID },
  workflowId: { description: 'Id of the workflow', schema: ID },
  credentialId: { description: 'Id of the credential', schema: ID },
  type: { description: 'Type of credential', schema: { type: 'string', enum: [...CREDENTIAL_TYPE_NAMES] } },
};

/** @throws Error for a parameter that nobody has described */
export function describePathParameters({ paths }: OpenAPIObject): void {
  const operations = Object.values(paths).flatMap(
    (methods) => Object.values(methods as object) as Operation[],
  );
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  for (const parameter of parameters.filter((each) => each.in === 'path')) {
    const meaning = MEANINGS[parameter.name];
    if (meaning === undefined) throw new Error(`the parameter ${parameter.name} is not described`);
    Object.assign(parameter, meaning);
  }
}
