// Says what an event of the trail holds: in a row in a few words, and as a whole, by terms.
import { code, facts, h, isolated } from './dom.js';
import { address } from './instance-api.js';
import { counted, roleInWords, valueInWords, wholeTime } from './wording.js';

/** Members of payloads whose names are no words. */
const TERMS = {
  ...{ kid: 'Key id', iss: 'Issuer', sub: 'Subject', way: 'Done', things: 'About' },
  ...{ from: 'Before', to: 'After', entry: 'Entry' },
};
const WAYS = {
  operator: 'at this page',
  service: 'by a command, through the service',
  database: 'by a command, on the database',
};

/** What stands in a row. @returns {(string | Node)[]} */
export function whatOf(payload) {
  const { operation, method, route, entry, change, issuer, cause, sessions, from, to, by, clientAddress } =
    payload;
  const parts = [
    operation && code(operation),
    method && code(`${method} ${route}`),
    entry ? isolated(entry) : changeOf(from, to),
    change && worded(change),
    issuer && isolated(issuer),
    cause && worded(cause),
    sessions !== undefined && counted(sessions, 'session'),
    by && `by ${by}`,
  ].filter(Boolean);
  const shown = parts.length > 0 ? parts : [clientAddress ? `from ${clientAddress}` : '—'];
  return shown.flatMap((part, index) => (index === 0 ? [part] : [' · ', part]));
}

/** All of an event. */
export function eventFacts({ event, occurredAt, requestId, clientRequestId, payload }) {
  const members = Object.entries(payload).filter(([, value]) => !isEmpty(value));
  return facts([
    ['Event', event && code(event)],
    ['Time', occurredAt && wholeTime(occurredAt)],
    ['Request', requestId && h('a', { href: address('#/requests/?', requestId) }, code(requestId))],
    ["The client's request id", clientRequestId && isolated(clientRequestId)],
    ...members.map(([name, value]) => [
      termOf(name),
      name === 'way' ? (WAYS[value] ?? value) : valueOf(value),
    ]),
  ]);
}

/** `sessionFamilyId` as `Session family id`. */
function termOf(name) {
  if (TERMS[name] !== undefined) return TERMS[name];
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function isEmpty(value) {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function valueOf(value) {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => h('div', {}, valueOf(one)));
  if (typeof value !== 'object' || value === null) return isolated(valueInWords(String(value)));
  return Object.entries(value).map(([name, one]) => h('div', {}, `${termOf(name)}: `, valueOf(one)));
}

/** `ended-by-operator` as `ended by operator`. */
function worded(word) {
  return word.replaceAll('-', ' ');
}

/** Of a user or a role. */
function changeOf(from, to) {
  const texts = [from, to].map((state) => state && stateOf(state));
  if (texts.every(Boolean)) return texts.join(' → ');
  return (texts[0] && `deleted: ${texts[0]}`) || (texts[1] && `new: ${texts[1]}`);
}

function stateOf(state) {
  if (typeof state === 'string') return roleInWords(state);
  return `${roleInWords(state.role)}${state.enabled ? '' : ', disabled'}`;
}
