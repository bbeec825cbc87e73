// Says people, roles, numbers and times in the page's language.
import { say } from './words.js';

const ROLES = new Map([
  ['global:owner', 'owner'],
  ['global:admin', 'administrator'],
  ['global:member', 'member'],
]);

/** Units of relative time with their length in seconds, the longest first; months and years are averages. */
const UNITS = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const language = () => document.documentElement.lang;

/** @param {string} role */
export function roleInWords(role) {
  return ROLES.has(role) ? say(ROLES.get(role)) : role;
}

/** The name of a user, or the e-mail address of one without a name. */
export function nameOf({ givenName, familyName, email }) {
  return plainNameOf(`${givenName} ${familyName}`) || plainNameOf(email);
}

/** @param {number} count */
export function numberInWords(count) {
  return new Intl.NumberFormat(language()).format(count);
}

/** How long ago a moment was, both as dates; a clock that runs behind the instance's makes no future of it. */
export function timeAgo(moment, now) {
  const seconds = (now - moment) / 1000;
  const [unit, length] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? [];
  if (unit === undefined) return say('justNow');
  // Numbers always: "yesterday" depends on more than seconds.
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'always' });
  return format.format(-Math.floor(seconds / length), unit);
}

/** The moment itself, in the reader's time zone. */
export function dateInWords(moment) {
  return new Intl.DateTimeFormat(language(), { dateStyle: 'long', timeStyle: 'short' }).format(moment);
}

/** Characters that turn the direction of the text around them (Unicode TR9, embeddings, overrides and isolates). */
const DIRECTION = /[\u202A-\u202E\u2066-\u2069]/g;

/** A name as it is shown: no part of it is mirrored that its letters do not ask for. */
export function plainNameOf(name) {
  return name.replace(DIRECTION, '').trim();
}

/** JSON to be read: what would turn the direction of the text behind it stands as an escape. */
export function plainJsonOf(value) {
  return JSON.stringify(value, null, 2).replace(DIRECTION, (sign) => `\\u${sign.charCodeAt().toString(16)}`);
}

/** The name of a workflow as it is shown: a name of blanks would leave an empty link. */
export function workflowNameOf({ name }) {
  return plainNameOf(name) || say('unnamed');
}
