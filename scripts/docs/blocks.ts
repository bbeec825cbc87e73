// Replaces the blocks of a page: what stands between `<!-- docs: NAME -->` and `<!-- end of NAME -->`.

/** @throws Error where the page has no block of that name */
export function withBlock(page: string, name: string, content: string): string {
  const [begin, end] = [`<!-- docs: ${name} -->\n`, `\n<!-- end of ${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`there is no block ${name}`);
  return `${page.slice(0, from)}${begin}\n${content}\n${page.slice(to)}`;
}

/** A list in Markdown: what is explained, and how. */
export function list(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([what, how]) => `- ${what}: ${how}`).join('\n');
}

/** Begins with a capital letter and ends with a full stop. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${clause.endsWith('.') ? '' : '.'}`;
}

/** A table in Markdown, whose empty cells say so. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|') || '–').join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
