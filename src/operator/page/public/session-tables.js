// Tables of sessions, each with the way to end one.
import { confirm } from './dialog.js';
import { emailAddress, h, isolated } from './dom.js';
import { address, remove } from './instance-api.js';
import { table } from './table.js';
import { time } from './wording.js';

/** Embedded sessions. */
export function sessionTable(sessions, context) {
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
        cell: ({ loginOrigin }) =>
          loginOrigin === null ? h('span', { class: 'soft' }, 'not named') : isolated(loginOrigin),
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

/** Sign-ins of operators. */
export function operatorSessionTable(sessions, context) {
  const end = endButton(context, {
    path: '/operator-sessions/?',
    text: 'Whoever uses it is asked to sign in again at the next click.',
  });
  return table(
    'Operator sign-ins',
    [
      {
        title: 'Operator',
        cell: ({ user, current }) => [
          emailAddress(user.email),
          current && [' ', h('span', { class: 'state good' }, 'This one')],
        ],
      },
      { title: 'Address', cell: ({ clientAddress }) => clientAddress ?? '—' },
      { title: 'Opened', cell: ({ openedAt }) => time(openedAt) },
      { title: 'Last used', cell: ({ lastUsedAt }) => time(lastUsedAt) },
      { title: 'Ends', cell: ({ expiresAt }) => time(expiresAt) },
      {
        title: 'Action',
        class: 'action',
        cell: (session) =>
          session.current
            ? h('span', { class: 'soft' }, 'Sign out ends it')
            : end(session, `sign-in of ${session.user.email}`),
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
