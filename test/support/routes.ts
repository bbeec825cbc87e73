// Lists the routes of a running service, whatever made them.
import type { TestService } from './test-service.js';

export interface Route {
  readonly method: string;
  /** As the server matches it: `/api/v1/users/:userId`. */
  readonly path: string;
}

/** A line of the tree: four characters for each level, then a part of the path, and the methods of what ends there. */
const BRANCH = /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/;
const CHARACTERS_A_LEVEL = 4;

/** @throws Error for a line that is no branch: a server that draws its routes otherwise would have none */
export function routesOf(service: TestService): Route[] {
  const above: string[] = [];
  return service.routeTree
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const [, indent, part, methods] = BRANCH.exec(line) ?? [];
      if (indent === undefined || part === undefined) throw new Error(`this is no route: ${line}`);
      const depth = indent.length / CHARACTERS_A_LEVEL;
      const path = `${above[depth - 1] ?? ''}${part}`.replace(/^\/\//, '/');
      above.splice(depth, Infinity, path);
      return (methods ?? '').split(', ').flatMap((method) => (method === '' ? [] : [{ method, path }]));
    });
}
