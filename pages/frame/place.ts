// What the page shows, as its address and its path say it: the list as it was asked for, or one workflow.

const ORDERS = ['updatedAt', 'name'] as const;
const STATES = ['', 'active', 'inactive'] as const;
const LONGEST_SEARCH = 128;

/** Which workflows the list has, and in which order. */
export interface Asked {
  search: string;
  state: (typeof STATES)[number];
  sort: (typeof ORDERS)[number];
}

export interface Place {
  /** The id of the workflow that is shown; null: the list is. */
  workflow: string | null;
  list: Asked;
}

/** The list that is shown if the visitor has asked for no other. */
export const EVERYTHING: Asked = { search: '', state: '', sort: 'updatedAt' };

/** @param path of the instance; whatever names no place is the whole list */
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

/** The filters as parameters of the API. */
export function filtersOf({ search, state }: Asked): Record<string, string> {
  return { ...(search && { search }), ...(state && { active: String(state === 'active') }) };
}

/** Whether a workflow belongs to the list, as far as its state is concerned. */
export function fits(asked: Asked, active: boolean): boolean {
  return asked.state === '' || (asked.state === 'active') === active;
}
