// The place that a credential's data is sealed for.

/** Bound to the row: an envelope that is moved to another credential does not open there (D45). */
export function placeOfCredential(id: string): string {
  return `credential:${id}`;
}
