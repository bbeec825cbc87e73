// The messages between the page in a frame and the script in its host page. Only types, so neither program contains this file.

/** The part of the page's look that the host page decides. */
export interface Look {
  theme?: 'light' | 'dark' | 'auto';
  accent?: string;
  lang?: string;
  hideHeader?: boolean;
  font?: string;
  background?: string;
  fullWidth?: boolean;
}

/**
 * The means to continue a session in another document of the same host page. The private key can be used and posted, but not read.
 * The script keeps it only in memory.
 */
export interface SessionHandle {
  sessionToken: string;
  keys: CryptoKeyPair;
}

/** The host page's settings. */
export interface HostSettings {
  /** Whether the host page listens for `retry`. */
  canRetry: boolean;
  /** Whether the host page fetches another token after a failure. */
  retries: boolean;
  /** Whether the page shows why a login failed. Otherwise the host page does. */
  showsFailures: boolean;
  look: Look;
  /** An absolute address with `{path}`, for links in a new tab. */
  linkTemplate?: string;
  /** `hash`: the host page keeps the history, and the page adds no entry to it. */
  address?: 'hash';
  /** `auto`: the frame is as high as the page, and the host page scrolls. */
  height?: 'auto';
}

/** A request of the script. Its response has the same `id`. Other messages have no `id`. */
interface Asked {
  id: number;
}

export type Hello = { type: 'hello'; handle?: SessionHandle; path: string } & HostSettings;

export type MessageToPage =
  | Hello
  | ({ type: 'login'; token: string; path: string } & Asked)
  | ({ type: 'renew'; token: string } & Asked)
  | { type: 'navigate'; path: string }
  | ({ type: 'appearance' } & Look)
  | ({ type: 'sign-out'; everywhere: boolean } & Asked)
  | { type: 'failure'; during: 'login' | 'renewal'; error: string };

/** Why the page cannot work in this browser or host page. */
export type Cause = 'insecure_page' | 'wrong_address';

/** Why a session has ended. */
export type EndReason = 'expired' | 'signed-out' | 'signed-out-by-provider' | 'revoked';

/** Why a request failed. */
export interface Failure {
  /** The instance's code, or `unreachable`. */
  error: string;
  description?: string;
  requestId?: string;
  retryAfterSeconds?: number;
}

export interface SessionReady {
  /** ISO 8601. */
  expiresAt: string;
  userId: string;
}

/** The id of the answered request. */
type Answer = Partial<Asked>;

/** `isStep` of `navigated`: the visitor has opened or closed a view. `failure`: an attempt failed before it reached the page. */
export type MessageFromPage =
  | { type: 'page-ready'; version: string; jkt?: string; cause?: Cause; description?: string }
  | { type: 'token-needed'; reason: 'start' | 'handle-refused'; jkt: string }
  | ({ type: 'session-ready'; isRenewal: boolean; jkt: string; handle: SessionHandle } & SessionReady &
      Answer)
  | { type: 'session-expiring'; expiresAt: string }
  | ({ type: 'login-failed' | 'renewal-failed' | 'sign-out-failed' } & Failure & Answer)
  | ({ type: 'session-ended'; reason: EndReason } & Answer)
  | { type: 'navigated'; path: string; isStep: boolean }
  | { type: 'resize'; height: number }
  | { type: 'retry' };
