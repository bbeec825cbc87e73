// Who is signed in now: in partners' products, and at this page.
import { h } from './dom.js';
import { plot } from './plot.js';
import { field, form } from './form.js';
import { post, read } from './instance-api.js';
import { operatorSessionTable, sessionTable } from './session-tables.js';
import { pageHead, section } from './shell.js';
import { empty, fill, filled } from './states.js';
import { pages } from './table.js';
import { duration } from './wording.js';

export function sessionsPage(context) {
  const place = h('div', {});
  const user = h('input', { type: 'search', autocapitalize: 'none', spellcheck: 'false' });
  const issuer = h('input', { type: 'search', autocapitalize: 'none', spellcheck: 'false' });
  const show = (asked) =>
    list(place, (cursor) => findSessions(asked, cursor, context), sessionTable, nobody, context);
  const whole = form(
    [
      field('User', user, 'The beginning of an e-mail address, or an id'),
      field('Issuer', issuer, 'The issuer of its tokens, character by character'),
    ],
    {
      button: 'Search',
      isKept: false,
      send: async () => ({ user: user.value.trim(), issuer: issuer.value.trim() }),
      done: show,
    },
  );
  whole.role = 'search';
  whole.classList.add('filters', 'card', 'padded');
  show({ user: '', issuer: '' });
  return [
    pageHead('Sessions', {
      lead: 'The newest first. To end all sessions of one user at once, open the user.',
    }),
    section('Embedded sessions', whole, place),
    section('Operator sign-ins', operators(context)),
    section(
      'Embedded sessions over the last day',
      filled(
        () => read('/sessions/history', context),
        (data) => history(data, context.signal),
      ),
    ),
  ];
}

/** As far as the trail tells. */
function history({ since, until, lifetimeSeconds, buckets }, signal) {
  const bars = buckets.map(({ live, complete, ...bucket }) => ({
    ...bucket,
    known: complete,
    values: [live],
  }));
  const what = {
    label: `Live sessions from ${since} to ${until}`,
    unit: 'at the end of each bar',
    series: [{ title: 'Live sessions', colour: 'passed' }],
  };
  const source = `Counted from the logins and ends in the audit trail, with the lifetime of ${duration(lifetimeSeconds)} that is set now.`;
  return [
    h('div', { class: 'card padded' }, plot(bars, what, signal)),
    h('p', { class: 'soft as-of' }, source),
  ];
}

function findSessions({ user, issuer }, cursor, { signal }) {
  const body = { ...(user && { user }), ...(issuer && { issuer }), ...(cursor && { cursor }) };
  return post('/sessions/search', body, { signal });
}

function list(place, next, show, nothing, context) {
  return fill(
    place,
    () => next(undefined),
    (first) => pages(first, { show: (rows) => show(rows, context), next, empty: nothing }),
  );
}

function nobody() {
  return empty('No session', 'Sessions are listed here from the embedded login until they end.');
}

function operators(context) {
  const next = (cursor) =>
    read(`/operator-sessions?${new URLSearchParams(cursor ? { cursor } : {})}`, context);
  return filled(
    () => next(undefined),
    (first) =>
      pages(first, {
        show: (rows) => operatorSessionTable(rows, context),
        next,
        empty: () => empty('Nobody', 'Operators who are signed in will be listed here.'),
      }),
  );
}
