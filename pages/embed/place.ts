// The path that the frame shows: kept in this tab by `userKey`, and in the host page's fragment with `address="hash"`.
import type { EmbeddedInstanceOptions } from './options.js';

/** The property of a history entry's state with the path before that entry. */
const BEFORE = 'embedded-instance';

type PlaceOptions = Pick<EmbeddedInstanceOptions, 'address' | 'redirectTo' | 'userKey'>;

export class Place {
  #path: string;
  readonly #key: string | undefined;

  /** @param show has the frame show a path, after a step of the host page's history */
  constructor(
    origin: string,
    private readonly options: PlaceOptions,
    private readonly show: (path: string) => void,
  ) {
    const { address, redirectTo = '/', userKey } = options;
    this.#key = userKey === undefined ? undefined : `embedded-instance ${origin} ${userKey}`;
    this.#path = (address && pathInHash()) ?? this.#kept() ?? innerPath(redirectTo);
    if (address) addEventListener('popstate', this.#follow);
  }

  get path(): string {
    return this.#path;
  }

  set path(path: string) {
    this.#path = innerPath(path);
    // A `redirectTo` that changes between two visits overrides the stored path.
    storage(
      (store) => this.#key && store.setItem(this.#key, JSON.stringify([this.options.redirectTo, this.#path])),
    );
  }

  /** The frame shows another path. @param isStep whether Back leads to the one before */
  note(path: string, isStep: boolean): void {
    const before = this.#path;
    this.path = path;
    if (!this.options.address || path === (pathInHash() ?? '/')) return;
    const url = location.pathname + location.search + (path === '/' ? '' : hashOf(path));
    const state = history.state as Record<string, unknown> | null;
    if (!isStep) history.replaceState(state, '', url);
    else if (state?.[BEFORE] === path) history.back();
    else history.pushState({ ...state, [BEFORE]: before }, '', url);
  }

  /** The address of links in a new tab. */
  get linkTemplate(): string | undefined {
    return this.options.address && `${location.href.replace(/#.*/s, '')}#{path}`;
  }

  remove(): void {
    removeEventListener('popstate', this.#follow);
  }

  #kept(): string | undefined {
    const text = storage((store) => this.#key && store.getItem(this.#key));
    const [redirectTo, path] = JSON.parse(text || '[]') as (string | null)[];
    return path && (redirectTo ?? undefined) === this.options.redirectTo ? innerPath(path) : undefined;
  }

  readonly #follow = () => {
    const path = pathInHash() ?? '/';
    if (path === this.#path) return;
    this.path = path;
    this.show(path);
  };
}

/** Paths that cannot be the instance's become `/`. */
export function innerPath(path: string): string {
  return /^\/(?![/\\])/.test(path) ? path : '/';
}

function hashOf(path: string): string {
  return `#${encodeURIComponent(path).replaceAll('%2F', '/').replaceAll('%3D', '=')}`;
}

/** @returns undefined if the fragment is the host page's own */
function pathInHash(): string | undefined {
  try {
    const path = decodeURIComponent(location.hash.slice(1));
    return path.startsWith('/') ? innerPath(path) : undefined;
  } catch {
    return undefined;
  }
}

/** A browser may have no storage for this page. */
function storage<Result>(use: (store: Storage) => Result): Result | undefined {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
