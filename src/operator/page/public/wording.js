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
const FLOWS = { embed: 'Embedded login', exchange: 'Token exchange' };
const EVENTS = {
  'svc.audit.token-exchange.failed': 'Token exchange',
  'svc.audit.token-exchange.embed-login-failed': 'Embedded login',
  'svc.audit.api.refused': 'API call',
};

const numbers = new Intl.NumberFormat(LANGUAGE, { maximumFractionDigits: 1 });
const moments = new Intl.DateTimeFormat(LANGUAGE, {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' },
});
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'always' });

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
  const parts = Object.fromEntries(
    moments.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]),
  );
  const offset = parts.timeZoneName === 'GMT' ? 'UTC' : parts.timeZoneName.replace('GMT', 'UTC');
  return `${parts.day} ${parts.month} ${parts.year}, ${parts.hour}:${parts.minute}:${parts.second} ${offset}`;
}

/**
 * A moment for people and for programs.
 * @param {string | null} moment ISO 8601
 * @param {string} otherwise said where there is none
 */
export function time(moment, otherwise = 'never') {
  // What ends a licence may be no date.
  if (Number.isNaN(Date.parse(moment))) return h('span', { class: 'soft' }, moment ?? otherwise);
  return h('time', { datetime: moment, title: fromNow(moment) }, momentInWords(moment));
}

/** The same, with how far away it is. */
export function timeFromNow(moment, otherwise = 'never') {
  const made = time(moment, otherwise);
  if (made.tagName !== 'TIME') return made;
  return h('span', {}, made, ' ', h('span', { class: 'soft nowrap' }, `(${fromNow(moment)})`));
}

/** `3 minutes ago`, `in 2 days`. */
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

/** What was refused, by the name of its event. */
export function eventInWords(event) {
  return EVENTS[event] ?? event.replace(/^svc\.audit\./, '');
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
