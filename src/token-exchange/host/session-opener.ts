// The port of browser sessions.
import type { AuditEvent } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
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

/** A session as a row of `token_exchange_session`, but for its user. */
export interface NewSession {
  /** Of its random id, by SHA-256. */
  readonly idHash: Buffer;
  /** Shared with the sessions from which it was renewed, and with its own renewals. */
  readonly familyId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** The origin of the page that posted the login; null when it named none. */
  readonly loginOrigin: string | null;
  readonly signedBy: readonly IssuerKey[];
  readonly externalLogin: ExternalLogin;
  /** See `SessionLogin`. */
  readonly accessGeneration?: string;
}

/** A session that can be opened by its row alone. */
export interface PreparedSession {
  readonly session: NewSession;
  /** To be answered once the row is there. */
  readonly opened: OpenedSession;
}

/** The product's browser sessions. */
export abstract class SessionOpener {
  abstract open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession>;

  /**
   * Makes the session of a login that ends no other, and touches nothing; undefined where that has to be looked at. Only for
   * sessions in the table of this package. Without it, or where its row does not come about, `open` is called.
   */
  prepare?(login: Omit<SessionLogin, 'userId' | 'accessGeneration'>): PreparedSession | undefined;

  /**
   * Ends the live sessions of external logins that their provider has signed out. Without it they are not counted, and end by what
   * `Revocations` says.
   * @returns how many there were, and what is to be recorded
   */
  endLogins?(transaction: Transaction, logout: Logout, requestId: string): Promise<RecordedWork<number>>;

  /** Called after each login: ends what is over the limit of a user's sessions, in the background. */
  limit?(userId: string, requestId: string): void;
}
