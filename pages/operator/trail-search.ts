// Shared by the views of refusals and of the audit trail: filters, and addresses that name no person.
import type { Option } from './form.js';
import { textsIn } from './form-data.js';
import { goTo, reload } from './navigation.js';
import { momentInWords } from './words.js';

export type Filters = Readonly<Record<string, string>>;

export const TIMES = [
  { value: '1', text: 'Last hour' },
  { value: '24', text: 'Last 24 hours' },
  { value: '168', text: 'Last 7 days' },
  { value: '744', text: 'Last 31 days' },
];

/** The person of the last search. Addresses contain no e-mail address and no `sub`. */
let sought = '';

function isUserId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The filters in a view's address. `hours` is one of `TIMES`, or empty if `since` and `until` are set. */
export function filtersIn(query: URLSearchParams, names: readonly string[]): Filters {
  const asked = [...names, 'since', 'until'].map((name) => [name, query.get(name) ?? ''] as const);
  const { hours = '', ...filters } = Object.fromEntries(asked);
  const isSought = query.get('user') === '';
  const isRange = [filters['since'], filters['until']].every(
    (moment) => !Number.isNaN(Date.parse(moment ?? '')),
  );
  const usual = isRange ? '' : isSought ? '168' : '24';
  const isChoice = TIMES.some(({ value }) => value === hours);
  return { ...filters, ...(isSought && { user: sought }), hours: isChoice ? hours : usual };
}

/** The choices of time. The address's own is one of them until another is chosen. */
export function timesFor({ hours, since = '', until = '' }: Filters): Option[] {
  if (hours !== '') return TIMES;
  return [{ value: '', text: `${momentInWords(since)} to ${momentInWords(until)}` }, ...TIMES];
}

/** The filters as an address to keep or share. */
export function addressOf(view: string, filters: Filters): string {
  const { user = '' } = filters;
  const isHidden = user !== '' && !isUserId(user);
  if (isHidden) sought = user;
  const query = new URLSearchParams(given(filters));
  if (isHidden) query.set('user', '');
  return `#/${view}?${query}`;
}

/** Applies the fields of a search. @param before the filters so far */
export function search(view: string, before: Filters, data: FormData): Promise<void> {
  const hash = addressOf(view, { ...before, ...textsIn(data) });
  if (hash === location.hash) reload();
  else goTo(hash);
  return Promise.resolve();
}

/** The filters as the API's parameters. A request id is searched in the whole trail. */
export function bodyOf({ hours = '', ...filters }: Filters): Record<string, string | number> {
  const isRecent = hours !== '' && !filters['requestId'];
  const { hours: _, ...sent } = Object.fromEntries(given({ ...filters, hours }));
  return { ...sent, ...(isRecent && { lastHours: Number(hours) }) };
}

/** A time up to now replaces a range between two times. */
function given(filters: Filters): [string, string][] {
  const isRange = filters['hours'] === '';
  const left = Object.entries(filters).filter(([name]) => isRange || !['since', 'until'].includes(name));
  return left.filter(([, value]) => value !== '');
}
