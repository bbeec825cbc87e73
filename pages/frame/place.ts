// The places of the page and their addresses: the list with its filters, or one workflow.

const ORDERS = ['updatedAt', 'name'] as const;
const STATES = ['', 'active', 'inactive'] as const;
const LONGEST_SEARCH = 128;

/** The list's filters and order. */
export interface Asked {
  search: string;
  state: (typeof STATES)[number];
  sort: (typeof ORDERS)[number];
}

export interface Place {
  /** The id of the workflow that is shown; null for the list. */
  workflow: string | null;
  list: Asked;
}

/** The list without filters. */
export const EVERYTHING: Asked = { search: '', state: '', sort: 'updatedAt' };

/** @param path a path of the instance; unknown paths mean the whole list */
export function placeOf(path: string): Place {
  const query = new URLSearchParams(path.split('#', 2)[1] ?? '');
  const list = {
    search: (query.get('search') ?? '').slice(0, LONGEST_SEARCH),
    state: STATES.find((known) => known === query.get('state')) ?? EVERYTHING.state,
    sort: ORDERS.find((known) => known === query.get('sort')) ?? EVERYTHING.sort,
  };
  return { workflow: query.get('workflow'), list };
}

/** The path of a place, such as `/#workflow=…`. */
export function pathOf({ workflow, list }: Place): string {
  const asked = Object.entries(list).filter(([name, value]) => value !== EVERYTHING[name as keyof Asked]);
  const fragment = new URLSearchParams([...(workflow === null ? [] : [['workflow', workflow]]), ...asked]);
  return String(fragment) === '' ? '/' : `/#${String(fragment)}`;
}

export function isNarrowed({ search, state }: Asked): boolean {
  return search !== '' || state !== '';
}

/** The filters as the API's parameters. */
export function filtersOf({ search, state }: Asked): Record<string, string> {
  return { ...(search && { search }), ...(state && { active: String(state === 'active') }) };
}

/** Whether a workflow's state matches the list's filter. */
export function fits(asked: Asked, active: boolean): boolean {
  return asked.state === '' || (asked.state === 'active') === active;
}
