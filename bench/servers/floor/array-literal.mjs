// Writes PostgreSQL array literals; several times faster than pg's own way, which asks each member for its type.

export function arrayLiteral(texts) {
  return `{${texts.map(quoted).join(',')}}`;
}

function quoted(text) {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
