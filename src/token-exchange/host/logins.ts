// The ports of a login: the session that it opens, and the page that refuses it.
import type { AuditEvent, RecordedWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { NewSession } from '../login/session.repository.js';
import type { ExternalLogin, IssuerKey, Logout } from '../revocation/external-login.js';

/** A login that opens a session. */
export interface SessionLogin {
  readonly userId: string;
  /** The user's, as this login was decided on: to be compared at each use of the session. */
  readonly accessGeneration?: string;
  /** The origin of the page that posted the login, if it named one: the page's host. */
  readonly loginOrigin: string | undefined;
  /** The `Cookie` header of the login, as it came: what it holds of earlier sessions is the product's matter. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
  /** The key that signed for the user; its revocation must end the session. */
  readonly signedBy: readonly IssuerKey[];
  /** With it, the session must end if its provider signs the user out: `Revocations.refuses` says so. */
  readonly externalLogin: ExternalLogin;
}

/** A session that was opened for a browser. */
export interface OpenedSession {
  /** The value of the `Set-Cookie` header. Secret. */
  readonly setCookie: string;
  /** Its name for the trail, shared with its renewals: no secret. */
  readonly familyId?: string;
  /** What else happened, such as the end of another user's session: to be recorded with the login. */
  readonly events: readonly AuditEvent[];
}

/** A login that opens or renews a session that is bound to a key of the page, and that no cookie carries. */
export interface BoundLogin extends Omit<SessionLogin, 'cookies' | 'loginOrigin'> {
  /** The origin of the page that contains the frame. */
  readonly loginOrigin: string;
  /** The thumbprint (RFC 7638) of the page's key, whose proof was checked. */
  readonly keyThumbprint: string;
  /** The session token of a renewal, as the page sent it; undefined: the login opens a new session. Secret. */
  readonly renewedToken: string | undefined;
}

/** A session that was opened or renewed for a page. */
export interface OpenedBoundSession extends Pick<OpenedSession, 'familyId' | 'events'> {
  /** The page sends it by the scheme `DPoP` with each call. Secret. */
  readonly sessionToken: string;
  readonly lifetimeSeconds: number;
  readonly expiresAt: Date;
}

/** A session that the insertion of its row opens. */
export interface MadeSession<Opened> {
  readonly session: NewSession;
  /** To be answered once the row is there. */
  readonly opened: Opened;
}

/** Makes sessions without a transaction, and touches nothing. */
export interface SessionMaker {
  /** @returns undefined if the login carries earlier sessions, which a transaction must look at */
  make(login: SessionLogin): MadeSession<OpenedSession> | undefined;
  /** @returns undefined if the login renews a session */
  makeBound(login: BoundLogin): MadeSession<OpenedBoundSession> | undefined;
}

/** The product's browser sessions. */
export abstract class SessionOpener {
  /** Lets a login write its session and its event by one statement. Only the package's own sessions have it. */
  readonly sessionMaker?: SessionMaker;

  abstract open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession>;

  /**
   * Opens a session that is bound to a key, or renews one: the session token and the key stay. Without this method a login with
   * `answer=session` gets 501.
   * @returns undefined if the session to be renewed has ended, or has another key
   */
  openBound?(transaction: Transaction, login: BoundLogin): Promise<OpenedBoundSession | undefined>;

  /**
   * Ends the live sessions of external logins that their provider has signed out. Without it they are not counted, and end by what
   * `Revocations` says.
   * @returns how many there were, and what is to be recorded
   */
  endLogins?(transaction: Transaction, logout: Logout, requestId: string): Promise<RecordedWork<number>>;
}
