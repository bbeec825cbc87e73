// Options and events of the script for host pages, and the messages of pages in its frames.

/** How the page in the frame looks; what is left out is left to the instance. */
export interface Appearance {
  /** `auto`, unless given: as the browser is set. */
  theme?: 'light' | 'dark' | 'auto';
  /** Colour of buttons and links, as `#rrggbb`; the page makes it lighter or darker where it could not be read. */
  accent?: string;
  /** Language tag; that of the host page if left out. English where the instance does not speak it. */
  lang?: string;
  /** Whether title, user and sign-out button are left to the host page. */
  hideHeader?: boolean;
  /** Names of fonts that the visitor's machine has, as CSS lists them; the page loads none. */
  font?: string;
  /** The background, as `#rrggbb`, or `transparent`: then `theme` has to suit what is behind the frame. */
  background?: string;
  /** Whether the page is as wide as the frame, however wide that is; else 80rem at most. */
  fullWidth?: boolean;
}

/** How to make a frame. */
export interface EmbeddedInstanceOptions extends Appearance {
  /** The element that the frame is put into; style the `iframe` there. */
  container: Element;
  /** What assistive technology calls the frame. */
  title: string;
  /** Origin of the instance; that of this script if left out. */
  url?: string;
  /** `auto`: the frame is as high as its page, which the host page then scrolls; else as your style says. */
  height?: 'auto';
  /** How long a login or renewal may take until it is given up, in seconds; 30 if left out. */
  loginTimeoutSeconds?: number;
  /**
   * What is shown when a login has failed: a card if left out, nothing for `none`, or an element of yours, which is hidden at other
   * times.
   */
  errorUi?: 'none' | HTMLElement;
}

/** Why a login, renewal or sign-out has failed. */
export interface LoginFailure {
  /** A stable word. */
  error: string;
  /** By which the operator finds the cause, where the instance has refused it. */
  requestId?: string;
  /** How long the instance asks to wait before another try. */
  retryAfterSeconds?: number;
}

/** A session: `expiresAt` is ISO 8601, `userId` the instance's own id. */
export interface EmbeddedSession {
  expiresAt: string;
  userId: string;
}

/**
 * Why a promise of `login`, `renew` or `logout` is rejected. `error` is as `login-failed` and `logout-failed` say it, or `given_up`:
 * another call has taken its place. `cause` is that of a promise of a token.
 */
export interface EmbeddedInstanceError extends Error, LoginFailure {
  during: 'login' | 'renewal' | 'logout';
}

/** The events, with their details. */
export interface EmbeddedInstanceEvents {
  /** A user is signed in, after `login` or `renew`. */
  'session-ready': EmbeddedSession;
  /** The session ends in 60 seconds (a short one after half its time): time to fetch a token and `renew`. */
  'session-expiring': { expiresAt: string };
  /**
   * `revoked`: ended before its time, by a sign-out in another frame for example. `signed-out-by-provider`: by a back-channel
   * logout. `another-user`: another user has signed in in this browser, and this frame shows nothing any more.
   */
  'session-ended': {
    reason: 'expired' | 'signed-out' | 'signed-out-by-provider' | 'revoked' | 'another-user';
  };
  /**
   * `login` or `renew` did not lead to a session; once for each. `error` is the word with which the instance refused it, or one of
   * these. `timeout`; `unreachable`: no page of the instance came. `blocked`: the browser does not let this page post the login.
   * `no_session`: the page came without a session. `another_user`: another user has signed in meanwhile. `no_token`: the promise of a
   * token was rejected.
   */
  'login-failed': { during: 'login' | 'renewal' } & LoginFailure;
  /** `logout` did not reach the instance. It is tried again once the browser is online again. */
  'logout-failed': { error: string };
  /** The visitor asks for another login, by the button of the card, or of the page that says that a session has ended. */
  retry: Record<string, never>;
  /** The frame was moved in the document, so its page was loaded again; what was not saved in it is lost. */
  reloaded: Record<string, never>;
  /** The page in the frame shows something else now, at this path of the instance, which `login` takes. */
  navigated: { path: string };
  /** The page in the frame is so high by now, in CSS pixels. */
  resize: { height: number };
}

/** Messages of pages in frames, to the origin of the login; `page-…` and `retry` go to any page that asks. */
export type FrameMessage = { type: string; isRenewal?: boolean } & LoginFailure &
  EmbeddedSession &
  EmbeddedInstanceEvents['session-ended'] &
  EmbeddedInstanceEvents['navigated'] &
  EmbeddedInstanceEvents['resize'];
