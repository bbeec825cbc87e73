// The users that every server knows before anything is measured.

const COUNT = 1_000;

/** The users' claims, which do not change the users. */
export const RESIDENTS = Array.from({ length: COUNT }, (_, index) => {
  const name = `resident-${String(index).padStart(4, '0')}`;
  return { sub: name, email: `${name}@partner.example` };
});

/** The claims of `count` logins, spread evenly over the users. */
export function logins(count) {
  return Array.from({ length: count }, (_, index) => RESIDENTS[index % RESIDENTS.length]);
}
