// What the pages of refusals and of the audit trail share: filters, an address that names no person, and lists that go on.
import { h } from './dom.js';
import { form, select } from './form.js';
import { post } from './instance-api.js';
import { fill } from './states.js';
import { pages } from './table.js';
import { momentInWords, wholeTime } from './wording.js';

export const TIMES = [
  { value: '1', text: 'Last hour' },
  { value: '24', text: 'Last 24 hours' },
  { value: '168', text: 'Last 7 days' },
  { value: '744', text: 'Last 31 days' },
];

/** Who was asked for last: an e-mail address or a `sub` stands in no address. */
let sought = '';

function isUserId(text) {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** What the address of a page asks for; `hours` is a choice of `TIMES`, or empty: then `since` and `until` are moments. */
export function filtersIn(query, names) {
  const filters = Object.fromEntries(
    [...names, 'since', 'until'].map((name) => [name, query.get(name) ?? '']),
  );
  const isSought = query.get('user') === '';
  const isRange = [filters.since, filters.until].every((moment) => !Number.isNaN(Date.parse(moment)));
  const usual = isRange ? '' : isSought ? '168' : '24';
  const hours = TIMES.some(({ value }) => value === filters.hours) ? filters.hours : usual;
  return { ...filters, ...(isSought && { user: sought }), hours };
}

/** The controls for the time: that of the address stays until another is chosen. */
export function timeControls({ hours, since, until }) {
  const given = hours === '' && { value: '', text: `${momentInWords(since)} to ${momentInWords(until)}` };
  return {
    hours: select([given, ...TIMES].filter(Boolean), hours),
    since: { value: since },
    until: { value: until },
  };
}

/** What is asked for, as an address that can be kept and given to others. */
export function addressOf(page, filters) {
  const { user } = filters;
  const isHidden = user !== '' && !isUserId(user);
  if (isHidden) sought = user;
  const query = new URLSearchParams(given(filters));
  if (isHidden) query.set('user', '');
  return `#/${page}?${query}`;
}

/** @param {object} controls by the names of the filters */
export function searchForm(fields, { page, controls, show, goTo }) {
  return form(fields, {
    button: 'Search',
    search: 'filters',
    besides: [h('a', { class: 'button', href: `#/${page}` }, 'Clear')],
    send: async () =>
      Object.fromEntries(Object.entries(controls).map(([name, { value }]) => [name, value.trim()])),
    done: (asked) => {
      const hash = addressOf(page, asked);
      return hash === location.hash ? show(asked) : goTo(hash);
    },
  });
}

/** The filters as the API takes them. A request is found whenever it was. */
export function bodyOf({ hours, ...filters }) {
  const isRecent = hours !== '' && !filters.requestId;
  return {
    ...Object.fromEntries(given({ ...filters, hours })),
    hours: undefined,
    ...(isRecent && { lastHours: Number(hours) }),
  };
}

/** A time up to now takes the place of one between two moments. */
function given(filters) {
  const left = Object.entries(filters).filter(
    ([name]) => filters.hours === '' || !['since', 'until'].includes(name),
  );
  return left.filter(([, value]) => value !== '');
}

export function searchPage(path, filters, { cursor, limit, signal }) {
  return post(path, { ...bodyOf(filters), limit, ...(cursor && { cursor }) }, { signal });
}

/** Fills a place with what the filters find, a page after the other. `show` gets all rows so far, and e-mail addresses by id. */
export function listFound(place, { path, filters, limit, show, empty, signal }) {
  const people = {};
  const search = async (cursor) => {
    const page = await searchPage(path, filters, { cursor, limit, signal });
    Object.assign(people, page.people);
    return page;
  };
  const ended = ({ lookedBackTo }) =>
    lookedBackTo && ['Looked back to ', wholeTime(lookedBackTo), ' so far.'];
  return fill(place, search, (first) =>
    pages(first, { show: (rows) => show(rows, people), next: search, empty, ended }),
  );
}

/** Adds choices to those that a select has. */
export function offer(control, names, inWords) {
  const known = new Set([...control.options].map(({ value }) => value));
  const added = names.filter((name) => !known.has(name));
  control.append(...added.map((name) => h('option', { value: name }, inWords(name))));
}
