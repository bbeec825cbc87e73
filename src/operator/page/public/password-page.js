// The page on which operators change their own password.
import { h } from './dom.js';
import { field, form } from './form.js';
import { put } from './instance-api.js';
import { pageHead } from './shell.js';
import { newPasswordInputs, passwordInput } from './sign-in-page.js';
import { problemOf } from './states.js';

export function passwordPage({ operator, signal, accept, reload }) {
  const present = passwordInput('current-password');
  const { next, again, check, rule } = newPasswordInputs();
  const who = h('input', { type: 'email', autocomplete: 'username', readonly: true, value: operator.email });
  return [
    pageHead('Change password', { lead: 'This ends your sign-ins in other browsers, but not this one.' }),
    h(
      'div',
      { class: 'card padded narrow' },
      form(
        [
          field('E-mail address', who),
          field('Present password', present),
          field('New password', next, rule),
          field('New password, again', again),
        ],
        {
          button: 'Change password',
          isKept: false,
          send: async () => {
            check();
            return put('/password', { password: present.value, newPassword: next.value }, { signal }).catch(
              explained(present),
            );
          },
          done: (answer) => {
            accept(answer);
            reload('Your password was changed.');
          },
        },
      ),
    ),
  ];
}

function explained(secret) {
  return (error) => {
    if (error.word !== 'invalid_credentials') throw error;
    secret.value = '';
    throw problemOf('The current password is wrong.');
  };
}
