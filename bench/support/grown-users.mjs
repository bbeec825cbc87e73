// The users with which the generator fills a database, and logins of them.
import { randomInt } from 'node:crypto';

export const SUBJECT_PREFIX = 'grown-';
/** One user in so many has workflows, a full page and more of them. */
export const USERS_PER_AUTHOR = 50;

/** Makes claim sets of so many logins, spread over all users at random. */
export function grownLogins(users) {
  return (count) => Array.from({ length: count }, () => claimsOf(randomInt(1, users + 1)));
}

/** The same of users who have workflows. */
export function grownAuthors(users) {
  const authors = Math.floor(users / USERS_PER_AUTHOR);
  return (count) =>
    Array.from({ length: count }, () => claimsOf(randomInt(1, authors + 1) * USERS_PER_AUTHOR));
}

/** What their tokens say about them: nothing that would change a user. */
function claimsOf(number) {
  const sub = `${SUBJECT_PREFIX}${number}`;
  return { sub, email: `${sub}@partner.example` };
}
