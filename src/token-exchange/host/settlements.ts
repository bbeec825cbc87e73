// The port of the short way through the database: what one statement does for many requests.
import type { AuditEvent } from '../audit/audit-event.js';
import type { VouchingKey } from '../revocation/vouching-key.js';
import type { ExternalIdentity, NewHostUser } from './users.js';

/** The id of a verified token and the end of its life, in seconds since the Unix epoch. */
export interface TokenUse {
  readonly jti: string;
  readonly exp: number;
}

/** Which roles a user may have; what is not given limits nothing. */
export interface PermittedRoles {
  /** One of these. */
  readonly permittedRoles?: readonly string[];
  /** Not this one. */
  readonly excludedRole?: string;
}

/** A user as a token leaves them: who is otherwise needs a change, or is refused. What is not given may be anything. */
export interface ExpectedUser extends ExternalIdentity, PermittedRoles {
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
}

/** All that the database does for one request whose users need no change. */
export interface Settlement {
  /** The tokens of the request; their ids are consumed, all or none. */
  readonly uses: readonly TokenUse[];
  readonly subject: ExpectedUser;
  readonly actor?: ExpectedUser;
  /** Written with the users' ids, if they are as expected. */
  readonly events: readonly AuditEvent[];
}

/** A session that nothing is to be known of but its user: a row of `token_exchange_session`. */
export interface NewSession {
  /** Of its random id, by SHA-256. */
  readonly idHash: Buffer;
  readonly familyId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly loginOrigin: string | null;
  readonly vouchedBy: readonly VouchingKey[];
}

/** All that the database does for a login whose user needs no change, and whose browser carries no session. */
export interface LoginSettlement {
  readonly uses: readonly TokenUse[];
  readonly subject: ExpectedUser;
  readonly session: NewSession;
  /** With it the user has so many live sessions at most; where there would be more it is not opened. */
  readonly maxSessionsPerUser: number;
  /** Written with the user's id, if the session is opened. */
  readonly events: readonly AuditEvent[];
}

/** A user to be made at the first login of an identity whose address nobody has. */
export interface Newcomer {
  readonly identity: ExternalIdentity;
  readonly user: NewHostUser;
  /** Written in this order if the user is made, under this id: that the user was made, and that the request has succeeded. */
  readonly eventsOf: (userId: string) => readonly [made: AuditEvent, succeeded: AuditEvent];
}

/** A user who was made. */
export interface Provisioned {
  readonly userId: string;
  readonly accessGeneration?: string;
  readonly events: readonly AuditEvent[];
}

/** The local users of a request. */
export interface SettledUsers {
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** `accessGeneration` of both, where the host has them. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
}

/** What became of a settlement: the ids are consumed, and where a user is not as expected nothing else has happened. */
export type Settled =
  { readonly isSettled: true; readonly users: SettledUsers } | { readonly isSettled: false };

/** What became of the settlement of a login. Where its session is not opened nothing of it is written, its events neither. */
export type SettledLogin =
  | { readonly isSettled: true; readonly users: SettledUsers; readonly isOpened: boolean }
  | { readonly isSettled: false; readonly isOpened: false };

/**
 * The short way through the database, for the requests of users who need no change: nearly all. A host need not have one:
 * see consumption/plain-settlements.ts.
 */
export abstract class Settlements {
  /**
   * Consumes the ids; and if all users are linked, enabled and as expected, writes the events, in the same statement.
   * @throws Rejection `token_replayed`; then nothing at all has happened
   */
  abstract settle(settlement: Settlement): Promise<Settled>;

  /**
   * The same for a login, with its session. Never opened is one above the bound of its user's, whoever else logs that user in at the
   * same moment; it may always stay unopened. Without this method sessions are opened in transactions of their own.
   * @throws Rejection as `settle`
   */
  settleLogin?(login: LoginSettlement): Promise<SettledLogin>;

  /**
   * Makes a user, with all that every user has, links the identity and writes the events, in one statement. Without this method
   * users are made in transactions of their own.
   * @returns undefined where the identity is linked already, the address is taken, or a race for one of them was lost: then
   * nothing has happened
   */
  provision?(newcomer: Newcomer): Promise<Provisioned | undefined>;
}
