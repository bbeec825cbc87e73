// Who is signed in now: in partners' products, and at this page; and the way to end a session.
import { confirm } from './dialog.js';
import { card, emailAddress, h, isolated, mark, soft } from './dom.js';
import { field, form, textInput } from './form.js';
import { address, post, read, remove } from './instance-api.js';
import { plot } from './plot.js';
import { pageHead, section } from './shell.js';
import { empty, fill, filled } from './states.js';
import { pages, table } from './table.js';
import { duration, time } from './wording.js';

export function sessionsPage(context) {
  const place = h('div', {});
  const user = textInput('', { type: 'search' });
  const issuer = textInput('', { type: 'search' });
  const show = (asked) => fillWithSessions(place, asked, context);
  const search = form(
    [
      field('User', user, 'The beginning of an e-mail address, or an id'),
      field('Issuer', issuer, 'The issuer of its tokens, character by character'),
    ],
    {
      button: 'Search',
      search: 'filters',
      send: async () => ({ user: user.value.trim(), issuer: issuer.value.trim() }),
      done: show,
    },
  );
  show({});
  return [
    pageHead('Sessions', {
      lead: 'The newest first. To end all sessions of one user at once, open the user.',
    }),
    section('Embedded sessions', search, place),
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

/** Fills a place with the embedded sessions of whom is asked for. @param {{ user?: string, issuer?: string }} asked */
export function fillWithSessions(place, { user, issuer }, context) {
  const next = (cursor) => {
    const body = { ...(user && { user }), ...(issuer && { issuer }), ...(cursor && { cursor }) };
    return post('/sessions/search', body, context);
  };
  return fill(place, next, (first) =>
    pages(first, {
      show: (rows) => sessionTable(rows, context),
      next,
      empty: () => empty('No session', 'Sessions are listed here from the embedded login until they end.'),
    }),
  );
}

function operators(context) {
  const next = (cursor) =>
    read(`/operator-sessions?${new URLSearchParams(cursor ? { cursor } : {})}`, context);
  return filled(next, (first) =>
    pages(first, {
      show: (rows) => operatorSessionTable(rows, context),
      next,
      empty: () => empty('Nobody', 'Operators who are signed in will be listed here.'),
    }),
  );
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
  return [card(plot(bars, what, signal)), h('p', { class: 'soft as-of' }, source)];
}

function sessionTable(sessions, context) {
  const end = endButton(context, {
    path: '/sessions/?',
    text: "The page in the partner's product loses its access at once. The user can sign in again with a new token of the partner.",
  });
  return table(
    'Embedded sessions',
    [
      {
        title: 'User',
        cell: ({ user }) => h('a', { href: address('#/users/?', user.id) }, emailAddress(user.email)),
      },
      {
        title: 'Logged in from',
        cell: ({ loginOrigin }) => (loginOrigin === null ? soft('not named') : isolated(loginOrigin)),
      },
      { title: 'Issuer', cell: ({ issuers }) => issuers.map((issuer) => h('div', {}, isolated(issuer))) },
      { title: 'Opened', cell: ({ openedAt }) => time(openedAt) },
      { title: 'Ends', cell: ({ expiresAt }) => time(expiresAt) },
      {
        title: 'Action',
        class: 'action',
        cell: (session) => end(session, `session of ${session.user.email}`),
      },
    ],
    sessions,
  );
}

function operatorSessionTable(sessions, context) {
  const end = endButton(context, {
    path: '/operator-sessions/?',
    text: 'Whoever uses it is asked to sign in again at the next click.',
  });
  return table(
    'Operator sign-ins',
    [
      {
        title: 'Operator',
        cell: ({ user, current }) => [emailAddress(user.email), current && [' ', mark('good', 'This one')]],
      },
      { title: 'Address', cell: ({ clientAddress }) => clientAddress ?? '—' },
      { title: 'Opened', cell: ({ openedAt }) => time(openedAt) },
      { title: 'Last used', cell: ({ lastUsedAt }) => time(lastUsedAt) },
      { title: 'Ends', cell: ({ expiresAt }) => time(expiresAt) },
      {
        title: 'Action',
        class: 'action',
        cell: (session) =>
          session.current ? soft('Sign out ends it') : end(session, `sign-in of ${session.user.email}`),
      },
    ],
    sessions,
  );
}

function endButton(context, { path, text }) {
  return (session, what) =>
    h(
      'button',
      {
        type: 'button',
        class: 'danger small',
        'aria-label': `End the ${what}`,
        onclick: async () => {
          const done = await confirm({
            ...{ title: `End the ${what}?`, text, action: 'End', isDanger: true },
            run: () => remove(address(path, session.id), context),
          });
          if (done) context.reload('It has ended.');
        },
      },
      'End',
    );
}
