// One user: who it is, what is signed in, what was refused, and how access is taken away.
import { confirm } from './dialog.js';
import { code, emailAddress, facts, h, isolated } from './dom.js';
import { address, post, read } from './instance-api.js';
import { refusalCards } from './refusal-card.js';
import { sessionTable } from './session-tables.js';
import { pageHead, section } from './shell.js';
import { empty, filled } from './states.js';
import { pages, table } from './table.js';
import { enabledState } from './users-page.js';
import { counted, nameOf, roleInWords, time } from './wording.js';

const WEEK_HOURS = 7 * 24;

export function userPage(context) {
  const { params, signal } = context;
  return filled(
    () => read(address('/users/?', params.userId), { signal }),
    (user) => [
      pageHead(isolated(nameOf(user)), {
        back: { href: '#/users', text: 'Users' },
        actions: actionsFor(user, context),
      }),
      h('div', { class: 'card padded' }, userFacts(user)),
      section(
        'Embedded sessions',
        filled(
          () => sessionsOf(user.id, undefined, signal),
          (first) => sessionPages(first, user, context),
        ),
      ),
      section(
        'Refused in the last 7 days',
        filled(
          () => refusalsOf(user.id, undefined, signal),
          (first) => refusalPages(first, user, signal),
        ),
      ),
      section('Linked identities', links(user.links)),
    ],
  );
}

function userFacts(user) {
  return facts([
    ['E-mail address', emailAddress(user.email)],
    ['State', enabledState(user.enabled)],
    ['Role', roleInWords(user.role)],
    ['Id', code(user.id)],
    ['Made', time(user.createdAt)],
    ['Made by', user.provisioned ? 'token exchange, with the first token' : 'a command or another user'],
    [
      'Signed in',
      `${counted(user.sessions, 'embedded session')}, ${counted(user.operatorSessions, 'sign-in')} here`,
    ],
    ['Password for here', user.hasPassword ? 'yes' : 'none'],
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
    text: 'All sessions of this user end at once, and access tokens that were issued until now are refused. With a new token of the partner the user comes in again.',
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
    text: 'Tokens about this user are taken again. Sessions that have ended stay so.',
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

function sessionsOf(userId, cursor, signal) {
  return read(`/sessions?${new URLSearchParams({ userId, ...(cursor && { cursor }) })}`, { signal });
}

function sessionPages(first, user, context) {
  return pages(first, {
    show: (rows) => sessionTable(rows, context),
    next: (cursor) => sessionsOf(user.id, cursor, context.signal),
    empty: () =>
      empty('No embedded session', 'A session is listed here from an embedded login until it ends.'),
  });
}

function refusalsOf(user, cursor, signal) {
  return post(
    '/refusals/search',
    { user, lastHours: WEEK_HOURS, limit: 10, ...(cursor && { cursor }) },
    { signal },
  );
}

function refusalPages(first, user, signal) {
  return pages(first, {
    show: refusalCards,
    next: (cursor) => refusalsOf(user.id, cursor, signal),
    empty: () =>
      empty(
        'Nothing was refused',
        'What is refused once this user was found will be listed here. A token that was refused before that names nobody: look among all refusals.',
        h('a', { class: 'button', href: '#/refusals' }, 'All refusals'),
      ),
  });
}

function links(all) {
  if (all.length === 0)
    return empty('No linked identity', "A partner's user is linked by the first token that is accepted.");
  return table(
    'Linked identities',
    [
      { title: 'Issuer', cell: ({ issuer }) => isolated(issuer) },
      { title: 'Linked', cell: ({ linkedAt }) => time(linkedAt, 'not known') },
    ],
    all,
  );
}
