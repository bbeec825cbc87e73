// The ports of a login's sessions.
import type { Transaction } from '../../platform/database/transaction.js';
import type { AuditEvent, RecordedWork } from '../audit/audit-trail.js';
import type { NewSession } from '../login/session.repository.js';
import type { ExternalLogin, IssuerKey, Logout } from '../revocation/revocations.js';

/** A login that opens a session. */
export interface SessionLogin {
  readonly userId: string;
  /** The user's access generation when the login was decided. Each use of the session compares it. */
  readonly accessGeneration?: string;
  /** The origin of the page that posted the login, if it named one: the page's host. */
  readonly loginOrigin: string | undefined;
  /** The `Cookie` header of the login, for the product's earlier sessions. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
  /** The key that signed for the user; its revocation must end the session. */
  readonly signedBy: readonly IssuerKey[];
  /** The external login. The session must end if its provider signs the user out, as `Revocations.refuses` says. */
  readonly externalLogin: ExternalLogin;
}

/** An opened session for a browser. */
export interface OpenedSession {
  /** The value of the `Set-Cookie` header. Secret. */
  readonly setCookie: string;
  /** Its id for the trail, shared with its renewals. Not secret. */
  readonly familyId?: string;
  /** Further events, such as the end of another user's session, to be recorded with the login. */
  readonly events: readonly AuditEvent[];
}

/** A login that opens or renews a session without a cookie, bound to a key of the page. */
export interface BoundLogin extends Omit<SessionLogin, 'cookies' | 'loginOrigin'> {
  /** The origin of the page that contains the frame. */
  readonly loginOrigin: string;
  /** The thumbprint (RFC 7638) of the page's proved key. */
  readonly keyThumbprint: string;
  /** The session token of a renewal; undefined if the login opens a new session. Secret. */
  readonly renewedToken: string | undefined;
}

/** An opened or renewed session for a page. */
export interface OpenedBoundSession extends Pick<OpenedSession, 'familyId' | 'events'> {
  /** The page sends it by the scheme `DPoP` with each call. Secret. */
  readonly sessionToken: string;
  readonly lifetimeSeconds: number;
  readonly expiresAt: Date;
}

/** A session that opens when its row is inserted. */
export interface MadeSession<Opened> {
  readonly session: NewSession;
  /** The answer, once the row is inserted. */
  readonly opened: Opened;
}

/** Creates sessions without a transaction and without side effects. */
export interface SessionMaker {
  /** @returns undefined if the login carries earlier sessions, which need a transaction */
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
   * Opens a session that is bound to a key, or renews one, which keeps its token and key. Without this method a login with
   * `answer=session` gets 501.
   * @returns undefined if the session to renew has ended, or has another key
   */
  openBound?(transaction: Transaction, login: BoundLogin): Promise<OpenedBoundSession | undefined>;

  /**
   * Ends the live sessions of external logins that their provider has signed out. Without this method, only `Revocations` refuses
   * these sessions, and events do not report their number.
   * @returns their number, and events to be recorded
   */
  endLogins?(transaction: Transaction, logout: Logout, requestId: string): Promise<RecordedWork<number>>;
}
