// Finds users; and one user: who it is, what is signed in, what was refused, and how access is taken away.
import { confirm } from './dialog.js';
import { card, code, emailAddress, facts, h, isolated, mark } from './dom.js';
import { field, form, textInput } from './form.js';
import { address, post, read } from './instance-api.js';
import { refusalTable } from './refusal-card.js';
import { fillWithSessions } from './sessions-page.js';
import { pageHead, section } from './shell.js';
import { empty, fill, filled } from './states.js';
import { pages, table } from './table.js';
import { eventTable } from './trail-page.js';
import { listFound } from './trail-search.js';
import { counted, eventInWords, nameOf, roleInWords, time, timeFromNow, valueInWords } from './wording.js';

const WEEK_HOURS = '168';
const ENDS = ['session.ended', 'token-exchange.user-signed-out'];

export function usersPage({ signal }) {
  const input = textInput('', { type: 'search' });
  const place = h('div', {});
  const show = (asked) => {
    const next = (cursor) => find(asked, cursor, signal);
    return fill(place, next, (first) =>
      [
        first.total > 0 && h('p', { class: 'soft' }, `${counted(first.total, 'user')} in all.`),
        pages(first, {
          show: userTable,
          next,
          empty: () =>
            asked === ''
              ? empty('No users yet', 'Users are created by a first token, or by svc-admin users create.')
              : empty(
                  'No user fits',
                  'No user has this id, or an e-mail address that begins so. Users of partners are created with their first token.',
                ),
        }),
      ].filter(Boolean),
    );
  };
  const search = form([field('Search', input, 'The beginning of an e-mail address, or an id')], {
    button: 'Search',
    search: 'find',
    send: async () => input.value.trim(),
    done: show,
  });
  show('');
  return [pageHead('Users'), search, place];
}

function find(search, cursor, signal) {
  return post('/users/search', { ...(search && { search }), ...(cursor && { cursor }) }, { signal });
}

function userTable(users) {
  return table(
    'Users',
    [
      {
        title: 'User',
        cell: (user) => h('a', { href: address('#/users/?', user.id) }, emailAddress(user.email)),
      },
      { title: 'Name', cell: (user) => (nameOf(user) === user.email ? '—' : isolated(nameOf(user))) },
      { title: 'Role', cell: ({ role }) => roleInWords(role) },
      { title: 'State', cell: ({ enabled }) => enabledState(enabled) },
      { title: 'Last sign-in', class: 'when', cell: ({ lastSignInAt }) => time(lastSignInAt, '—') },
      { title: 'Created', class: 'when', cell: ({ createdAt }) => time(createdAt) },
    ],
    users,
  );
}

export function enabledState(enabled) {
  return enabled ? mark('good', 'Enabled') : mark('bad', 'Disabled');
}

export function userPage(context) {
  const { params, signal } = context;
  return filled(
    () => read(address('/users/?', params.userId), { signal }),
    (user) => {
      const [sessions, refusals] = [h('div', {}), h('div', {})];
      fillWithSessions(sessions, { user: user.id }, context);
      showRefusals(refusals, user, signal);
      return [
        pageHead(isolated(nameOf(user)), {
          back: { href: '#/users', text: 'Users' },
          actions: actionsFor(user, context),
        }),
        card(userFacts(user)),
        section('Embedded sessions', sessions),
        section(
          'Sessions ended in the last 7 days',
          filled(() => endsOf(user.id, signal), ends),
        ),
        section('Refused in the last 7 days', refusals),
        section('Last sign-ins', signIns(user.signIns)),
        section('Linked identities', links(user.links)),
        section('Projects', memberships(user.projects)),
        h(
          'p',
          { class: 'section' },
          h(
            'a',
            { href: `#/trail?${new URLSearchParams({ user: user.id, hours: WEEK_HOURS })}` },
            'All events of this user',
          ),
        ),
      ];
    },
  );
}

function userFacts(user) {
  return facts([
    ['E-mail address', emailAddress(user.email)],
    ['State', enabledState(user.enabled)],
    ['Role', roleInWords(user.role)],
    ['Id', code(user.id)],
    ['Created', timeFromNow(user.createdAt)],
    ['Created by', user.provisioned ? 'the first token of a partner' : 'a command or another user'],
    ['Last sign-in', timeFromNow(user.signIns[0]?.occurredAt)],
    [
      'Signed in',
      `${counted(user.sessions, 'embedded session')}, ${counted(user.operatorSessions, 'operator sign-in')}`,
    ],
    ['Operator password', user.hasPassword ? 'set' : 'none'],
  ]);
}

