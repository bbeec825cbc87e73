// Requests of a page whose session is a cookie.
import type { Authentication, Call } from './api.js';

/**
 * A login in another frame changes the cookie under a page. The page names its user, so that it never reads or writes as another one
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

  /** Another login may have ended this session a moment before its own cookie is there. */
  get mayBeLate(): boolean {
    return this.userId !== undefined;
  }
}
