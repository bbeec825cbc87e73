// Writes variables as an env file.

/** Text that needs no quotes in the service, a shell or Docker. */
const PLAIN = /^[\w./:@%+=,-]*$/;
const QUOTES = ["'", '"', '`'];

export function envText(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `# Created by svc-admin init. docs/configuration.md describes all variables.\n${lines.join('')}`;
}

/** Each quote takes everything as it is but itself; double ones turn `\n` into a line break, so they come second. */
function quoted(value: string): string {
  if (PLAIN.test(value)) return value;
  const quote = QUOTES.find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}
