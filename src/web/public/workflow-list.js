// The workflows that the page has read: what was asked for, as the address says it, which came, in which order, and whether there are more.

/** What is asked for where the visitor has asked for nothing else. */
export const EVERYTHING = { search: '', state: '', sort: 'updatedAt' };

const ORDERS = ['updatedAt', 'name'];
const STATES = ['active', 'inactive'];
const LONGEST_SEARCH = 128;

/** What the address asks for: the id of a workflow, or null, and which list. */
export function placeInAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const [state, sort] = [asked.get('state'), asked.get('sort')];
  const list = {
    search: (asked.get('search') ?? '').slice(0, LONGEST_SEARCH),
    state: STATES.includes(state) ? state : EVERYTHING.state,
    sort: ORDERS.includes(sort) ? sort : EVERYTHING.sort,
  };
  return { workflow: asked.get('workflow'), list };
}

/** The fragment of a workflow's address, or of the list's where it is null. */
export function fragmentOf(workflow, list) {
  const asked = Object.entries(list).filter(([name, value]) => value !== EVERYTHING[name]);
  return new URLSearchParams([...(workflow === null ? [] : [['workflow', workflow]]), ...asked]).toString();
}

/** Puts another address in the place of this one, in the same entry of the history. */
export function replaceFragment(fragment) {
  history.replaceState(history.state, '', location.pathname + location.search + (fragment && `#${fragment}`));
}

/** What the instance is asked to leave out, as parameters. */
export function filtersOf({ search, state }) {
  return { ...(search && { search }), ...(state && { active: String(state === 'active') }) };
}

/** The same with the order, as parameters of its list. */
export function parametersOf(asked) {
  return { sort: asked.sort, ...filtersOf(asked) };
}

const NONE = { count: 0, hasMore: false };

export class WorkflowList {
  asked = EVERYTHING;
  #rows = new Map();
  nextCursor = null;
  #total = NONE;

  /** The workflows in the order in which the instance gave them. */
  get rows() {
    return [...this.#rows.values()];
  }

  /** How many fit what is asked for: at least so many, where the instance says no more than that there are more. */
  get total() {
    const { count, hasMore } = this.#total;
    return hasMore
      ? { count: Math.max(count, this.#rows.size), hasMore: this.nextCursor !== null }
      : this.#total;
  }

  get isNarrowed() {
    return this.asked.search !== '' || this.asked.state !== '';
  }

  get(id) {
    return this.#rows.get(id);
  }

  /** Begins anew with a first page, and how many there are. */
  begin(asked, page, total) {
    this.asked = asked;
    this.#rows = new Map();
    this.#total = total;
    return this.add(page);
  }

  /**
   * Adds a page. What was shown already stays where it is: it has changed meanwhile, and moved in the instance's order.
   * @returns the rows that are new, and those that were there already, as they are now
   */
  add({ data, nextCursor }) {
    this.nextCursor = nextCursor;
    const [added, known] = [[], []];
    for (const row of data) {
      if (this.update(row)) known.push(this.get(row.id));
      else {
        this.#rows.set(row.id, row);
        added.push(row);
      }
    }
    return { added, known };
  }

  /** Takes over what is known of a workflow by now, and keeps its place. */
  update(change) {
    const row = this.#rows.get(change.id);
    return row && Object.assign(row, change);
  }

  /** Whether a workflow is one of those that were asked for, as far as its state goes. */
  fits({ active }) {
    return this.asked.state === '' || (this.asked.state === 'active') === active;
  }

  remove(id) {
    const wasThere = this.#rows.delete(id);
    if (wasThere && !this.#total.hasMore) this.#total = { ...this.#total, count: this.#total.count - 1 };
  }

  forget() {
    this.asked = EVERYTHING;
    this.#rows = new Map();
    this.nextCursor = null;
    this.#total = NONE;
  }
}
