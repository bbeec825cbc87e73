// Replaces the blocks of a page. A block is the content between `<!-- docs: NAME -->` and the next `<!-- end -->`.

/** @throws Error if the page has no block with the name */
export function withBlock(page: string, name: string, content: string): string {
  const begin = `<!-- docs: ${name} -->\n`;
  const from = page.indexOf(begin);
  const to = page.indexOf('\n<!-- end -->', from);
  if (from < 0 || to < from) throw new Error(`there is no block ${name}`);
  return `${page.slice(0, from)}${begin}\n${content}\n${page.slice(to)}`;
}

/** A Markdown list of terms and their explanations. */
export function list(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([what, how]) => `- ${what}: ${how}`).join('\n');
}

/** The clause with a capital letter at its start and a full stop at its end. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${clause.endsWith('.') ? '' : '.'}`;
}

/** A Markdown table. Empty cells show a dash. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|') || '–').join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
