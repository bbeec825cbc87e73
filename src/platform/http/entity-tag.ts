// Checks conditional requests for files (RFC 9110 §13).

/** Whether `If-None-Match` names a tag. It compares weakly: a proxy that compresses marks our tags as weak (§13.1.2). */
export function namesEntityTag(ifNoneMatch = '', entityTag: string): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag);
}
