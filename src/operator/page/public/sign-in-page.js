// The page on which an operator signs in, by a password or by a code together with a new password; and that of another password.
import { h } from './dom.js';
import { field, form, textInput } from './form.js';
import { post, put } from './instance-api.js';
import { pageHead } from './shell.js';
import { problemOf } from './states.js';

const LEAST_CHARACTERS = 12;
const MOST_CHARACTERS = 200;
const RULE = `At least ${LEAST_CHARACTERS} characters; several words are easier to remember than random characters.`;

/**
 * @param {{ reason: string, email: string, onSignedIn: (answer: object) => void }} how
 *   `reason`: why one has to sign in again; `email`: of who was signed in before
 */
export function signInPage({ reason, email, onSignedIn }) {
  const place = h('div', { class: 'sign-in' });
  const choose = (make, typed) => {
    place.replaceChildren(make({ email: typed, onSignedIn, other: choose }));
    place.querySelector('input').focus();
  };
  place.append(byPassword({ email, onSignedIn, other: choose, reason }));
  return place;
}

function byPassword({ email, onSignedIn, other, reason = '' }) {
  const who = emailInput(email);
  const password = passwordInput('current-password');
  const toCode = h('button', { type: 'button', class: 'plain' }, 'I have a code');
  toCode.addEventListener('click', () => other(byCode, who.value));
  return card('Sign in to the administration', reason, [
    form([field('E-mail address', who), field('Password', password)], {
      button: 'Sign in',
      besides: [toCode],
      isKept: false,
      send: () =>
        post('/session', { email: who.value.trim(), password: password.value }).catch(explained(password)),
      done: onSignedIn,
    }),
    h(
      'p',
      { class: 'soft hint' },
      'No password yet, or forgotten it? Whoever runs the instance can create a code: ',
      h('code', {}, 'svc-admin users set-password EMAIL --code'),
    ),
  ]);
}

function byCode({ email, onSignedIn, other }) {
  const who = emailInput(email);
  const code = textInput('', { required: true, autocomplete: 'one-time-code' });
  const { next, again, check } = newPasswordInputs();
  const toPassword = h('button', { type: 'button', class: 'plain' }, 'I have a password');
  toPassword.addEventListener('click', () => other(byPassword, who.value));
  return card('Set a password with a code', '', [
    form(
      [
        field('E-mail address', who),
        field('Code', code, 'It can be used once, for 15 minutes after it was made.'),
        field('New password', next, RULE),
        field('New password, again', again),
      ],
      {
        button: 'Set password and sign in',
        besides: [toPassword],
        isKept: false,
        send: async () => {
          check();
          const body = { email: who.value.trim(), code: code.value.trim(), newPassword: next.value };
          return post('/password', body).catch(explained(code));
        },
        done: onSignedIn,
      },
    ),
  ]);
}

/** Operators change their own password. */
export function passwordPage({ operator, signal, accept, reload }) {
  const present = passwordInput('current-password');
  const { next, again, check } = newPasswordInputs();
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
          field('New password', next, RULE),
          field('New password, again', again),
        ],
        {
          button: 'Change password',
          isKept: false,
          send: async () => {
            check();
            const body = { password: present.value, newPassword: next.value };
            return put('/password', body, { signal }).catch(
              explained(present, 'The current password is wrong.'),
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

/** Two inputs for a new password, and what throws where they cannot be sent. */
function newPasswordInputs() {
  const next = passwordInput('new-password');
  const again = passwordInput('new-password');
  const check = () => {
    const characters = [...next.value].length;
    if (characters < LEAST_CHARACTERS || characters > MOST_CHARACTERS)
      throw problemOf(
        `A password has ${LEAST_CHARACTERS} to ${MOST_CHARACTERS} characters; this one has ${characters}.`,
      );
    if (next.value !== again.value) throw problemOf('The two new passwords differ. Type the same one twice.');
  };
  return { next, again, check };
}

/** @param {'current-password' | 'new-password'} kind as password managers know it */
function passwordInput(kind) {
  return h('input', { type: 'password', required: true, autocomplete: kind });
}

function emailInput(email) {
  return textInput(email, { type: 'email', required: true, autocomplete: 'username' });
}

const WRONG = 'The e-mail address or the password is wrong, or this account may not sign in here.';

/** A wrong secret is typed anew. */
function explained(secret, wrong = WRONG) {
  return (error) => {
    if (error.word === 'invalid_credentials' || error.word === 'invalid_code') secret.value = '';
    if (error.word === 'invalid_credentials') throw problemOf(wrong);
    if (error.word === 'invalid_code')
      throw problemOf('The code is wrong, was used before, or has expired. Ask for a new one.');
    throw error;
  };
}

function card(title, reason, content) {
  return h(
    'div',
    { class: 'card sign-in-card' },
    h('p', { class: 'soft' }, location.host),
    h('h1', {}, title),
    reason && h('p', { class: 'flash' }, reason),
    content,
  );
}
