// What this module needs of the product that it is part of. The product implements these ports; nothing else of it is known here.
import type { Transaction } from '../database/transaction.js';

/** A local user as far as this module is concerned. */
export interface HostUser {
  readonly id: string;
  readonly role: string;
  readonly enabled: boolean;
  readonly givenName: string;
  readonly familyName: string;
}

/** A user to be made: password login stays off, so that only an external token can sign this user in (2.5). */
export interface NewHostUser {
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly role: string;
}

/** What a login may change of a user; undefined leaves the stored value. */
export interface HostUserUpdate {
  readonly givenName?: string;
  readonly familyName?: string;
  readonly role?: string;
}

/** An external identity: its link to a user is a row of `identity_link`. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** The product's users. */
export abstract class UserDirectory {
  /** The user that an identity is linked to, by the last commit: read outside any transaction. */
  abstract findLinked(identity: ExternalIdentity): Promise<HostUser | undefined>;

  // Every other method works in the transaction that it is given.
  abstract findById(transaction: Transaction, id: string): Promise<HostUser | undefined>;
  /** Finds by e-mail address: case-insensitive, Unicode NFC (D4). */
  abstract findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined>;
  /** Makes a user; undefined when another user has that e-mail address by now. */
  abstract create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined>;
  /** Reads a user and keeps others from changing it until the transaction ends. */
  abstract lock(transaction: Transaction, id: string): Promise<HostUser | undefined>;
  abstract update(transaction: Transaction, id: string, update: HostUserUpdate): Promise<void>;
}

/** A session that was opened for a browser. */
export interface OpenedSession {
  /** The value of the `Set-Cookie` header. Secret. */
  readonly setCookie: string;
}

/** The product's browser sessions. */
export abstract class SessionOpener {
  /**
   * Opens a session.
   * @param loginOrigin the origin of the page that posted the login, if it named one: the page's host
   */
  abstract open(
    transaction: Transaction,
    userId: string,
    loginOrigin: string | undefined,
  ): Promise<OpenedSession>;
}

/** What an access token is to say. */
export interface AccessTokenGrant {
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** The issuer of the subject token, recorded as `client_id`. */
  readonly clientId: string;
  readonly scope?: string;
  /** Target resource URIs. */
  readonly resource?: readonly string[];
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
}

export interface IssuedAccessToken {
  /** The compact JWT. Secret. */
  readonly token: string;
  /** Its `jti`; not secret. */
  readonly id: string;
}

/** The product's access tokens. Works without the database, so that it may be called inside a transaction. */
export abstract class AccessTokenIssuer {
  abstract issue(grant: AccessTokenGrant): Promise<IssuedAccessToken>;
}

/** The steps of the journey that are timed. */
export type Stage = 'verify' | 'consume' | 'resolve';

/** How many usable keys an entry of the configuration has. */
export interface KeysHeld {
  readonly entry: string;
  readonly issuer: string;
  readonly count: number;
}

/** The product's metrics. */
export abstract class ExchangeTelemetry {
  abstract observeStage(flow: Flow, stage: Stage, seconds: number): void;
  abstract countThrottled(flow: Flow): void;
  /** Counts a failure, by a fault of the service, that not even the audit trail could take. */
  abstract countUnrecordedFailure(flow: Flow): void;
  /** Takes a function that tells the present number of usable keys, to be asked whenever metrics are read. */
  abstract watchKeys(read: () => readonly KeysHeld[]): void;
}

/** The two ways into the service. */
export type Flow = 'embed' | 'exchange';
