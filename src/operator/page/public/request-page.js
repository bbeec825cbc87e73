// All that the trail holds of one request.
import { code, facts, h, mark, soft } from './dom.js';
import { eventFacts } from './event-words.js';
import { address, read } from './instance-api.js';
import { refusalContent, remedyLine } from './refusal-card.js';
import { pageHead } from './shell.js';
import { empty, filled } from './states.js';
import { eventInWords, reasonInWords, sentence, timeFromNow } from './wording.js';

export function requestPage({ params: { requestId }, signal }) {
  return [
    pageHead('Request', {
      back: { href: '#/refusals', text: 'Refusals' },
      lead: ['The events in the audit trail of the request ', code(requestId), ', the oldest first.'],
    }),
    filled(
      async () => {
        const { events } = await read(address('/requests/?', requestId), { signal });
        return { events, overview: events.length > 0 ? null : await read('/overview', { signal }) };
      },
      ({ events, overview }) => (overview === null ? list(events) : nothing(overview)),
    ),
  ];
}

/** What leaves no event, by the answer that the partner got. */
const ONLY_IN_LOG = [
  [
    '404',
    'Token exchange is off: the licence does not include it or has ended, or the feature is not switched on.',
  ],
  ['501', 'The flow is switched off: SVC_EMBED_LOGIN_ENABLED, SVC_TOKEN_EXCHANGE_ENABLED.'],
  ['405', 'The endpoint does not take this method. Under the strict policy a login must be a POST.'],
  ['415', 'JSON or another body in place of a form.'],
  ['400 invalid_request', 'A field is missing, repeated or too long, or has another grant type.'],
  ['413', 'The body is larger than 256 KiB.'],
  ['429', 'Too many requests from this address, or under this entry.'],
  ['503', 'The database is not available, or the instance has too many requests.'],
];

function nothing({ tokenExchange: { available, explanation, embedLogin, exchange } }) {
  const off = available
    ? [!embedLogin && 'Embedded login is switched off.', !exchange && 'Token exchange is switched off.']
    : [`Token exchange is off: ${explanation}.`];
  return [
    ...off.filter(Boolean).map((text) => h('p', { class: 'card padded flash bad' }, text)),
    empty(
      'The trail has no event of this request',
      'Requests that were refused before their token was read are only in the log, under this id. What each answer means:',
      facts(ONLY_IN_LOG.map(([answer, text]) => [code(answer), text])),
      h(
        'p',
        { class: 'soft' },
        'Otherwise the id is mistyped, the event is older than the retention of the trail, or another installation answered. The id is on the page of a refused login, and in each answer as X-Request-Id.',
      ),
      h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
    ),
  ];
}

function list(events) {
  return h(
    'ol',
    { class: 'cards', role: 'list' },
    events.map((event) =>
      h('li', { class: 'card padded' }, event.reason === null ? plainEvent(event) : refusalContent(event)),
    ),
  );
}

function plainEvent({ event, occurredAt, subjectUserId, notices, payload }) {
  return [
    h(
      'div',
      { class: 'refusal-head' },
      mark('good', 'Done'),
      h('span', {}, eventInWords(event)),
      soft(timeFromNow(occurredAt)),
    ),
    notices.map(({ kind, cause, remedy, detail }) => [
      h('p', { class: 'cause' }, mark('warn', reasonInWords(kind)), ' ', sentence(`${cause} (${detail})`)),
      remedyLine(remedy),
    ]),
    subjectUserId &&
      h('p', { class: 'soft marks' }, h('a', { href: address('#/users/?', subjectUserId) }, 'To the user')),
    eventFacts({ payload }),
  ];
}
