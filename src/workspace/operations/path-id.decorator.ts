// Hands a controller the id of a thing from the path, and documents it.
import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { IdPipe } from '../api/query.pipe.js';

/** What is not a UUID is the id of nothing: 404. @param name the parameter, such as `userId` */
export function PathId(name: `${'user' | 'project' | 'workflow' | 'credential'}Id`): ParameterDecorator {
  const schema = { type: 'string', format: 'uuid' };
  const documented = ApiParam({ name, description: `Id of the ${name.slice(0, -2)}`, schema });
  return (prototype, method = '', index) => {
    Param(name, IdPipe)(prototype, method, index);
    documented(prototype, method, Object.getOwnPropertyDescriptor(prototype, method) ?? {});
  };
}
