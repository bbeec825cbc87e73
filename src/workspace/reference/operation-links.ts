// Links what makes a thing with what can be done to it, so that programs can go on from an answer.
import type { OpenAPIObject } from '@nestjs/swagger';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, { links?: Record<string, object> }>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** What follows the path of a list in that of one thing: the parameter with its id, and what is done to it or lies in it. */
const ONE = /^\/\{(\w+)\}(\/[^{}]+)?$/;

/** Where `POST /things` makes one, the id that it answers is that of every operation on `/things/{thingId}` and below. */
export function linkOperations(document: OpenAPIObject): void {
  const paths = document.paths as Paths;
  for (const [list, methods] of Object.entries(paths)) {
    const made = methods['post']?.responses['201'];
    if (made !== undefined) made.links = linksFrom(list, paths);
  }
}

function linksFrom(list: string, paths: Paths): Record<string, object> {
  const links = Object.entries(paths).flatMap(([path, methods]) => {
    const [, idName] = path.startsWith(list) ? (ONE.exec(path.slice(list.length)) ?? []) : [];
    if (idName === undefined) return [];
    const parameters = { ...parentsIn(list), [idName]: '$response.body#/id' };
    return Object.values(methods).map((operation) => linkTo(operation, parameters));
  });
  return Object.fromEntries(links);
}

function linkTo({ operationId = '', summary = '' }: Operation, parameters: object): [string, object] {
  return [operationId, { operationId, parameters, description: summary }];
}

/** Things that a list lies in are named by the request already. */
function parentsIn(list: string): Record<string, string> {
  const names = [...list.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return Object.fromEntries(names.map((name) => [name, `$request.path.${name}`]));
}
