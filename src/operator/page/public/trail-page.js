// The audit trail: every event, the newest first, by kind, person, issuer, key, request and time; and as a file.
import { code, h, isolated } from './dom.js';
import { field, form, select } from './form.js';
import { address, post, read } from './instance-api.js';
import { pageHead, tellNews } from './shell.js';
import { empty, fill, problemPlace, forgetProblem, tellProblem } from './states.js';
import { pages, table } from './table.js';
import { counted, eventInWords, time } from './wording.js';

const KINDS = [
  { value: '', text: 'All' },
  { value: 'token-exchange.*', text: 'Tokens, logins and trust' },
  { value: 'session.*', text: 'Sessions' },
  { value: 'administration.*', text: 'Commands and this page' },
  { value: 'operator.*', text: 'Operator sign-ins' },
  { value: 'api.*', text: 'API calls' },
];
const TIMES = [
  { value: '1', text: 'Last hour' },
  { value: '24', text: 'Last 24 hours' },
  { value: '168', text: 'Last 7 days' },
  { value: '744', text: 'Last 31 days' },
];
const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;
/** Of one file; `svc-admin audit export` has no such limit. */
const MOST_EXPORTED = 10_000;
const COLUMNS = [
  ...['id', 'event', 'occurredAt', 'requestId', 'clientRequestId', 'subjectUserId', 'actorUserId'],
  'payload',
];
/** What the page has a place for, in the order of its fields. An e-mail address stands in no address. */
const FILTERS = ['event', 'user', 'issuer', 'kid', 'requestId', 'hours'];

let sought = '';

export function trailPage({ query, signal, goTo }) {
  const filters = filtersOf(query);
  const place = h('div', {});
  const text = (value) => {
    const input = h('input', { autocapitalize: 'none', spellcheck: 'false' });
    input.value = value;
    return input;
  };
  const kinds = KINDS.some(({ value }) => value === filters.event)
    ? KINDS
    : [...KINDS, { value: filters.event, text: eventInWords(filters.event) }];
  const controls = {
    event: select(kinds, filters.event),
    user: text(filters.user),
    issuer: text(filters.issuer),
    kid: text(filters.kid),
    requestId: text(filters.requestId),
    hours: select(TIMES, filters.hours),
  };
  offerEvents(controls.event, signal);
  const whole = form(
    [
      field('Kind', controls.event),
      field('Person', controls.user, 'E-mail address or id: of whom it is, or who did it'),
      field('Issuer', controls.issuer),
      field('Key id', controls.kid),
      field('Request id', controls.requestId),
      field('Time', controls.hours),
    ],
    {
      button: 'Search',
      isKept: false,
      besides: [h('a', { class: 'button', href: '#/trail' }, 'Clear')],
      send: async () => Object.fromEntries(FILTERS.map((name) => [name, controls[name].value.trim()])),
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
    pageHead('Audit trail', {
      lead: 'What has happened, the newest first: tokens, sessions, trust, commands, and what operators did here.',
    }),
    whole,
    exportBar(filters, signal),
    place,
  ];
}

function filtersOf(query) {
  const given = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));
  const user = query.has('user') && given.user === '' ? sought : given.user;
  return { ...given, user, hours: TIMES.some(({ value }) => value === given.hours) ? given.hours : '24' };
}

function hashOf(asked) {
  const isHidden = asked.user.includes('@');
  if (isHidden) sought = asked.user;
  const given = FILTERS.filter((name) => asked[name] !== '').map((name) => [
    name,
    name === 'user' && isHidden ? '' : asked[name],
  ]);
  return `#/trail?${new URLSearchParams(given)}`;
}

function search({ hours, ...filters }, { cursor, limit = PAGE_SIZE }, signal) {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  const body = { ...Object.fromEntries(given), limit, ...(cursor && { cursor }) };
  // A request is found whenever it was.
  return post('/events/search', filters.requestId ? body : { ...body, lastHours: Number(hours) }, { signal });
}

function show(place, filters, signal) {
  return fill(
    place,
    () => search(filters, {}, signal),
    (first) => {
      const people = { ...first.people };
      return pages(first, {
        show: (events) => eventTable(events, people),
        next: async (cursor) => {
          const page = await search(filters, { cursor }, signal);
          Object.assign(people, page.people);
          return page;
        },
        empty: () =>
          empty(
            'No event fits',
            'Choose a longer time or fewer filters.',
            h('a', { class: 'button', href: '#/trail' }, 'All events'),
          ),
        ended: ({ lookedBackTo }) => lookedBackTo && ['Looked back to ', time(lookedBackTo), ' so far.'],
      });
    },
  );
}

