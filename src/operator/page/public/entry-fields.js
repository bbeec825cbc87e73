// The fields of a trusted entry: what tells it from others, and what its tokens may do.
import { h } from './dom.js';
import { checkbox, field, select, textArea, textInput } from './form.js';
import { problemOf } from './states.js';
import { byLabels, sentence, valueInWords, withCode } from './wording.js';

/**
 * What tells an entry from others, and its keys.
 * @param {string[]} keyAlgorithms that the key of an entry may have
 * @param {'jwks' | 'static'} chosen type
 */
export function identityFields(keyAlgorithms, chosen = 'jwks') {
  const input = (attributes) => textInput('', { required: true, ...attributes });
  const name = input({ pattern: '[a-z0-9][a-z0-9_\\-]*', title: 'small letters, digits, - and _' });
  const issuer = input({ type: 'url' });
  const type = select(
    [
      { value: 'jwks', text: 'A key set that the partner publishes' },
      { value: 'static', text: 'One public key' },
    ],
    chosen,
  );
  const url = input({ type: 'url' });
  const kid = input({});
  const algorithms = select(
    keyAlgorithms.map((value) => ({ value, text: value })),
    'ES256',
  );
  const key = textArea({ rows: 6, required: true, placeholder: '-----BEGIN PUBLIC KEY-----' });
  const ofSet = together({
    url: field(
      'Address of the key set',
      url,
      'An https: address of the partner. The instance fetches it regularly.',
    ),
  });
  const ofKey = together({
    kid: field('Key id', kid, 'The kid in the header of its tokens.'),
    algorithms: field('Algorithm', algorithms),
    key: field('Public key', key, 'PEM. A private key never belongs here.'),
  });
  const choose = () => {
    for (const [place, isMeant] of [
      [ofSet.whole, type.value === 'jwks'],
      [ofKey.whole, type.value === 'static'],
    ]) {
      place.hidden = !isMeant;
      for (const control of place.querySelectorAll('input, select, textarea')) control.disabled = !isMeant;
    }
  };
  type.addEventListener('change', choose);
  choose();
  const places = {
    name: field(
      'Name',
      name,
      'Lower-case letters, digits, - and _. Pages, commands, logs and metrics use this name.',
    ),
    issuer: field('Issuer', issuer, 'The iss claim of its tokens, character by character.'),
    type: field('Keys', type),
    ...ofSet.places,
    ...ofKey.places,
  };
  const fields = group('Whose tokens', [places.name, places.issuer, places.type, ofSet.whole, ofKey.whole]);
  const keys = () =>
    type.value === 'jwks'
      ? { url: url.value.trim() }
      : { kid: kid.value.trim(), algorithms: [algorithms.value], key: `${key.value.trim()}\n` };
  return {
    fields,
    /** By the names of members. */
    places,
    read: () => ({ type: type.value, name: name.value.trim(), issuer: issuer.value.trim(), ...keys() }),
  };
}

function together(places) {
  return { places, whole: h('div', { class: 'fields' }, Object.values(places)) };
}

/**
 * What most entries need, and what an entry has, is in view; the rest of each group is folded.
 * @param {{ title: string, fields: object[] }[]} entryForm as the instance describes it
 * @param {object} definition the entry as it is, or what is filled in
 * @param {{ isNew?: boolean }} how a new entry begins with what most entries need
 */
export function policyFields(entryForm, definition, { isNew = false } = {}) {
  const labels = Object.fromEntries(
    entryForm.flatMap(({ fields }) => fields.map(({ name, label }) => [name, label])),
  );
  const made = entryForm.map(({ title, fields }) => ({
    title,
    controls: fields.map((member) => ({
      ...controlFor({ ...member, labels, isNew }, definition[member.name]),
      isInView: member.isExpected || definition[member.name] !== undefined,
    })),
  }));
  const controls = made.flatMap((one) => one.controls);
  return {
    fields: made.map((one) => {
      const [inView, others] = [true, false].map((is) =>
        one.controls.filter(({ isInView }) => isInView === is).map(({ whole }) => whole),
      );
      return group(one.title, inView, others);
    }),
    /** By the names of members. */
    places: Object.fromEntries(controls.map(({ name, whole }) => [name, whole])),
    labels,
    read: () => valuesOf(controls),
  };
}

