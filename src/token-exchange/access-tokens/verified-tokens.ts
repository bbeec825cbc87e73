// Remembers access tokens whose signature was verified, so that a script that calls often is verified once.
import { hash } from 'node:crypto';

/** Some 10 MB when full. */
const MAX_TOKENS = 10_000;

/**
 * What was read of each token, by the SHA-256 of all its characters: no two tokens share an entry, whatever parts they
 * have in common (known from other products: CVE-2026-35039). Only the signature's verdict is remembered, which never
 * changes; whether a token has expired, and who its users are now, is asked at each call. The oldest entries go first.
 */
export class VerifiedTokens<Content> {
  private readonly contents = new Map<string, Content>();

  constructor(private readonly maxTokens: number = MAX_TOKENS) {}

  find(token: string): Content | undefined {
    return this.contents.get(keyOf(token));
  }

  remember(token: string, content: Content): void {
    const [oldest] = this.contents.keys();
    if (this.contents.size >= this.maxTokens && oldest !== undefined) this.contents.delete(oldest);
    this.contents.set(keyOf(token), content);
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64');
}
