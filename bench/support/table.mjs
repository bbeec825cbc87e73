// Lays rows of text out in columns.

/** The first column is set flush left, numbers flush right. */
export function table(headings, rows) {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => padded(cell, column, widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function padded(cell, column, width) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