function actionsFor(user, context) {
  const who = user.email;
  const act = (what) => async () => {
    const done = await confirm({
      ...what,
      run: () => post(address(`/users/?/${what.verb}`, user.id), undefined, context),
    });
    if (done) context.reload(what.said(done.result));
  };
  const signOut = act({
    verb: 'sign-out',
    title: `Sign ${who} out everywhere?`,
    text: 'All sessions of this user end at once, and access tokens that were issued until now are refused. The user can sign in again with a new token of the partner.',
    action: 'Sign out everywhere',
    isDanger: true,
    said: ({ sessions }) => `Signed out everywhere: ${counted(sessions, 'session')} ended.`,
  });
  const disable = act({
    verb: 'disable',
    title: `Disable ${who}?`,
    text: 'All sessions end at once, and every token about this user is refused, until the user is enabled again.',
    action: 'Disable',
    isDanger: true,
    said: () => 'The user is disabled.',
  });
  const enable = act({
    verb: 'enable',
    title: `Enable ${who}?`,
    text: 'Tokens about this user are accepted again. Sessions that have ended are not restored.',
    action: 'Enable',
    said: () => 'The user is enabled.',
  });
  const isSelf = user.id === context.operator.id;
  return [
    h('button', { type: 'button', onclick: signOut }, 'Sign out everywhere'),
    user.enabled
      ? !isSelf && h('button', { type: 'button', class: 'danger', onclick: disable }, 'Disable')
      : h('button', { type: 'button', onclick: enable }, 'Enable'),
  ].filter(Boolean);
}

/** Ends of single sessions, and of all at once. */
async function endsOf(user, signal) {
  const found = await Promise.all(
    ENDS.map((event) =>
      post('/events/search', { user, event, lastHours: Number(WEEK_HOURS), limit: 10 }, { signal }),
    ),
  );
  const events = found.flatMap(({ data }) => data);
  events.sort((one, other) => other.occurredAt.localeCompare(one.occurredAt));
  return { events, people: Object.assign({}, ...found.map(({ people }) => people)) };
}

function ends({ events, people }) {
  return events.length === 0
    ? empty('No session was ended', 'Sessions that end before they expire are listed here, with the cause.')
    : eventTable(events, people);
}

function showRefusals(place, user, signal) {
  return listFound(place, {
    path: '/refusals/search',
    filters: { user: user.id, hours: WEEK_HOURS },
    limit: 10,
    show: (refusals) => refusalTable(refusals),
    empty: () =>
      empty(
        'Nothing was refused',
        'Refused tokens of this user with a valid signature will be listed here. A token with a wrong signature or an unknown key names nobody: look among all refusals.',
        h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
      ),
    signal,
  });
}

function signIns(all) {
  if (all.length === 0)
    return empty('No sign-in', 'Token exchanges and embedded logins that succeed will be listed here.');
  return table(
    'Last sign-ins',
    [
      { title: 'Sign-in', cell: ({ event }) => eventInWords(event) },
      { title: 'Time', class: 'when', cell: ({ occurredAt }) => time(occurredAt) },
      { title: 'Issuer', cell: ({ issuer }) => (issuer === null ? '—' : isolated(issuer)) },
      {
        title: 'Request',
        cell: ({ requestId }) =>
          h('a', { href: address('#/requests/?', requestId), title: requestId }, 'Request'),
      },
    ],
    all,
  );
}

function memberships(all) {
  return table(
    'Projects',
    [
      { title: 'Project', cell: ({ name }) => isolated(name) },
      { title: 'Role', cell: ({ role }) => valueInWords(role) },
      { title: 'Given by', cell: ({ issuer }) => (issuer === null ? 'people' : isolated(issuer)) },
      {
        title: 'Keys of issuers',
        cell: ({ externalKeys }) =>
          externalKeys.map(({ issuer, key }) => h('div', {}, code(key), ' ', isolated(issuer))),
      },
    ],
    all,
  );
}

function links(all) {
  if (all.length === 0)
    return empty('No linked identity', "A partner's user is linked by the first token that is accepted.");
  return table(
    'Linked identities',
    [
      { title: 'Subject (sub)', cell: ({ subject }) => code(isolated(subject)) },
      { title: 'Issuer', cell: ({ issuer }) => isolated(issuer) },
      { title: 'Linked', cell: ({ linkedAt }) => time(linkedAt, 'not known') },
    ],
    all,
  );
}
