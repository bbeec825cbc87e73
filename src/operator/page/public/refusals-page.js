// The last refusals with cause and remedy, by user, request, issuer, reason and time.
import { h } from './dom.js';
import { field, form, select } from './form.js';
import { RefusedError, address, post, read } from './instance-api.js';
import { refusalCards } from './refusal-card.js';
import { pageHead } from './shell.js';
import { empty, fill } from './states.js';
import { pages } from './table.js';
import { time } from './wording.js';

const TIMES = [
  { value: '1', text: 'Last hour' },
  { value: '24', text: 'Last 24 hours' },
  { value: '168', text: 'Last 7 days' },
  { value: '744', text: 'Last 31 days' },
];
const PAGE_SIZE = 25;

/** Who is asked for on the way here; an e-mail address stands in no address. */
let sought = '';

/** A box that leads to the refusals of somebody, or to what became of a request. */
export function findBox(goTo) {
  const input = h('input', { type: 'search', required: true, autocapitalize: 'none', spellcheck: 'false' });
  const whole = form(
    [
      field(
        'Why can somebody not sign in?',
        input,
        'An e-mail address, or the reference (request id) of an error page or answer.',
      ),
    ],
    {
      button: 'Find out',
      isKept: false,
      send: async () => input.value.trim(),
      done: (text) => {
        if (!text.includes('@')) return goTo(address('#/requests/?', text));
        sought = text;
        goTo('#/refusals?user');
      },
    },
  );
  whole.role = 'search';
  whole.classList.add('find', 'card', 'padded');
  return whole;
}

export function refusalsPage({ query, signal, goTo }) {
  const filters = filtersOf(query);
  const place = h('div', { 'aria-live': 'off' });
  const user = h('input', { autocapitalize: 'none', spellcheck: 'false' });
  user.value = filters.user;
  const issuer = h('input', { list: 'issuers', autocapitalize: 'none', spellcheck: 'false' });
  issuer.value = filters.issuer;
  const issuers = h('datalist', { id: 'issuers' });
  const reason = select(
    [
      { value: '', text: 'Any' },
      ...(filters.reason ? [{ value: filters.reason, text: filters.reason }] : []),
    ],
    filters.reason,
  );
  const range = select(TIMES, filters.hours);
  offerIssuers(issuers, signal);
  offerReasons(reason, signal);
  const whole = form(
    [
      field('User', user, 'E-mail address or id'),
      field('Issuer', issuer),
      field('Reason', reason),
      field('Time', range),
      issuers,
    ],
    {
      button: 'Search',
      isKept: false,
      besides: [h('a', { class: 'button', href: '#/refusals' }, 'Clear')],
      send: async () => ({
        user: user.value.trim(),
        issuer: issuer.value.trim(),
        reason: reason.value,
        hours: range.value,
      }),
      done: (asked) => {
        const hash = hashOf(asked);
        if (hash === location.hash) return show(place, asked, signal);
        return goTo(hash);
      },
    },
  );
  whole.role = 'search';
  whole.classList.add('filters', 'card', 'padded');
  show(place, filters, signal);
  return [
    pageHead('Refusals', {
      lead: 'Token exchanges, embedded logins and API calls that were refused, the newest first, each with its cause and what to do.',
    }),
    whole,
    place,
  ];
}

function filtersOf(query) {
  const named = query.get('user');
  const user = named === '' ? sought : (named ?? '');
  const hours = TIMES.some(({ value }) => value === query.get('hours')) ? query.get('hours') : '24';
  return {
    user,
    issuer: query.get('issuer') ?? '',
    reason: query.get('reason') ?? '',
    hours: named === '' && !query.has('hours') ? '168' : hours,
  };
}

/** What is asked for, as an address that can be kept and given to others: without any e-mail address. */
function hashOf({ user, issuer, reason, hours }) {
  const isEmail = user.includes('@');
  if (isEmail) sought = user;
  const query = new URLSearchParams({
    ...(user && { user: isEmail ? '' : user }),
    ...(issuer && { issuer }),
    ...(reason && { reason }),
    hours,
  });
  return `#/refusals?${query}`;
}

function show(place, filters, signal) {
  return fill(
    place,
    () => search(filters, undefined, signal),
    (first) =>
      'unknownUser' in first
        ? unknownUser(first.unknownUser)
        : pages(first, {
            show: refusalCards,
            next: (cursor) => search(filters, cursor, signal),
            empty: () => none(filters),
            ended: ({ lookedBackTo }) => lookedBackTo && ['Looked back to ', time(lookedBackTo), ' so far.'],
          }),
  );
}

async function search({ user, issuer, reason, hours }, cursor, signal) {
  const body = {
    ...(user && { user }),
    ...(issuer && { issuer }),
    ...(reason && { reason }),
    lastHours: Number(hours),
    limit: PAGE_SIZE,
    ...(cursor && { cursor }),
  };
  try {
    return await post('/refusals/search', body, { signal });
  } catch (error) {
    if (user && error instanceof RefusedError && error.word === 'refused')
      return { unknownUser: error.message };
    throw error;
  }
}

function unknownUser(message) {
  return empty(
    message,
    'Then nobody with it has ever come in. A token that was refused before its user was looked up names nobody: look by issuer and time, or explain a fresh token of this person.',
    h(
      'div',
      { class: 'buttons' },
      h('a', { class: 'button', href: '#/explain' }, 'Explain a token'),
      h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
    ),
  );
}

function none({ user, issuer, reason }) {
  const isNarrowed = user !== '' || issuer !== '' || reason !== '';
  return empty(
    isNarrowed ? 'No refusal fits' : 'Nothing was refused',
    user === ''
      ? 'Every refused token exchange, embedded login and API call of this time will be listed here.'
      : 'Nothing of this user was refused in this time. A token that was refused before its user was looked up names nobody: look without the user, or by the request id of the error page.',
    isNarrowed && h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
  );
}

/** Suggestions only: without them one types. */
async function offerIssuers(list, signal) {
  const { data } = await read('/entries', { signal }).catch(() => ({ data: [] }));
  const names = new Set(data.map(({ issuer }) => issuer).filter((issuer) => issuer !== null));
  list.append(...[...names].map((name) => h('option', { value: name })));
}

async function offerReasons(control, signal) {
  const { data } = await read('/reasons', { signal }).catch(() => ({ data: [] }));
  const known = new Set([...control.options].map(({ value }) => value));
  const names = [...new Set(data.map(({ reason }) => reason))].filter((name) => !known.has(name)).sort();
  control.append(...names.map((name) => h('option', { value: name }, name)));
}
