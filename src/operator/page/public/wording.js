// Says times, durations, numbers and names in words, each with its unit.
import { h } from './dom.js';

const LANGUAGE = 'en-GB';
/** Units with their length in seconds, the longest first; months and years are averages. */
const UNITS = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const ROLES = { 'global:owner': 'Owner', 'global:admin': 'Administrator', 'global:member': 'Member' };
const FLOWS = {
  embed: 'Embedded login',
  exchange: 'Token exchange',
  'id-jag': 'Identity assertion',
  'jwt-bearer': 'JWT assertion',
  logout: 'Logout by the provider',
};
/** Of members of a trusted entry. */
const VALUES = {
  ...ROLES,
  ...FLOWS,
  'project:viewer': 'Viewer',
  'project:editor': 'Editor',
  'project:admin': 'Project administrator',
  actor: 'Those of the actor',
  both: 'What both may do',
};
const EVENTS = {
  'svc.audit.token-exchange.failed': 'Token exchange',
  'svc.audit.token-exchange.embed-login-failed': 'Embedded login',
  'svc.audit.token-exchange.succeeded': 'Token exchange',
  'svc.audit.token-exchange.embed-login': 'Embedded login',
  'svc.audit.token-exchange.logout': 'Logout by the provider',
  'svc.audit.token-exchange.logout-failed': 'Logout by the provider',
  'svc.audit.api.called': 'API call',
  'svc.audit.api.refused': 'API call',
};

const numbers = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const moments = new Intl.DateTimeFormat(LANGUAGE, {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
});
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'always', style: 'short' });

/** @param {number} count */
export function number(count) {
  return numbers.format(count);
}

/** `1 session`, `2 sessions`. */
export function counted(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** A moment in the reader's zone, with its offset from UTC. */
export function momentInWords(moment) {
  const { text, zone } = partsOf(moment);
  return `${text} ${zone}`;
}

function partsOf(moment) {
  const parts = Object.fromEntries(
    moments.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]),
  );
  const text = `${parts.day} ${parts.month} ${parts.year}, ${parts.hour}:${parts.minute}:${parts.second}`;
  const zone = parts.timeZoneName === 'GMT' ? 'UTC' : parts.timeZoneName.replace('GMT', 'UTC');
  return { text, zone };
}

/**
 * How far away a moment is, with the whole moment where one points at it.
 * @param {string | null} moment ISO 8601
 * @param {string} otherwise said where there is none
 */
export function time(moment, otherwise = 'never') {
  // What ends a licence may be no date.
  if (Number.isNaN(Date.parse(moment))) return h('span', { class: 'soft' }, moment ?? otherwise);
  return h('time', { datetime: moment, title: momentInWords(moment), class: 'nowrap' }, fromNow(moment));
}

/** The whole moment, with how far away it is. */
export function timeFromNow(moment, otherwise = 'never') {
  if (Number.isNaN(Date.parse(moment))) return time(moment, otherwise);
  return h('span', {}, wholeTime(moment), ' ', h('span', { class: 'soft nowrap' }, `(${fromNow(moment)})`));
}

/** The whole moment. Its zone stands once, where the page says who is signed in. */
export function wholeTime(moment) {
  return h('time', { datetime: moment, title: momentInWords(moment) }, partsOf(moment).text);
}

/** `UTC+01:00`, as it is for the reader at this moment. */
export function zoneInWords() {
  return partsOf(new Date()).zone;
}

/** `3 min ago`, `in 2 days`. */
export function fromNow(moment) {
  const seconds = (new Date(moment) - Date.now()) / 1000;
  const [unit, length] = UNITS.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

/** A duration in its largest unit that leaves at least one: `90 s` are `1.5 minutes`. */
export function duration(seconds) {
  const [unit, length] = UNITS.slice(2).find(([, unitSeconds]) => seconds >= unitSeconds) ?? ['second', 1];
  return counted(Math.round((seconds / length) * 10) / 10, unit);
}

export function roleInWords(role) {
  return ROLES[role] ?? role;
}

export function flowInWords(flow) {
  return FLOWS[flow] ?? flow;
}

/** A value of a trusted entry. */
export function valueInWords(value) {
  return VALUES[value] ?? value;
}

/**
 * A sentence about members and values of an entry, as the fields of its form call them. Some names are words too: these are meant
 * only between backquotes, or where a line begins.
 */
export function byLabels(text, labels) {
  const label = (name) => labels[name] && `“${labels[name]}”`;
  return text
    .replaceAll(/`(?:\[")?([\w:-]+)(?:"\])?`/g, (all, name) => label(name) ?? valued(name) ?? all)
    .replaceAll(/^(\W*)(\w+)(?="?[:[.])/gm, (all, before, name) =>
      label(name) ? before.replace('"', '') + label(name) : all,
    )
    .replaceAll(/\b(?:flows|[a-z]+[A-Z]\w*)\b/g, (name) => label(name) ?? name)
    .replaceAll(/"([\w:-]+)"/g, (all, word) => valued(word) ?? all);
}

function valued(word) {
  return VALUES[word] && `“${VALUES[word]}”`;
}

/** What has happened, by the name of its event. */
export function eventInWords(event) {
  if (EVENTS[event] !== undefined) return EVENTS[event];
  const words = event.replace(/^svc\.audit\./, '').replaceAll(/[.-]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** As `eventInWords`, where no mark beside it says which of two it is. */
export function kindOfEvent(event) {
  const isRefused = EVENTS[event] !== undefined && /(failed|refused)$/.test(event);
  return `${eventInWords(event)}${isRefused ? ', refused' : ''}`;
}

const TERMS = {
  ...{ kid: 'key id', jti: 'token id', sub: 'subject', iat: 'issue time', exp: 'expiry' },
  ...{ dpop: 'DPoP', email: 'e-mail' },
};

/** `token_expired` as `Token expired`. */
export function reasonInWords(reason) {
  const text = reason
    .split('_')
    .map((word) => TERMS[word] ?? word)
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A sentence of a clause without a full stop, with `code` in it as such. */
export function sentence(clause) {
  const text = clause.charAt(0).toUpperCase() + clause.slice(1);
  return withCode(/[.!?]$/.test(text) ? text : `${text}.`);
}

/** What stands between backquotes becomes code. */
export function withCode(text) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? h('code', {}, part) : part));
}

/** The name of a user, or the e-mail address of one without a name. */
export function nameOf({ givenName, familyName, email }) {
  return `${givenName} ${familyName}`.trim() || email;
}
