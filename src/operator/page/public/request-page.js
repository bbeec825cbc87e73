// All that the trail holds of one request.
import { code, h, isolated } from './dom.js';
import { address, read } from './instance-api.js';
import { refusalContent } from './refusal-card.js';
import { pageHead } from './shell.js';
import { empty, filled } from './states.js';
import { eventInWords, timeFromNow } from './wording.js';

export function requestPage({ params: { requestId }, signal }) {
  return [
    pageHead('Request', {
      back: { href: '#/refusals', text: 'Refusals' },
      lead: ['What the audit trail holds of the request ', code(requestId), ', the oldest first.'],
    }),
    filled(
      () => read(address('/requests/?', requestId), { signal }),
      ({ events }) => (events.length === 0 ? nothing() : list(events)),
    ),
  ];
}

function nothing() {
  return empty(
    'The trail holds nothing of this request',
    'A request that was refused before its token was read (answers 400 invalid_request, 413, 415, 429) leaves no event: look for its id in the log. Or the id is mistyped, the event is older than the trail is kept, or another installation has answered. The id stands on the page of a refused login, and in each answer as X-Request-Id.',
    h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
  );
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

function plainEvent({ event, occurredAt, subjectUserId, payload }) {
  return [
    h(
      'div',
      { class: 'refusal-head' },
      h('span', { class: 'state' }, 'Recorded'),
      h('span', {}, eventInWords(event)),
      h('span', { class: 'soft' }, timeFromNow(occurredAt)),
    ),
    subjectUserId &&
      h('p', { class: 'soft marks' }, h('a', { href: address('#/users/?', subjectUserId) }, 'To the user')),
    h(
      'dl',
      { class: 'facts' },
      Object.entries(payload).map(([name, value]) =>
        h(
          'div',
          {},
          h('dt', {}, code(name)),
          h('dd', {}, isolated(typeof value === 'string' ? value : JSON.stringify(value))),
        ),
      ),
    ),
  ];
}
