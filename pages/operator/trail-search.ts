// What the views of refusals and of the audit trail share: filters, and an address that names no person.
import { textsIn } from './form-data.js';
import type { Option } from './form.js';
import { goTo, reload } from './navigation.js';
import { momentInWords } from './words.js';

export type Filters = Readonly<Record<string, string>>;

export const TIMES = [
  { value: '1', text: 'Last hour' },
  { value: '24', text: 'Last 24 hours' },
  { value: '168', text: 'Last 7 days' },
  { value: '744', text: 'Last 31 days' },
];

/** Who was asked for last: an e-mail address or a `sub` is in no address. */
let sought = '';

function isUserId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** What the address of a view asks for; `hours` is a choice of `TIMES`, or empty: then `since` and `until` are moments. */
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

/** The choices for the time: that of the address is one until another is chosen. */
export function timesFor({ hours, since = '', until = '' }: Filters): Option[] {
  if (hours !== '') return TIMES;
  return [{ value: '', text: `${momentInWords(since)} to ${momentInWords(until)}` }, ...TIMES];
}

/** What is asked for, as an address that can be kept and given to others. */
export function addressOf(view: string, filters: Filters): string {
  const { user = '' } = filters;
  const isHidden = user !== '' && !isUserId(user);
  if (isHidden) sought = user;
  const query = new URLSearchParams(given(filters));
  if (isHidden) query.set('user', '');
  return `#/${view}?${query}`;
}

/** Shows what the fields of a search ask for. @param before as it was asked for until now */
export function search(view: string, before: Filters, data: FormData): Promise<void> {
  const hash = addressOf(view, { ...before, ...textsIn(data) });
  if (hash === location.hash) reload();
  else goTo(hash);
  return Promise.resolve();
}

/** The filters as the API takes them. A request is found whenever it was. */
export function bodyOf({ hours = '', ...filters }: Filters): Record<string, string | number> {
  const isRecent = hours !== '' && !filters['requestId'];
  const { hours: _, ...sent } = Object.fromEntries(given({ ...filters, hours }));
  return { ...sent, ...(isRecent && { lastHours: Number(hours) }) };
}

/** A time up to now takes the place of one between two moments. */
function given(filters: Filters): [string, string][] {
  const isRange = filters['hours'] === '';
  const left = Object.entries(filters).filter(([name]) => isRange || !['since', 'until'].includes(name));
  return left.filter(([, value]) => value !== '');
}
