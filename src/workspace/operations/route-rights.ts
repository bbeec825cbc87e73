// Checks the routes of the API when the module is created: none may be open by mistake.
import type { Type } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { ruleOf } from './operation.decorator.js';
import type { ThingKind } from '../rights/project-role.repository.js';
import { isInstanceRight } from '../rights/rights.js';

/** A thing in a project, by the parameter of the path that names it. */
interface NamedThing {
  readonly parameter: string;
  readonly kind: ThingKind;
}

/** In the order in which they are looked for. */
const THINGS: readonly NamedThing[] = [
  { parameter: 'projectId', kind: 'project' },
  { parameter: 'workflowId', kind: 'workflow' },
  { parameter: 'credentialId', kind: 'credential' },
];

/** The thing among the parameters of a path that decides the project. */
export function thingIn(parameters: readonly string[]): NamedThing | undefined {
  return THINGS.find(({ parameter }) => parameters.includes(parameter));
}

/**
 * @throws Error for a route without an @Operation, and for one whose right in a project would not be checked: its path names
 *   nothing, and it does not say that it asks itself
 */
export function refuseOpenRoutes(controllers: readonly Type[]): void {
  for (const controller of controllers) {
    for (const { handler, path } of routesOf(controller)) {
      const { right, asksItself } = ruleOf(handler);
      if (right === undefined || isInstanceRight(right) || asksItself === true) continue;
      if (thingIn(parametersOf(path)) !== undefined) continue;
      throw new Error(`${controller.name}.${handler.name} asks for ${right}, and its path names nothing`);
    }
  }
}

interface Route {
  readonly handler: (...parameters: never[]) => unknown;
  readonly path: string;
}

/** The methods that Nest knows as routes. */
function routesOf(controller: Type): Route[] {
  const prototype = controller.prototype as Record<string, Route['handler']>;
  const pathOf = (target: object): unknown => Reflect.getMetadata(PATH_METADATA, target);
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    const path = name === 'constructor' || handler === undefined ? undefined : pathOf(handler);
    return handler === undefined || typeof path !== 'string'
      ? []
      : [{ handler, path: `${String(pathOf(controller))}/${path}` }];
  });
}

function parametersOf(path: string): string[] {
  return path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
}
