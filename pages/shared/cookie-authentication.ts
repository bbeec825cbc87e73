// Authenticates requests of a page whose session is a cookie.
import type { Authentication, Call } from './api.js';

/**
 * A login in another frame changes the page's cookie. The page names its user, so that it never reads or writes as another one
 * (D51).
 */
export class CookieAuthentication implements Authentication {
  /** Known after the first answer. */
  userId: string | undefined;

  prepare(_: Call): Promise<RequestInit> {
    const headers: HeadersInit = this.userId === undefined ? {} : { 'x-session-user': this.userId };
    return Promise.resolve({ credentials: 'same-origin', headers });
  }

  learn(): boolean {
    return false;
  }

  /** Another login may have ended this session shortly before its cookie arrives. */
  get mayBeLate(): boolean {
    return this.userId !== undefined;
  }
}
