// Adds a trusted entry in three steps: whose tokens they are, what they may do, and a check before it is stored; or as JSON.
import { h, list } from './dom.js';
import { identityFields, jsonField, policyFields } from './entry-fields.js';
import { explained } from './explain-page.js';
import { field, forgetFieldProblems, form, select, tellFieldProblem, textArea } from './form.js';
import { address, post, read } from './instance-api.js';
import { pageHead, section } from './shell.js';
import { attempt, filled, problemOf, problemPlace } from './states.js';
import { byLabels, sentence } from './wording.js';

const STEPS = ['Whose tokens', 'What they may do', 'Check'];
const LAST = STEPS.length - 1;

export function newEntryPage(context) {
  return filled(
    () => read('/overview', context),
    (overview) => {
      const place = h('div', {});
      const show = (way) =>
        place.replaceChildren(way === 'form' ? stepForm(overview, context) : jsonForm(context));
      const way = select(
        [
          { value: 'form', text: 'In three steps' },
          { value: 'json', text: 'As JSON' },
        ],
        'form',
      );
      way.addEventListener('change', () => show(way.value));
      show('form');
      return [
        pageHead('Add a trusted entry', {
          back: { href: '#/entries', text: 'Trusted entries' },
          lead: overview.strict
            ? 'All instances accept its tokens as soon as it is added. This instance is strict: what an entry does not allow is refused.'
            : 'All instances accept its tokens as soon as it is added. What an entry does not limit is allowed.',
        }),
        h('div', { class: 'narrow how' }, field('How', way)),
        place,
      ];
    },
  );
}

function jsonForm(context) {
  const { text, read: readJson } = jsonField({});
  text.placeholder = '{\n  "type": "static",\n  "name": "acme",\n  …\n}';
  return form(
    [field('Entry as JSON', text, 'All members as in SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, with a name.')],
    {
      button: 'Add entry',
      asksToLeave: true,
      besides: [h('a', { class: 'button', href: '#/entries' }, 'Cancel')],
      send: async () => post('/entries', { entry: readJson() }, context),
      done: (added) => context.goTo(placeOf(added)),
    },
  );
}

function placeOf({ name }) {
  return `${address('#/entries/?', `stored:${name}`)}?added`;
}

function stepForm({ baseUrl, entryForm, keyAlgorithms }, context) {
  const identity = identityFields(keyAlgorithms);
  const policy = policyFields(entryForm, { expectedAudience: baseUrl }, { isNew: true });
  const review = h('div', { class: 'fields', tabindex: '-1' });
  const parts = [identity.fields, policy.fields, review];
  const steps = parts.map((content, index) =>
    h('fieldset', { class: 'step' }, h('legend', { class: 'unseen' }, STEPS[index]), content),
  );
  const marks = STEPS.map((title, index) => h('li', {}, `${index + 1}. ${title}`));
  const back = h('button', { type: 'button' }, 'Back');
  const entry = () => ({ ...identity.read(), ...policy.read() });
  let current = 0;
  const whole = form([h('ol', { class: 'steps', role: 'list', 'aria-label': 'Steps' }, marks), steps], {
    button: 'Next',
    asksToLeave: true,
    besides: [back, h('a', { class: 'button', href: '#/entries' }, 'Cancel')],
    send: async () => {
      if (current === LAST) return { added: await post('/entries', { entry: entry() }, context) };
      if (current === LAST - 1) await showCheck();
      return undefined;
    },
    done: (result) => {
      if (result !== undefined) return context.goTo(placeOf(result.added));
      go(current + 1);
    },
  });
  /** A step that is not shown is disabled, so that the browser does not ask for what it lacks. */
  const go = (index) => {
    current = index;
    for (const [at, step] of steps.entries()) {
      step.hidden = at !== index;
      step.disabled = at !== index;
      marks[at].ariaCurrent = at === index ? 'step' : null;
    }
    back.hidden = index === 0;
    whole.querySelector('button[type=submit]').textContent = index === LAST ? 'Add entry' : 'Next';
    steps[index].querySelector('input, select, textarea')?.focus();
  };
  const showCheck = async () => {
    forgetFieldProblems(whole);
    const checked = await post('/entries/check', { entry: entry() }, context);
    refuseProblems(checked.problems, { places: [identity.places, policy.places], labels: policy.labels, go });
    review.replaceChildren(...reviewOf(checked, entry, context));
  };
  back.addEventListener('click', () => go(current - 1));
  go(0);
  return whole;
}

/** Shows problems at the fields that they are about; throws the others, and that there are some. */
function refuseProblems(problems, { places: placesOfSteps, labels, go }) {
  if (problems.length === 0) return;
  const others = [];
  let first = LAST;
  for (const problem of problems) {
    const [, member = '', rule = problem] = /^"?(\w+)"?(?:\[\d+\])?[^:]*: (.*)$/s.exec(problem) ?? [];
    const step = placesOfSteps.findIndex((places) => member in places);
    if (step < 0) others.push(byLabels(problem, labels));
    else tellFieldProblem(placesOfSteps[step][member], sentenceText(byLabels(rule, labels)));
    if (step >= 0) first = Math.min(first, step);
  }
  if (first < LAST) go(first);
  throw problemOf(others.length > 0 ? others.join('\n') : 'Some fields are not right yet.');
}

function sentenceText(rule) {
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
}

function reviewOf({ policy, warnings, notes }, entry, context) {
  return [
    section('What its tokens may do', list(policy.map(sentence))),
    warnings.length + notes.length > 0 && list([...warnings, ...notes], 'flash'),
    section('Try a token of the partner', tokenTrial(entry, context)),
  ].filter(Boolean);
}

/** The token is checked as if the entry were stored already. */
function tokenTrial(entry, context) {
  const token = textArea();
  const problem = problemPlace();
  const place = h('div', {});
  const check = h('button', { type: 'button' }, 'Check this token');
  check.addEventListener('click', () =>
    attempt(check, problem, async () => {
      const body = { entry: entry(), token: token.value.trim() };
      const { explanation } = await post('/entries/check', body, context);
      place.replaceChildren(...explained(explanation));
    }),
  );
  return h(
    'div',
    { class: 'fields' },
    field(
      'Test token',
      token,
      'Optional. The token is checked as if the entry existed; it is not used up, stored or logged. The keys of a key set are fetched once the entry is added; until then such a token has an unknown key.',
    ),
    problem,
    h('div', { class: 'buttons' }, check),
    place,
  );
}
