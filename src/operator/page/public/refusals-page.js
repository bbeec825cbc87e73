// The last refusals with cause and remedy, by user, request, issuer, reason and time.
import { code, emailAddress, facts, h, isolated } from './dom.js';
import { field, form, select, textInput } from './form.js';
import { address, post, read } from './instance-api.js';
import { refusalTable, remedyLine } from './refusal-card.js';
import { pageHead } from './shell.js';
import { empty, fill } from './states.js';
import { table } from './table.js';
import { addressOf, bodyOf, filtersIn, listFound, offer, searchForm, timeControls } from './trail-search.js';
import { enabledState } from './user-pages.js';
import {
  counted,
  eventInWords,
  number,
  reasonInWords,
  roleInWords,
  sentence,
  timeFromNow,
  wholeTime,
} from './wording.js';

const FILTERS = ['user', 'issuer', 'reason', 'hours'];
const PAGE_SIZE = 25;
/** So few groups are opened at once. */
const MOST_OPEN = 2;

/** As the service makes them. */
const REQUEST_ID = /^[0-9a-z]{20}$/;

/** A box that leads to the refusals of somebody, or to what became of a request. */
export function findBox(goTo) {
  const input = textInput('', { type: 'search', required: true });
  return form(
    [
      field(
        'Why can somebody not sign in?',
        input,
        'An e-mail address, a sub, the id of a user, an issuer, or the reference (request id) of an error page or answer.',
      ),
    ],
    {
      button: 'Find out',
      search: 'find',
      send: () => placeOf(input.value.trim()),
      done: (text) => goTo(text),
    },
  );
}

/** Where what was typed is answered. An e-mail address or a `sub` is in no address. */
async function placeOf(text) {
  if (!text.includes('@')) {
    if (/^https?:/i.test(text)) return `#/refusals?${new URLSearchParams({ issuer: text })}`;
    const { data } = await post('/events/search', { requestId: text, limit: 1 });
    if (data.length > 0 || REQUEST_ID.test(text)) return address('#/requests/?', text);
  }
  return addressOf('refusals', { user: text, hours: '168' });
}

export function refusalsPage({ query, signal, goTo }) {
  const filters = filtersIn(query, FILTERS);
  const place = h('div', { 'aria-live': 'off' });
  const datalist = h('datalist', { id: 'issuers' });
  const chosen = filters.reason && [{ value: filters.reason, text: reasonInWords(filters.reason) }];
  const controls = {
    user: textInput(filters.user),
    issuer: textInput(filters.issuer, { list: 'issuers' }),
    reason: select([{ value: '', text: 'Any' }, ...chosen], filters.reason),
    ...timeControls(filters),
  };
  offerIssuers(datalist, signal);
  offerReasons(controls.reason, signal);
  const fields = [
    field('User', controls.user, 'E-mail address, sub or id'),
    field('Issuer', controls.issuer),
    field('Reason', controls.reason),
    field('Time', controls.hours),
    datalist,
  ];
  const showFound = (asked) => show(place, asked, signal);
  showFound(filters);
  return [
    pageHead('Refusals', {
      lead: 'Token exchanges, embedded logins and API calls that were refused, by reason, issuer and key, each with its cause and what to do.',
    }),
    searchForm(fields, { page: 'refusals', controls, show: showFound, goTo }),
    place,
  ];
}

function show(place, filters, signal) {
  return fill(
    place,
    () => post('/refusals/groups', bodyOf(filters), { signal }),
    (found) =>
      [
        found.person !== null && personCard(found.person),
        ...[found.data.length === 0 ? none(filters, signal) : grouped(found, filters, signal)].flat(),
      ].filter(Boolean),
  );
}

/** First whether the person could sign in at all. */
function personCard({ id, email, enabled, role, links, signIns, sessions }) {
  return h(
    'section',
    { class: 'card padded', 'aria-label': 'This person' },
    facts([
      ['User', h('a', { href: address('#/users/?', id) }, emailAddress(email))],
      [
        'State',
        [
          enabledState(enabled),
          !enabled && ' Every token of this user is refused until the user is enabled.',
        ],
      ],
      ['Role', roleInWords(role)],
      ['Last sign-in', timeFromNow(signIns[0]?.occurredAt)],
      ['Signed in', counted(sessions, 'embedded session')],
      [
        'Linked identities',
        links.length === 0
          ? 'none: the first token with this e-mail address links one, if its entry allows it'
          : links.map(({ issuer, subject }) => h('div', {}, isolated(subject), ' of ', isolated(issuer))),
      ],
    ]),
  );
}

