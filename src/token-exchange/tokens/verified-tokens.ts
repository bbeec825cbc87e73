// Remembers access tokens whose signature was verified, so that a script that calls often is verified once.
import { hash } from 'node:crypto';

/** Some 10 MB when full. */
const MAX_TOKENS = 10_000;

/**
 * Contents of tokens by the SHA-256 of all characters, so that tokens with common parts share no entry (CVE-2026-35039 of another
 * product). Only the signature's verdict is remembered, which never changes; whether a token has expired, and who its users are
 * now, is asked at each call. The oldest entries go first, and with each that comes those that are over: so memory follows the
 * tokens that live.
 */
export class VerifiedTokens<Content> {
  private readonly contents = new Map<string, Content>();

  /** @param isOver whether what was read of a token is of no use any more */
  constructor(
    private readonly isOver: (content: Content) => boolean,
    private readonly maxTokens = MAX_TOKENS,
  ) {}

  find(token: string): Content | undefined {
    return this.contents.get(keyOf(token));
  }

  remember(token: string, content: Content): void {
    this.makeRoom();
    this.contents.set(keyOf(token), content);
  }

  /** From the oldest on, up to the first that has its place. */
  private makeRoom(): void {
    for (const [key, content] of this.contents) {
      if (this.contents.size < this.maxTokens && !this.isOver(content)) return;
      this.contents.delete(key);
    }
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64');
}
