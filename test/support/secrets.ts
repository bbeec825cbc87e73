// Finds secrets, which must never appear in a log line or an audit event.

const SECRETS: readonly (readonly [string, RegExp])[] = [
  ['a token', /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/],
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY/],
  ['a private member of a JWK', /"d":"[\w-]{20,}"/],
  ['an e-mail address', /[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i],
];

/** Names the kinds of secrets in a text without repeating them; empty if there are none. */
export function secretsIn(text: string): string[] {
  return SECRETS.flatMap(([what, pattern]) => {
    const found = pattern.exec(text);
    return found === null
      ? []
      : [`${what}, after: ${text.slice(Math.max(0, found.index - 80), found.index)}`];
  });
}
