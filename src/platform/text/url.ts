// Reads addresses.

/**
 * The address that a text is, from a base where it is relative; undefined where it is none.
 * Not by `URL.canParse`: once Node.js 20 has compiled its caller, it reads a text with é as other letters, and denies what the
 * constructor takes or allows what it throws at.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
