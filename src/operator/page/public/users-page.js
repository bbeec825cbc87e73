// Finds users.
import { emailAddress, h, isolated } from './dom.js';
import { field, form } from './form.js';
import { address, post } from './instance-api.js';
import { pageHead } from './shell.js';
import { empty, fill } from './states.js';
import { pages, table } from './table.js';
import { counted, nameOf, roleInWords, time } from './wording.js';

export function usersPage({ signal }) {
  const input = h('input', { type: 'search', autocapitalize: 'none', spellcheck: 'false' });
  const place = h('div', {});
  const show = (search) =>
    fill(
      place,
      () => find(search, undefined, signal),
      (first) =>
        [
          first.total > 0 && h('p', { class: 'soft' }, `${counted(first.total, 'user')} in all.`),
          pages(first, {
            show: userTable,
            next: (cursor) => find(search, cursor, signal),
            empty: () =>
              search === ''
                ? empty('No users yet', 'Users are created by a first token, or by svc-admin users create.')
                : empty(
                    'No user fits',
                    'No user has this id, or an e-mail address that begins so. Users of partners are created with their first token.',
                  ),
          }),
        ].filter(Boolean),
    );
  const whole = form([field('Search', input, 'The beginning of an e-mail address, or an id')], {
    button: 'Search',
    isKept: false,
    send: async () => input.value.trim(),
    done: show,
  });
  whole.role = 'search';
  whole.classList.add('find', 'card', 'padded');
  show('');
  return [pageHead('Users'), whole, place];
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
  return h('span', { class: `state ${enabled ? 'good' : 'bad'}` }, enabled ? 'Enabled' : 'Disabled');
}