function leftOutInWords({ isRequired, leftOut = 'not limited', labels }) {
  if (isRequired) return 'not possible';
  if (typeof leftOut === 'boolean') return leftOut ? 'yes' : 'no';
  const texts = [leftOut].flat().map((one) => byLabels(valueInWords(one), labels));
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function controlFor(given, value) {
  const member = { ...given, hint: sentence(byLabels(given.hint, given.labels)) };
  if (member.kind === 'structure' || member.kind === 'list') return limitControl(member, value);
  if (member.kind === 'flag' || member.kind === 'choice') return choiceControl(member, value);
  const input = h('input', {
    ...(member.kind === 'number' ? { type: 'number', min: member.range[0], max: member.range[1] } : {}),
    value: value ?? '',
    required: member.isRequired,
    autocapitalize: 'none',
    spellcheck: 'false',
  });
  const read = () =>
    input.value.trim() === ''
      ? undefined
      : member.kind === 'number'
        ? Number(input.value)
        : input.value.trim();
  const otherwise = !member.isRequired && withCode(` Left empty: ${leftOutInWords(member)}.`);
  return { name: member.name, whole: field(member.label, input, [member.hint, otherwise]), value: read };
}

/** The label of a flag says what it does. */
function choiceControl(member, value) {
  const isFlag = member.kind === 'flag';
  const values = isFlag
    ? [
        { value: 'true', text: 'Yes' },
        { value: 'false', text: 'No' },
      ]
    : member.values.map((one) => ({ value: one, text: valueInWords(one) }));
  const leftOut = { value: '', text: `As the instance has it: ${leftOutInWords(member)}` };
  const control = select([leftOut, ...values], value === undefined ? '' : String(value));
  const read = () => {
    if (control.value === '') return undefined;
    return isFlag ? control.value === 'true' : control.value;
  };
  return {
    name: member.name,
    whole: field(member.label, control, !isFlag && member.hint),
    value: read,
  };
}

/** A list that is left out does not limit; an empty one allows nothing. */
function limitControl(member, value) {
  const { isRequired, isExpected, isNew } = member;
  const list = limitedTo(member, value);
  const legend = h('legend', { class: isRequired && 'required' }, member.label);
  if (isRequired) {
    const whole = h('fieldset', { class: 'list-field' }, legend, list.whole);
    return { name: member.name, whole, value: list.value };
  }
  const text = member.kind === 'structure' ? 'With these settings' : 'Only these';
  const isOpen = value !== undefined || (isNew && isExpected);
  const limit = checkbox(text, isOpen, { 'aria-label': `${text}: ${member.label}` });
  const leftOut = h('p', { class: 'soft hint' }, 'Left out: ', withCode(leftOutInWords(member)), '.');
  const show = () => {
    list.whole.hidden = !limit.input.checked;
    leftOut.hidden = limit.input.checked;
  };
  limit.input.addEventListener('change', show);
  show();
  const whole = h('fieldset', { class: 'list-field' }, legend, limit.whole, leftOut, list.whole);
  return { name: member.name, whole, value: () => (limit.input.checked ? list.value() : undefined) };
}

function limitedTo(member, value) {
  if (member.kind === 'structure') return structureControl(member, value);
  return member.values === undefined ? linesControl(member, value) : someControl(member, value);
}

function linesControl(member, value = []) {
  const text = h(
    'textarea',
    { rows: Math.max(2, value.length + 1), spellcheck: 'false', 'aria-label': member.label },
    value.join('\n'),
  );
  const read = () => {
    const lines = text.value.split('\n').map((line) => line.trim());
    const named = lines.filter((line) => line !== '');
    // What most entries need is in view, also where this one leaves it out.
    return named.length === 0 && member.isExpected && !member.isRequired ? undefined : named;
  };
  return {
    whole: h('div', { class: 'field' }, text, h('p', { class: 'soft hint' }, 'One a line. ', member.hint)),
    value: read,
  };
}

function someControl(member, value = []) {
  const boxes = member.values.map((one) => ({
    value: one,
    ...checkbox(valueInWords(one), value.includes(one)),
  }));
  return {
    whole: h(
      'div',
      { class: 'field' },
      boxes.map(({ whole }) => whole),
      h('p', { class: 'soft hint' }, member.hint),
    ),
    value: () => boxes.filter(({ input }) => input.checked).map((box) => box.value),
  };
}

function structureControl({ members, labels, isNew }, value = {}) {
  const controls = members.map((member) => controlFor({ ...member, labels, isNew }, value[member.name]));
  return {
    whole: h(
      'div',
      { class: 'fields' },
      controls.map(({ whole }) => whole),
    ),
    value: () => valuesOf(controls),
  };
}

/** Without those that are left out. */
function valuesOf(controls) {
  return Object.fromEntries(
    controls.map(({ name, value }) => [name, value()]).filter(([, value]) => value !== undefined),
  );
}

/** @param {object} value what it holds at first; empty: nothing */
export function jsonField(value) {
  const text = textArea({ rows: 16, required: true });
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

function group(title, fields, others = []) {
  return h(
    'fieldset',
    { class: 'group card padded' },
    h('legend', {}, title),
    fields.length > 0 && h('div', { class: 'fields' }, fields),
    others.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${fields.length > 0 ? 'More settings' : 'Settings'} (${others.length})`),
        h('div', { class: 'fields' }, others),
      ),
  );
}
