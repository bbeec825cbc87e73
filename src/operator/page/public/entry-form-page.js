// The pages on which a stored entry is added, and its policy changed: by a form, or as JSON.
import { h, isolated } from './dom.js';
import { ALGORITHMS, POLICY } from './entry-members.js';
import { checkbox, field, form, select } from './form.js';
import { address, post, put, read } from './instance-api.js';
import { pageHead } from './shell.js';
import { filled, problemOf } from './states.js';
import { withCode } from './wording.js';

const LEFT_OUT = { value: '', text: 'As the instance has it' };

export function newEntryPage(context) {
  const place = h('div', {});
  const show = (make) => place.replaceChildren(make());
  const byForm = () => {
    const identity = identityFields();
    const policy = policyFields({});
    return entryForm(
      [identity.fields, policy.fields],
      () => ({ ...identity.read(), ...policy.read() }),
      context,
    );
  };
  const byJson = () => {
    const { text, read: readJson } = jsonField({});
    text.placeholder = '{\n  "type": "static",\n  "name": "acme",\n  …\n}';
    return entryForm(
      [field('Entry as JSON', text, 'All members as in SVC_TOKEN_EXCHANGE_TRUSTED_KEYS, with a name.')],
      readJson,
      context,
    );
  };
  const way = select(
    [
      { value: 'form', text: 'By a form' },
      { value: 'json', text: 'As JSON' },
    ],
    'form',
  );
  way.addEventListener('change', () => show(way.value === 'form' ? byForm : byJson));
  show(byForm);
  return [
    pageHead('Add a trusted entry', {
      back: { href: '#/entries', text: 'Trusted entries' },
      lead: 'From the moment it is added its tokens are taken, on all instances. What an entry does not limit is allowed, unless the instance runs in strict mode.',
    }),
    h('div', { class: 'narrow how' }, field('How', way)),
    place,
  ];
}

function entryForm(fields, readEntry, context) {
  return form(fields, {
    button: 'Add entry',
    besides: [h('a', { class: 'button', href: '#/entries' }, 'Cancel')],
    send: async () => post('/entries', { entry: readEntry() }, context),
    done: ({ name }) => context.goTo(address('#/entries/?', `stored:${name}`)),
  });
}

export function changeEntryPage(context) {
  const { params, signal } = context;
  const name = params.entry.replace(/^stored:/, '');
  const back = { href: address('#/entries/?', params.entry), text: params.entry };
  return [
    pageHead(['Change ', isolated(params.entry)], {
      back,
      lead: 'What its tokens may do. To change issuer or keys, add another entry and remove this one.',
    }),
    filled(
      () => read(address('/entries/?', name), { signal }),
      ({ definition }) => changeForm(name, definition, back.href, context),
    ),
  ];
}

function changeForm(name, definition, backHref, context) {
  const policy = policyFields(definition);
  return form(policy.fields, {
    button: 'Save changes',
    besides: [h('a', { class: 'button', href: backHref }, 'Cancel')],
    send: async () => {
      const change = changeOf(definition, policy.read());
      if (Object.keys(change.set).length + change.unset.length === 0)
        throw problemOf('Nothing is changed yet.');
      return put(address('/entries/?/policy', name), change, context);
    },
    done: () => context.goTo(backHref),
  });
}

