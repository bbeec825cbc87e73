// Reads the fields of a sent form.

/** A field of a sent form, as it was typed. */
export function typedIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value : '';
}

/** A field of a sent form, without blanks around it. */
export function textIn(data: FormData, name: string): string {
  return typedIn(data, name).trim();
}

/** All fields of a sent form. */
export function textsIn(data: FormData): Record<string, string> {
  return Object.fromEntries([...data.keys()].map((name) => [name, textIn(data, name)]));
}
