// The users that are known to every server before anything is measured.

const COUNT = 1_000;

/** What their tokens say about them: nothing that would change a user. */
export const RESIDENTS = Array.from({ length: COUNT }, (_, index) => {
  const name = `resident-${String(index).padStart(4, '0')}`;
  return { sub: name, email: `${name}@partner.example` };
});

/** Claim sets of so many logins, spread evenly over the users. */
export function logins(count) {
  return Array.from({ length: count }, (_, index) => RESIDENTS[index % RESIDENTS.length]);
}
