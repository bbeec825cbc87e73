// Says roles, people, counts and times in words.

const ROLES = new Map([
  ['global:owner', 'Owner'],
  ['global:admin', 'Administrator'],
  ['global:member', 'Member'],
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

// English, as the page is, whatever the browser's language. Numbers always: "yesterday" depends on more than seconds.
const relativeTime = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
const absoluteTime = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' });

/** @param {string} role */
export function roleInWords(role) {
  return ROLES.get(role) ?? role;
}

/** The name of a user, or the e-mail address of one without a name. */
export function nameOf({ givenName, familyName, email }) {
  return `${givenName} ${familyName}`.trim() || email;
}

/** One or two capital letters that stand for a user. */
export function initialsOf({ givenName, familyName, email }) {
  const [first, last] = [givenName, familyName].map(([letter = '']) => letter);
  return (first + last || email.slice(0, 1)).toUpperCase();
}

/** How many workflows are listed; without `hasMore` these are all. */
export function countInWords(count, hasMore) {
  if (hasMore) return `The first ${count} workflows`;
  return count === 1 ? '1 workflow' : `${count} workflows`;
}

/** What the button of a workflow does, and what it is called where its row is not seen. */
export function changeInWords({ active, name }) {
  const verb = active ? 'Deactivate' : 'Activate';
  return { verb, label: `${verb} ${name}` };
}

/** What a reader can do about a failure: without an answer the connection may be at fault. */
export function adviceFor(hasAnswer) {
  return hasAnswer ? 'Please try again in a moment.' : 'Check your connection, then try again.';
}

/**
 * How long ago a moment was; a clock that runs behind the instance's makes no future of it.
 * @param {Date} moment
 * @param {Date} now
 */
export function timeAgo(moment, now) {
  const seconds = (now - moment) / 1000;
  const [unit, length] = UNITS.find(([, unitSeconds]) => seconds >= unitSeconds) ?? [];
  return unit === undefined ? 'just now' : relativeTime.format(-Math.floor(seconds / length), unit);
}

/** The moment itself, in the reader's time zone. */
export function dateInWords(moment) {
  return absoluteTime.format(moment);
}
