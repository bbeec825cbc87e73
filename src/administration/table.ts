// Formats rows as a table for the terminal.

const GAP = '  ';

/**
 * Columns are as wide as their widest cell; the last one is not padded. Ends with a newline; empty without
 * rows.
 */
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

export function tableOf<Item>(headings: readonly string[], rowOf: (item: Item) => readonly string[]) {
  return (items: readonly Item[]): string => renderTable(headings, items.map(rowOf));
}

/** Marks an address with non-ASCII letters, which may look like another address. */
export function markedAddress(email: string): string {
  return /[^ -~]/.test(email) ? `${email} (not ASCII)` : email;
}

/** A given name in JSON's notation. */
export function quoted(name: string): string {
  return JSON.stringify(printable(name));
}

/** Findings about entries or settings, most serious first; each ends with a newline. */
export function findingLines(found: {
  readonly problems?: readonly string[];
  readonly warnings: readonly string[];
}): string[] {
  const { problems = [], warnings } = found;
  return [
    ...problems.map((problem) => `problem: ${problem}\n`),
    ...warnings.map((warning) => `warning: ${warning}\n`),
  ];
}

/** Replaces characters with which foreign text could move the terminal's cursor or end a line. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}
