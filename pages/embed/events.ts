// The events of a frame, and the errors of its calls.

/** A session. `expiresAt` is ISO 8601, `userId` the instance's own id. */
export interface EmbeddedSession {
  expiresAt: string;
  userId: string;
}

/** Why a login, renewal or sign-out has failed. */
export interface LoginFailure {
  /** The instance's code, or one of the script's own. */
  error: string;
  /** The request's id, by which the operator finds the cause. Only if the instance has refused the login. */
  requestId?: string;
  /** The time that the instance asks to wait before another try. */
  retryAfterSeconds?: number;
}

/**
 * The rejection of `login`, `renew` or `logout`. `error` is the event's, or `given_up` if another call has replaced this one. `cause`
 * is the reason why there is no token.
 */
export interface EmbeddedInstanceError extends Error, LoginFailure {
  during: 'login' | 'renewal' | 'logout';
}

/** The events with their details. */
export interface EmbeddedInstanceEvents {
  /** A login or renewal has succeeded, or an earlier session continues. */
  'session-ready': EmbeddedSession;
  /** The session ends in 60 seconds, or in half its time if that is under two minutes. Fetch a token and `renew`. */
  'session-expiring': { expiresAt: string };
  /** `revoked`: an operator, or a sign-out everywhere, has ended the session. */
  'session-ended': { reason: 'expired' | 'signed-out' | 'signed-out-by-provider' | 'revoked' };
  /** A login or renewal has failed. */
  'login-failed': { during: 'login' | 'renewal' } & LoginFailure;
  /** `logout` has failed. It is tried again once the browser is online. */
  'logout-failed': LoginFailure;
  /** The visitor asks for another login. */
  retry: Record<string, never>;
  /** The frame was moved in the document; its unsaved input is lost. */
  reloaded: Record<string, never>;
  /** The frame shows another view at this path. */
  navigated: { path: string };
  /** The height of the frame's page in CSS pixels. */
  resize: { height: number };
}
