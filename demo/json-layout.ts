// Formats JSON for reading. Short values stay on one line, and long values are split and indented.

const LINE_LENGTH = 88;

/** The value as JSON. `depth` is its current indentation level. */
export function layOut(value: unknown, depth = 0): string {
  const onOneLine = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return onOneLine;
  if (depth > 0 && depth * 2 + onOneLine.length <= LINE_LENGTH) return onOneLine;
  const members = Array.isArray(value)
    ? value.map((element) => layOut(element, depth + 1))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${layOut(member, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const indent = '  '.repeat(depth);
  return members.length === 0
    ? `${open}${close}`
    : `${open}\n${members.map((line) => `${indent}  ${line}`).join(',\n')}\n${indent}${close}`;
}
