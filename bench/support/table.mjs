// Lays rows of text out in columns.

/** Text is set flush left; from the second row on numbers are set flush right, with the heading of their column. */
export function table(rows) {
  const columns = rows[0].map((_, column) => rows.map((row) => row[column]));
  const laidOut = columns.map(aligned);
  return rows
    .map((_, row) =>
      laidOut
        .map((cells) => cells[row])
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function aligned(cells) {
  const width = Math.max(...cells.map((cell) => cell.length));
  const areNumbers = cells.slice(1).every((cell) => /^-?[\d.]+$/.test(cell));
  return cells.map((cell) => (areNumbers && cells.length > 1 ? cell.padStart(width) : cell.padEnd(width)));
}
