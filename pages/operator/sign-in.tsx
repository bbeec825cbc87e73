// Sign-in by password, or by code with a new password, and the change of a password.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { RefusedError } from '../shared/api.js';
import type { AnswerOf } from './api.js';
import { call } from './api.js';
import { Field, Form } from './form.js';
import { textIn, typedIn } from './form-data.js';
import { reload } from './navigation.js';
import { PageHead } from './parts.js';
import { accept, phase } from './session.js';
import { problemOf } from './states.js';

const LEAST_CHARACTERS = 12;
const MAX_CHARACTERS = 200;
const RULE = `At least ${LEAST_CHARACTERS} characters; several words are easier to remember than random characters.`;

interface Place {
  email: string;
  onSignedIn: (answer: AnswerOf<'POST /session'>) => void;
}

/** @param reason why a new sign-in is needed @param email the address of the operator who was signed in before */
export function SignIn({ reason, ...place }: Place & { reason: string }) {
  const [hasCode, setCode] = useState(false);
  const [email, setEmail] = useState(place.email);
  const whole = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const known = !hasCode && place.email !== '' ? 'input[type=password]' : 'input';
    whole.current?.querySelector<HTMLInputElement>(known)?.focus();
  }, [hasCode]);
  const choose = (event: Event) => {
    const { form } = event.currentTarget as HTMLButtonElement;
    if (form !== null) setEmail(textIn(new FormData(form), 'email'));
    setCode(!hasCode);
  };
  const other = (
    <button type="button" class="plain" onClick={choose}>
      {hasCode ? 'I have a password' : 'I have a code'}
    </button>
  );
  const How = hasCode ? ByCode : ByPassword;
  return (
    <div ref={whole} class="sign-in">
      <div class="card padded sign-in-card">
        <p class="soft">{location.host}</p>
        <h1>{hasCode ? 'Set a password with a code' : 'Sign in to the administration'}</h1>
        {reason !== '' && !hasCode && <p class="flash">{reason}</p>}
        <How key={String(hasCode)} email={email} onSignedIn={place.onSignedIn} other={other} />
      </div>
    </div>
  );
}

type HowProps = Place & { other: ComponentChildren };

function ByPassword({ email, onSignedIn, other }: HowProps) {
  const send = (data: FormData, form: HTMLFormElement) => {
    const body = { email: textIn(data, 'email'), password: typedIn(data, 'password') };
    return call('POST /session', { body }).catch(explained(form, 'password'));
  };
  return (
    <>
      <Form button="Sign in" beside={other} isKept={false} send={send} done={onSignedIn}>
        <Email email={email} />
        <Field name="password" label="Password" type="password" required autocomplete="current-password" />
      </Form>
      <p class="soft hint after">
        No password yet, or forgotten it? Whoever runs the instance can create a code:{' '}
        <code>svc-admin users set-password EMAIL --code</code>
      </p>
    </>
  );
}

function ByCode({ email, onSignedIn, other }: HowProps) {
  const send = async (data: FormData, form: HTMLFormElement) => {
    const [address, code] = [textIn(data, 'email'), textIn(data, 'code')];
    const body = { email: address, code, newPassword: newPasswordIn(data) };
    return call('POST /password', { body }).catch(explained(form, 'code'));
  };
  return (
    <Form button="Set password and sign in" beside={other} isKept={false} send={send} done={onSignedIn}>
      <Email email={email} />
      <Field
        name="code"
        label="Code"
        required
        autocomplete="one-time-code"
        hint="It can be used once, within 15 minutes."
      />
      <NewPassword />
    </Form>
  );
}

/** Operators change their own password. */
export function PasswordView() {
  const email = phase.value.kind === 'in' ? phase.value.operator.email : '';
  const send = async (data: FormData, form: HTMLFormElement) => {
    const body = { password: typedIn(data, 'password'), newPassword: newPasswordIn(data) };
    return call('PUT /password', { body }).catch(
      explained(form, 'password', 'The current password is wrong.'),
    );
  };
  const done = (answer: AnswerOf<'PUT /password'>) => {
    accept(answer);
    reload('Your password was changed.');
  };
  return (
    <>
      <PageHead title="Change password" lead="This ends your sign-ins in other browsers, but not this one." />
      <div class="card padded narrow">
        <Form button="Change password" isKept={false} send={send} done={done}>
          <Email email={email} readOnly />
          <Field
            name="password"
            label="Present password"
            type="password"
            required
            autocomplete="current-password"
          />
          <NewPassword />
        </Form>
      </div>
    </>
  );
}

function Email({ email, readOnly = false }: { email: string; readOnly?: boolean }) {
  const how = { type: 'email', autocomplete: 'username', required: !readOnly } as const;
  return <Field name="email" label="E-mail address" value={email} readOnly={readOnly} {...how} />;
}

function NewPassword() {
  const how = { type: 'password', required: true, autocomplete: 'new-password' } as const;
  return (
    <>
      <Field name="next" label="New password" hint={RULE} {...how} />
      <Field name="again" label="New password, again" {...how} />
    </>
  );
}

/** @throws Error with a message for people, if the request cannot be sent */
function newPasswordIn(data: FormData): string {
  const [next, again] = [typedIn(data, 'next'), typedIn(data, 'again')];
  const characters = [...next].length;
  if (characters < LEAST_CHARACTERS || characters > MAX_CHARACTERS)
    throw problemOf(
      `A password has ${LEAST_CHARACTERS} to ${MAX_CHARACTERS} characters; this one has ${characters}.`,
    );
  if (next !== again) throw problemOf('The two new passwords differ. Type the same one twice.');
  return next;
}

const WRONG = 'The e-mail address or the password is wrong, or this account may not sign in here.';
const WRONG_CODE = 'The code is wrong, was used before, or has expired. Ask for a new one.';

/** Clears a wrong secret, and says what is wrong. */
function explained(form: HTMLFormElement, name: string, wrong = WRONG): (error: unknown) => never {
  return (error) => {
    const code = error instanceof RefusedError ? error.error : '';
    if (code !== 'invalid_credentials' && code !== 'invalid_code') throw error;
    const input = form.querySelector<HTMLInputElement>(`input[name=${name}]`);
    if (input) input.value = '';
    throw problemOf(code === 'invalid_code' ? WRONG_CODE : wrong);
  };
}
