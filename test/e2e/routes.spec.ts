// Every route of the application is known: those that ask who calls, and the open ones.
import { randomUUID } from 'node:crypto';
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

interface Route {
  readonly method: string;
  /** As the server matches it: `/api/v1/users/:userId`. */
  readonly path: string;
}

/** A line of the tree: four characters for each level, then a part of the path, and the methods of what ends there. */
const BRANCH = /^((?:│ {3}| {4})*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?$/;
const CHARACTERS_A_LEVEL = 4;

/** @throws Error for a line that is not a branch, so that a changed output format does not yield zero routes */
function routesOf(service: TestService): Route[] {
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

const OPEN =
  /^\/($|healthz|metrics|\.well-known|api\/v1\/(docs|openapi\.json)|assets|frame|favicon|embed\.|rest\/auth\/(oauth\/(token|revoke|introspect)|embed|events|explain|backchannel-logout)$)/;

describeOnAnyDatabase('the routes', (database) => {
  const service = TestService.forBlock(database);

  it('[4.3] answer 401 to a request without a credential, but for the open ones', async () => {
    const routes = routesOf(service);
    const statuses = await Promise.all(
      routes.map(async ({ method, path }) => {
        const answer = await service.fetch(
          path.replaceAll(/:\w+/g, () => randomUUID()),
          { method },
        );
        return answer.status;
      }),
    );
    const closed = routes.filter(({ path }) => !OPEN.test(path));
    expect(routes.filter((_, index) => statuses[index] === 401)).toEqual(closed);
    expect(closed.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/rest/me', '/rest/auth/logout', '/api/v1/users/:userId']),
    );
    expect(closed.length).toBeGreaterThan(25);
  });
});
