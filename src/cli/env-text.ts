// Writes variables as an env file, and says in what an env file that is there differs from them.
import { parseEnv } from 'node:util';

/** Text that needs no quotes in the service, a shell or Docker. */
const PLAIN = /^[\w./:@%+=,-]*$/;
const QUOTES = ["'", '"', '`'];

export function envText(values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}\n`);
  return `# Created by svc-admin init. docs/configuration.md describes all variables.\n${lines.join('')}`;
}

/** Which variables are missing or have another value, by name alone; undefined where none is. Others may be there too. */
export function envDifference(text: string, values: Readonly<Record<string, string>>): string | undefined {
  const found = parseEnv(text);
  const names = Object.keys(values);
  const missing = names.filter((name) => found[name] === undefined);
  const other = names.filter((name) => found[name] !== undefined && found[name] !== values[name]);
  const parts = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(', ')}`]),
    ...(other.length === 0 ? [] : [`has another value for ${other.join(', ')}`]),
  ];
  return parts.length === 0 ? undefined : parts.join(', and ');
}

/** Each quote takes everything as it is but itself; double ones turn `\n` into a line break, so they come second. */
function quoted(value: string): string {
  if (PLAIN.test(value)) return value;
  const quote = QUOTES.find((each) => !value.includes(each)) ?? "'";
  return `${quote}${value}${quote}`;
}