/** What of a policy is to be set and what left out, so that it becomes another. */
function changeOf(before, after) {
  const names = POLICY.flatMap(({ members }) => members.map((member) => member.name));
  const isChanged = (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const changed = names.filter(isChanged);
  return {
    set: Object.fromEntries(
      changed.filter((name) => after[name] !== undefined).map((name) => [name, after[name]]),
    ),
    unset: changed.filter((name) => after[name] === undefined),
  };
}

/** What tells an entry from others, and its keys. */
function identityFields() {
  const input = (attributes) =>
    h('input', { required: true, autocapitalize: 'none', spellcheck: 'false', ...attributes });
  const name = input({ pattern: '[a-z0-9][a-z0-9_\\-]*', title: 'small letters, digits, - and _' });
  const issuer = input({ type: 'url' });
  const type = select(
    [
      { value: 'jwks', text: 'A key set that the partner publishes' },
      { value: 'static', text: 'One public key' },
    ],
    'jwks',
  );
  const url = input({ type: 'url' });
  const kid = input({});
  const algorithms = select(
    ALGORITHMS.map((value) => ({ value, text: value })),
    'ES256',
  );
  const key = h('textarea', {
    rows: 6,
    required: true,
    spellcheck: 'false',
    class: 'mono',
    placeholder: '-----BEGIN PUBLIC KEY-----',
  });
  const ofSet = h(
    'div',
    { class: 'fields' },
    field('Address of the key set', url, 'https, of the partner: it is fetched again and again.'),
  );
  const ofKey = h(
    'div',
    { class: 'fields' },
    field('Key id', kid, 'As tokens have it in their header (kid).'),
    field('Algorithm', algorithms),
    field('Public key', key, 'PEM. A private key never belongs here.'),
  );
  const choose = () => {
    for (const [place, isMeant] of [
      [ofSet, type.value === 'jwks'],
      [ofKey, type.value === 'static'],
    ]) {
      place.hidden = !isMeant;
      for (const control of place.querySelectorAll('input, select, textarea')) control.disabled = !isMeant;
    }
  };
  type.addEventListener('change', choose);
  choose();
  const fields = group('Whose tokens', [
    field('Name', name, 'Small letters, digits, - and _: how pages, commands, logs and metrics call it.'),
    field('Issuer', issuer, 'As tokens have it in iss, character by character.'),
    field('Keys', type),
    ofSet,
    ofKey,
  ]);
  const keys = () =>
    type.value === 'jwks'
      ? { url: url.value.trim() }
      : { kid: kid.value.trim(), algorithms: [algorithms.value], key: `${key.value.trim()}\n` };
  return {
    fields,
    read: () => ({ type: type.value, name: name.value.trim(), issuer: issuer.value.trim(), ...keys() }),
  };
}

/** @param {object} definition the entry as it is, or nothing of it */
function policyFields(definition) {
  const made = POLICY.map(({ title, members }) => ({
    title,
    controls: members.map((member) => controlFor(member, definition[member.name])),
  }));
  const controls = made.flatMap((one) => one.controls);
  return {
    fields: made.map((one) =>
      group(
        one.title,
        one.controls.map(({ whole }) => whole),
      ),
    ),
    read: () =>
      Object.fromEntries(
        controls.map(({ name, value }) => [name, value()]).filter(([, value]) => value !== undefined),
      ),
  };
}

function controlFor(member, value) {
  if (member.kind === 'lines' || member.kind === 'some') return listControl(member, value);
  if (member.kind === 'yes-no' || member.kind === 'choice') return choiceControl(member, value);
  const input = h('input', {
    ...(member.kind === 'number' ? { type: 'number', min: 1, max: 1_000_000 } : {}),
    value: value ?? '',
    autocapitalize: 'none',
    spellcheck: 'false',
  });
  const read = () =>
    input.value.trim() === ''
      ? undefined
      : member.kind === 'number'
        ? Number(input.value)
        : input.value.trim();
  return { name: member.name, whole: field(member.label, input, hintOf(member)), value: read };
}

function choiceControl(member, value) {
  const values = member.values ?? [
    { value: 'true', text: 'Yes' },
    { value: 'false', text: 'No' },
  ];
  const control = select([LEFT_OUT, ...values], value === undefined ? '' : String(value));
  const read = () => {
    if (control.value === '') return undefined;
    return member.kind === 'yes-no' ? control.value === 'true' : control.value;
  };
  return { name: member.name, whole: field(member.label, control, hintOf(member)), value: read };
}

/** A list that is left out does not limit; an empty one allows nothing. */
function listControl(member, value) {
  const limit = checkbox(member.limit, value !== undefined);
  const list = member.kind === 'lines' ? linesControl(member, value ?? []) : someControl(member, value ?? []);
  const show = () => {
    list.whole.hidden = !limit.input.checked;
  };
  limit.input.addEventListener('change', show);
  show();
  const whole = h(
    'fieldset',
    { class: 'list-field' },
    h('legend', {}, member.label),
    limit.whole,
    list.whole,
  );
  return { name: member.name, whole, value: () => (limit.input.checked ? list.value() : undefined) };
}

function linesControl(member, value) {
  const text = h(
    'textarea',
    { rows: Math.max(2, value.length + 1), spellcheck: 'false', 'aria-label': member.label },
    value.join('\n'),
  );
  const read = () =>
    text.value
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  return {
    whole: h('div', { class: 'field' }, text, member.hint && h('p', { class: 'soft hint' }, hintOf(member))),
    value: read,
  };
}

function someControl(member, value) {
  const boxes = member.values.map((one) => ({ ...one, ...checkbox(one.text, value.includes(one.value)) }));
  return {
    whole: h(
      'div',
      { class: 'field' },
      boxes.map(({ whole }) => whole),
      member.hint && h('p', { class: 'soft hint' }, hintOf(member)),
    ),
    value: () => boxes.filter(({ input }) => input.checked).map((box) => box.value),
  };
}

function jsonField(value) {
  const text = h('textarea', { rows: 16, required: true, spellcheck: 'false', class: 'mono' });
  if (Object.keys(value).length > 0) text.value = JSON.stringify(value, null, 2);
  const readJson = () => {
    try {
      return JSON.parse(text.value);
    } catch (error) {
      throw problemOf(`This is no JSON: ${error.message}.`);
    }
  };
  return { text, read: readJson };
}

function hintOf({ hint }) {
  return hint && withCode(hint);
}

function group(title, fields) {
  return h(
    'fieldset',
    { class: 'group card padded' },
    h('legend', {}, title),
    h('div', { class: 'fields' }, fields),
  );
}
