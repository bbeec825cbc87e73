// Ids of what is stored.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID, in any case of letters. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
