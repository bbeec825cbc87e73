// Fields of forms with label, hint and problem, and how a form is sent once.
import { SignedOutError, isAborted } from './instance-api.js';
import { freshId, h } from './dom.js';
import { forgetProblem, problemPlace, tellProblem } from './states.js';

/**
 * A labelled control.
 * @param {HTMLElement} control
 */
export function field(label, control, hint) {
  const id = freshId('field');
  control.id = id;
  const hintId = `${id}-hint`;
  if (hint) control.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control,
    hint && h('p', { id: hintId, class: 'soft hint' }, hint),
  );
}

/** @param {{ value: string, text: string }[]} options */
export function select(options, chosen) {
  return h(
    'select',
    {},
    options.map(({ value, text }) => h('option', { value, selected: value === chosen }, text)),
  );
}

/** A box beside what it says. */
export function checkbox(label, checked = false, attributes = {}) {
  const input = h('input', { type: 'checkbox', checked, ...attributes });
  return { input, whole: h('label', { class: 'check' }, input, h('span', {}, label)) };
}

/**
 * A form that is sent once at a time, and says what went wrong.
 * @param {{ button: string, send: () => Promise<any>, done: (result: any) => void, besides?: Node[], isKept?: boolean }} how
 *   `isKept`: what is typed is worth keeping if the sign-in ends meanwhile
 */
export function form(fields, { button, send, done, besides = [], isKept = true }) {
  const problem = problemPlace();
  const go = h('button', { type: 'submit', class: 'primary' }, button);
  const whole = h(
    'form',
    { class: 'form', novalidate: false, autocomplete: 'off', ...(isKept && { 'data-kept': true }) },
    fields,
    problem,
    h('div', { class: 'buttons' }, go, besides),
  );
  whole.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (go.ariaDisabled === 'true') return;
    go.ariaDisabled = 'true';
    forgetProblem(problem);
    try {
      done(await send());
    } catch (error) {
      if (!isAborted(error) && !(error instanceof SignedOutError)) {
        tellProblem(problem, error);
        problem.focus();
      }
    } finally {
      go.ariaDisabled = 'false';
    }
  });
  return whole;
}
