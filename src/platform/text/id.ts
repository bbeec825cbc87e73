// Checks ids of stored objects.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a string is a UUID, in upper or lower case. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