/** A line for each group; its refusals are read when it is opened. */
function grouped({ data, total, groups, complete, countedSince }, filters, signal) {
  return [
    h(
      'p',
      { class: 'sum' },
      h('strong', {}, number(total)),
      ` refused, in ${counted(groups, 'group')} by reason, issuer and key. `,
      !complete && ['Counted from ', wholeTime(countedSince), ' on: choose a shorter time for all. '],
      groups > data.length && `The ${data.length} groups with the newest refusals are shown.`,
    ),
    data.length > 1 && chartByReason(data, filters),
    table(
      'Groups of refusals',
      [
        {
          title: 'Reason',
          cell: ({ reason }) => reasonLink(reason, filters),
        },
        { title: 'Refused', class: 'number', cell: ({ count }) => number(count) },
        { title: 'What', cell: ({ event }) => eventInWords(event) },
        {
          title: 'Issuer',
          cell: ({ issuer }) =>
            issuer
              ? h('a', { href: addressOf('refusals', { ...filters, issuer }) }, isolated(issuer))
              : 'none that is trusted',
        },
        { title: 'Last', class: 'when', cell: ({ lastAt }) => wholeTime(lastAt) },
      ],
      data,
      { details: (group) => groupContent(group, filters, signal), isOpen: data.length <= MOST_OPEN },
    ),
  ].filter(Boolean);
}

function reasonLink(reason, filters) {
  if (reason === null) return 'Refused';
  const href = addressOf('refusals', { ...filters, reason });
  return h('a', { href }, reasonInWords(reason));
}

function chartByReason(groups, filters) {
  const sums = new Map();
  for (const { reason, count } of groups) sums.set(reason, (sums.get(reason) ?? 0) + count);
  const rows = [...sums].sort(([, one], [, other]) => other - one);
  const most = rows[0][1];
  return h(
    'ul',
    { class: 'card padded bars', role: 'list', 'aria-label': 'Refusals by reason' },
    rows.map(([reason, count]) =>
      h(
        'li',
        {},
        reasonLink(reason, filters),
        h('progress', { max: most, value: count, 'aria-hidden': 'true' }),
        h('span', { class: 'number' }, number(count)),
      ),
    ),
  );
}

function groupContent({ event, reason, cause, remedy, issuer, kid, count, firstAt }, filters, signal) {
  const place = h('div', {});
  listFound(place, {
    path: '/refusals/search',
    filters: { ...filters, reason: reason ?? '', issuer: issuer ?? '', kid: kid ?? '', event },
    limit: PAGE_SIZE,
    show: (refusals) => refusalTable(refusals, { isGrouped: true }),
    empty: () => h('p', { class: 'soft' }, 'They are older than the time that is shown.'),
    signal,
  });
  return h(
    'div',
    { class: 'refusal' },
    cause && h('p', { class: 'cause' }, sentence(cause)),
    remedy && remedyLine(remedy),
    h(
      'p',
      { class: 'soft marks' },
      reason && h('code', {}, reason),
      kid && h('span', {}, 'Key: ', code(kid)),
      count > 1 && h('span', {}, 'First: ', wholeTime(firstAt)),
    ),
    place,
  );
}

function none({ user, issuer, reason }, signal) {
  const isNarrowed = user !== '' || issuer !== '' || reason !== '';
  const nearby = h('ul', { class: 'nearby' });
  if (user !== '') offerNearby(nearby, signal);
  return empty(
    isNarrowed ? 'No refusal fits' : 'Nothing was refused',
    user === ''
      ? 'Every refused token exchange, embedded login and API call of this time will be listed here.'
      : 'No refused token with a valid signature names this person in this time. Not looked at: tokens whose signature, key or issuer was refused, which name nobody; and requests that were refused before any token was read (answers 400 invalid_request, 413, 415, 429), which stand only in the log, by their request id.',
    nearby,
    user !== '' &&
      !user.includes('@') &&
      h('a', { class: 'button', href: address('#/requests/?', user) }, 'Look for a request of this id'),
    isNarrowed && h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
  );
}

/** What this person's tokens may be among. */
async function offerNearby(list, signal) {
  for (const issuer of await issuers(signal)) {
    const href = `#/refusals?${new URLSearchParams({ issuer, hours: '1' })}`;
    list.append(h('li', {}, h('a', { href }, 'Refusals of ', isolated(issuer), ' in the last hour')));
  }
}

/** Suggestions only: without them one types. */
async function offerIssuers(list, signal) {
  list.append(...(await issuers(signal)).map((value) => h('option', { value })));
}

/** That are trusted; none where they could not be read. */
async function issuers(signal) {
  const { data } = await read('/entries', { signal }).catch(() => ({ data: [] }));
  return [...new Set(data.map(({ issuer }) => issuer).filter(Boolean))];
}

async function offerReasons(control, signal) {
  const { data } = await read('/reasons', { signal }).catch(() => ({ data: [] }));
  const names = [...new Set(data.map(({ reason }) => reason))].sort();
  offer(control, names, reasonInWords);
}
