// The audit trail: every event, the newest first, by kind, person, issuer, key, request and time; and as a file.
import { h, isolated, mark, soft } from './dom.js';
import { eventFacts, whatOf } from './event-words.js';
import { field, select, textInput } from './form.js';
import { address, read } from './instance-api.js';
import { pageHead, tellNews } from './shell.js';
import { attempt, empty, problemOf, problemPlace } from './states.js';
import { table } from './table.js';
import { filtersIn, listFound, offer, searchForm, searchPage, timeControls } from './trail-search.js';
import { counted, eventInWords, kindOfEvent, reasonInWords, wholeTime } from './wording.js';

const KINDS = [
  { value: '', text: 'All' },
  { value: 'token-exchange.*', text: 'Tokens, logins and trust' },
  { value: 'session.*', text: 'Sessions' },
  { value: 'administration.*', text: 'Commands and this page' },
  { value: 'operator.*', text: 'Operator sign-ins' },
  { value: 'api.*', text: 'API calls' },
];
const PAGE_SIZE = 50;
const EXPORT_PAGE_SIZE = 100;
/** Of one file; `svc-admin audit export` has no such limit. */
const MOST_EXPORTED = 10_000;
const COLUMNS = [
  ...['id', 'event', 'occurredAt', 'requestId', 'clientRequestId', 'subjectUserId', 'actorUserId'],
  'payload',
];
/** What the page has a place for, in the order of its fields. */
const FILTERS = ['event', 'user', 'issuer', 'kid', 'requestId', 'also', 'hours'];
const ALSO = [
  { value: '', text: 'Nothing else' },
  { value: 'readings', text: 'What was read here and by commands' },
  { value: 'strangers', text: 'Refused tokens of strangers' },
  { value: 'everything', text: 'Both' },
];
const SEARCH = '/events/search';

export function trailPage({ query, signal, goTo }) {
  const filters = filtersIn(query, FILTERS);
  const place = h('div', {});
  const isKind = KINDS.some(({ value }) => value === filters.event);
  const kinds = isKind ? KINDS : [...KINDS, { value: filters.event, text: kindOfEvent(filters.event) }];
  const controls = {
    event: select(kinds, filters.event),
    user: textInput(filters.user),
    issuer: textInput(filters.issuer),
    kid: textInput(filters.kid),
    requestId: textInput(filters.requestId),
    also: select(ALSO, filters.also),
    ...timeControls(filters),
  };
  offerEvents(controls.event, signal);
  const fields = [
    field('Kind', controls.event),
    field(
      'Person',
      controls.user,
      'E-mail address or id of the person whom the event is about, or who caused it',
    ),
    field('Issuer', controls.issuer),
    field('Key id', controls.kid),
    field('Request id', controls.requestId),
    field('Also show', controls.also),
    field('Time', controls.hours),
  ];
  const showFound = (asked) => show(place, asked, signal);
  showFound(filters);
  return [
    pageHead('Audit trail', {
      lead: 'All events, the newest first: tokens, sessions, trust, commands, and what operators did here.',
    }),
    searchForm(fields, { page: 'trail', controls, show: showFound, goTo }),
    exportBar(filters, signal),
    place,
  ];
}

function show(place, filters, signal) {
  return listFound(place, {
    path: SEARCH,
    filters,
    limit: PAGE_SIZE,
    show: eventTable,
    empty: () =>
      empty(
        'No event fits',
        'Choose a longer time or fewer filters.',
        h('a', { class: 'button', href: '#/trail' }, 'All events'),
      ),
    signal,
  });
}

/** Events with who and what, a line each. @param {object} people e-mail addresses by id */
export function eventTable(events, people) {
  return table(
    'Events',
    [
      {
        title: 'Event',
        cell: ({ event, requestId }) =>
          h('a', { href: address('#/requests/?', requestId) }, eventInWords(event)),
      },
      { title: 'Time', class: 'when', cell: ({ occurredAt }) => wholeTime(occurredAt) },
      { title: 'Person', cell: (event) => personOf(event, people) },
      { title: 'What', class: 'wide', cell: ({ payload }) => [resultOf(payload), whatOf(payload)] },
    ],
    events,
    { details: eventFacts },
  );
}

function resultOf({ reason }) {
  return typeof reason === 'string' && [mark('bad', reasonInWords(reason)), ' '];
}

/** Who acts, and for whom: an actor, or the client that has redeemed an identity assertion. */
function personOf({ subjectUserId, actorUserId, payload: { clientId } }, people) {
  const link = (id, role) =>
    id !== null && [
      role,
      h('a', { href: address('#/users/?', id), title: id }, isolated(people[id] ?? 'deleted user')),
    ];
  const client = clientId && [isolated(clientId), ', for '];
  const shown = [link(subjectUserId, client), link(actorUserId, subjectUserId === null ? 'by ' : ', by ')];
  return shown.some(Boolean) ? shown : '—';
}

/** The page holds what the filters find; nothing is left with the instance. */
function exportBar(filters, signal) {
  const problem = problemPlace();
  const button = (text, type, written) => {
    const made = h('button', { type: 'button' }, text);
    made.addEventListener('click', () =>
      attempt(made, problem, async () => {
        const { events, isAll } = await collect(filters, signal);
        save(written(events), type);
        tellNews(`${counted(events.length, 'event')} saved${isAll ? '' : ', the newest; there are more'}.`);
        if (isAll) return;
        throw problemOf(
          `The file contains the newest ${events.length} events. For more, choose a shorter time, or use svc-admin audit export.`,
        );
      }),
    );
    return made;
  };
  return h(
    'div',
    { class: 'export' },
    soft('Save what these filters find: '),
    button('JSON lines', 'jsonl', (events) => events.map((event) => `${JSON.stringify(event)}\n`).join('')),
    button('CSV', 'csv', csvOf),
    problem,
  );
}

async function collect(filters, signal) {
  const events = [];
  let cursor;
  do {
    const page = await searchPage(SEARCH, filters, { cursor, limit: EXPORT_PAGE_SIZE, signal });
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
  offer(control, events, kindOfEvent);
}
