// Parses URLs.

/**
 * Parses a URL, relative to a base if there is one; undefined if it is invalid. Avoids `URL.canParse`: once
 * Node.js 20 has compiled its caller, it misreads strings with letters such as é, and disagrees with the
 * constructor.
 */
export function parsedUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