/** Events with who, what and by which request. @param {object} people e-mail addresses by id */
export function eventTable(events, people) {
  return table(
    'Events',
    [
      {
        title: 'Event',
        cell: ({ event, payload }) => [h('span', { title: event }, eventInWords(event)), resultOf(payload)],
      },
      { title: 'Time', class: 'when', cell: ({ occurredAt }) => time(occurredAt) },
      { title: 'Person', cell: (event) => personOf(event, people) },
      { title: 'What', cell: ({ payload }) => detailsOf(payload) },
      {
        title: 'Request',
        class: 'when',
        cell: ({ requestId }) =>
          h('a', { href: address('#/requests/?', requestId), title: requestId }, 'Request'),
      },
    ],
    events,
  );
}

function resultOf({ reason }) {
  return typeof reason === 'string' && [' ', h('span', { class: 'state bad' }, reason)];
}

/** Who acts, and for whom: an actor, or the client that has redeemed an identity assertion. */
function personOf({ subjectUserId, actorUserId, payload: { clientId } }, people) {
  const link = (id, role) =>
    id !== null &&
    h(
      'div',
      {},
      role,
      h('a', { href: address('#/users/?', id), title: id }, isolated(people[id] ?? 'deleted user')),
    );
  const client = clientId && [isolated(clientId), ', for '];
  const shown = [link(subjectUserId, client), link(actorUserId, 'by ')].filter(Boolean);
  return shown.length === 0 ? '—' : shown;
}

function detailsOf(payload) {
  const members = Object.entries(payload).filter(([name]) => name !== 'reason');
  return h(
    'div',
    { class: 'details soft' },
    members.map(([name, value]) =>
      h('span', {}, `${name} `, code(isolated(typeof value === 'string' ? value : JSON.stringify(value)))),
    ),
  );
}

/** The page holds what the filters find; nothing is left with the instance. */
function exportBar(filters, signal) {
  const problem = problemPlace();
  const button = (text, type, written) => {
    const made = h('button', { type: 'button' }, text);
    made.addEventListener('click', async () => {
      if (made.ariaDisabled === 'true') return;
      made.ariaDisabled = 'true';
      forgetProblem(problem);
      try {
        const { events, isAll } = await collect(filters, signal);
        save(written(events), type);
        tellNews(`${counted(events.length, 'event')} saved${isAll ? '' : ', the newest; there are more'}.`);
        problem.hidden = isAll;
        if (!isAll)
          problem.replaceChildren(
            `The file holds the newest ${events.length} events. For more, choose a shorter time, or use svc-admin audit export.`,
          );
      } catch (error) {
        tellProblem(problem, error);
      } finally {
        made.ariaDisabled = 'false';
      }
    });
    return made;
  };
  return h(
    'div',
    { class: 'export' },
    h('span', { class: 'soft' }, 'What these filters find, as a file: '),
    button('JSON lines', 'jsonl', (events) => events.map((event) => `${JSON.stringify(event)}\n`).join('')),
    button('CSV', 'csv', csvOf),
    problem,
  );
}

async function collect(filters, signal) {
  const events = [];
  let cursor;
  do {
    const page = await search(filters, { cursor, limit: EXPORT_PAGE_SIZE }, signal);
    events.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null && events.length < MOST_EXPORTED);
  return { events, isAll: cursor === null };
}

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function csvOf(events) {
  const cell = (value) => {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
    return `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
  };
  const lines = events.map((event) => COLUMNS.map((column) => cell(event[column])).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

function save(text, type) {
  const url = URL.createObjectURL(
    new Blob([text], { type: type === 'csv' ? 'text/csv' : 'application/jsonl' }),
  );
  h('a', { href: url, download: `audit-events.${type}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Suggestions only. */
async function offerEvents(control, signal) {
  const { events = [] } = await read('/reasons', { signal }).catch(() => ({}));
  const known = new Set([...control.options].map(({ value }) => value));
  const names = events.filter((name) => !known.has(name));
  control.append(...names.map((name) => h('option', { value: name }, eventInWords(name))));
}
