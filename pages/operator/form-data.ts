// Reads the fields of a sent form.

/** A field's value as it was typed. */
export function typedIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}

/** A field's value without surrounding blanks. */
export function textIn(data: FormData, name: string): string {
  return typedIn(data, name).trim();
}

/** All fields. */
export function textsIn(data: FormData): Record<string, string> {
  return Object.fromEntries([...data.keys()].map((name) => [name, textIn(data, name)]));
}
