// Makes elements. Whatever comes from outside becomes text, never markup.

/**
 * @param {string} tag
 * @param {object} attributes `class`, `aria-…` and alike as attributes; `on…` as listeners; true and false add or leave out
 * @param {...(Node | string | number | null | undefined | false | Array)} children
 */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(made, name, value);
  made.append(...nodes(children));
  return made;
}

/** Characters that turn the direction of the text around them (Unicode TR9, embeddings, overrides and isolates). */
const DIRECTION = /[\u202A-\u202E\u2066-\u2069]/g;

/** What `append` takes; nothing of null, undefined and false. No part of a text is mirrored that its letters do not ask for. */
function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child).replace(DIRECTION, '')));
}

/** A name or an id of somebody else's, whatever its direction. */
export function isolated(text) {
  return h('bdi', {}, text);
}

/** An e-mail address. One in which letters of other scripts may look like those of another address is marked. */
export function emailAddress(text) {
  return [isolated(text), /[^ -~]/.test(text) && h('span', { class: 'soft' }, ' (not ASCII)')];
}

/** What programs call something. */
export function code(text) {
  return h('code', {}, text);
}

/** One word on how something is. @param {'good' | 'warn' | 'bad' | ''} kind */
export function mark(kind, text) {
  return h('span', { class: `state ${kind}` }, text);
}

/** What is of less weight. */
export function soft(...content) {
  return h('span', { class: 'soft' }, content);
}

export function card(...content) {
  return h('div', { class: 'card padded' }, content);
}

/** @param {string} [look] classes */
export function list(items, look = 'card padded phrases') {
  return h(
    'ul',
    { class: look },
    items.map((item) => h('li', {}, item)),
  );
}

/** Pairs of term and description; those without a description are left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return h(
    'dl',
    { class: 'facts' },
    shown.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value))),
  );
}

let ids = 0;

/** An id that no other element has. */
export function freshId(name) {
  ids += 1;
  return `${name}-${ids}`;
}

function setAttribute(made, name, value) {
  if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
  else if (value === true) made.setAttribute(name, '');
  else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
}
