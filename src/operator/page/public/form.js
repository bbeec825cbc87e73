// Fields of forms with label, hint and problem, and how a form is sent once.
import { freshId, h } from './dom.js';
import { attempt, problemPlace } from './states.js';

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
    h('label', { for: id, class: control.required && 'required' }, label),
    control,
    hint && h('p', { id: hintId, class: 'soft hint' }, hint),
  );
}

/** Says at a field, or a group of them, what is wrong there. */
export function tellFieldProblem(whole, text) {
  const folded = whole.closest('details');
  if (folded !== null) folded.open = true;
  whole.append(h('p', { class: 'problem field-problem', role: 'alert' }, text));
  whole.querySelector('input, select, textarea')?.setAttribute('aria-invalid', 'true');
}

export function forgetFieldProblems(form) {
  for (const told of form.querySelectorAll('.field-problem')) told.remove();
  for (const control of form.querySelectorAll('[aria-invalid]')) control.removeAttribute('aria-invalid');
}

/** A field that takes text as it is typed. */
export function textInput(value = '', attributes = {}) {
  const input = h('input', { autocapitalize: 'none', spellcheck: 'false', ...attributes });
  input.value = value;
  return input;
}

/** For tokens, keys and JSON. */
export function textArea(attributes) {
  return h('textarea', {
    ...{ rows: 4, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'none', class: 'mono' },
    ...attributes,
  });
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
 * @param {{ button: string, send: () => Promise<unknown>, done: (result: any) => void, besides?: Node[], isKept?: boolean, asksToLeave?: boolean, search?: string }} how
 *   `isKept`: what is typed is worth keeping if the sign-in ends meanwhile; `asksToLeave`: it is asked about before it is left;
 *   `search`: it finds something, and looks as this class says
 */
export function form(
  fields,
  { button, send, done, besides = [], search, isKept = search === undefined, asksToLeave = false },
) {
  const problem = problemPlace();
  const go = h('button', { type: 'submit', class: 'primary' }, button);
  const whole = h(
    'form',
    {
      class: 'form',
      novalidate: false,
      autocomplete: 'off',
      'data-kept': isKept,
      'data-asks-to-leave': asksToLeave,
    },
    fields,
    problem,
    h('div', { class: 'buttons' }, go, besides),
  );
  if (search !== undefined) {
    whole.role = 'search';
    whole.classList.add(search, 'card', 'padded');
  }
  whole.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!(await attempt(go, problem, async () => done(await send())))) problem.focus();
  });
  return whole;
}
