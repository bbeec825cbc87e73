// Reads single fields of a form without taking the rest of it apart.

/** Undefined where the field is missing or broken. */
export function fieldOf(form, name) {
  const start = form.startsWith(`${name}=`) ? 0 : form.indexOf(`&${name}=`) + 1;
  if (start === 0 && !form.startsWith(`${name}=`)) return undefined;
  const end = form.indexOf('&', start);
  const encoded = form.slice(start + name.length + 1, end === -1 ? form.length : end);
  // A compact token has nothing to decode.
  return /[%+]/.test(encoded) ? decoded(encoded) : encoded;
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
