// Knows which methods each path of the service answers, for requests that no route has matched.

/** A route's pattern by segments; `undefined` stands for a parameter. */
type Pattern = readonly (string | undefined)[];

interface KnownPath {
  readonly url: string;
  readonly pattern: Pattern;
  readonly methods: Set<string>;
}

/** Nothing of it is asked for a request that a route answers. */
export class KnownPaths {
  private readonly paths = new Map<string, KnownPath>();
  private longest = 0;

  /** @param isAbsent whether a route, by its pattern and method, is to look as if it were not there; asked each time */
  constructor(private readonly isAbsent: (url: string, method: string) => boolean) {}

  /** @param url the pattern of a route, such as `/api/v1/users/:userId` */
  add(url: string, methods: string | readonly string[]): void {
    const pattern = url.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment));
    const path = this.paths.get(url) ?? { url, pattern, methods: new Set() };
    for (const method of [methods].flat()) path.methods.add(method);
    this.paths.set(url, path);
    this.longest = Math.max(this.longest, pattern.length);
  }

  /** The methods that a request for this target might have; none where no route is there. */
  methodsAt(target: string): readonly string[] {
    const path = target.includes('?') ? target.slice(0, target.indexOf('?')) : target;
    const segments = path.split('/', this.longest + 1);
    const known = [...this.paths.values()].filter(({ pattern }) => matches(pattern, segments));
    const methods = known.flatMap((path) =>
      [...path.methods].filter((method) => !this.isAbsent(path.url, method)),
    );
    return [...new Set(methods)];
  }
}

function matches(pattern: Pattern, segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((expected, index) => {
    const segment = segments[index];
    return expected === undefined ? segment !== '' : expected === segment;
  });
}
