// Lays rows out under headings, for people at a terminal.

const GAP = '  ';

/** Columns are as wide as their widest cell; the last one is not filled up. Ends with a newline; empty without rows. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const rendered = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
  return `${rendered.join('\n')}\n`;
}

/** The text of a list: a row for each item. */
export function tableOf<Item>(headings: readonly string[], rowOf: (item: Item) => readonly string[]) {
  return (items: readonly Item[]): string => renderTable(headings, items.map(rowOf));
}

/** An address in which letters of other scripts may look like those of another address is marked. */
export function markedAddress(email: string): string {
  return /[^ -~]/.test(email) ? `${email} (not ASCII)` : email;
}

/** A name that was given, as JSON would write it. */
export function quoted(name: string): string {
  return JSON.stringify(printable(name));
}

/** What was found about entries or settings, the gravest first; each ends with a newline. */
export function findingLines(found: {
  readonly problems?: readonly string[];
  readonly warnings: readonly string[];
  readonly notes?: readonly string[];
}): string[] {
  const { problems = [], warnings, notes = [] } = found;
  return [
    ...problems.map((problem) => `problem: ${problem}\n`),
    ...warnings.map((warning) => `warning: ${warning}\n`),
    ...notes.map((note) => `note: ${note}\n`),
  ];
}

/** Text of others must not move the cursor of a terminal, or end a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}
