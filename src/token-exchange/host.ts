// What token exchange needs of its host, the product that it is part of: ports, which the host implements.
//
// Users are the only one that every host must bring. Of the others the package has implementations of its own, which
// token-exchange.parts.ts lists beside those that are no port of these: audit trail, clock, log, leader, notifications. Nothing
// in this folder imports anything of the repository outside it.
import type { AuditEvent } from './audit/audit-event.js';
import type { Transaction } from './database/transaction.js';
import type { Flow } from './flow.js';
import type { VouchingKey } from './revocation/vouching-key.js';

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

/** An external identity: its link to a user is a row of `token_exchange_identity_link`. */
export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** How a user's row is locked: `FOR UPDATE` or `FOR NO KEY UPDATE` of PostgreSQL, or `FOR SHARE`. */
export type UserLock = 'update' | 'share';

/** The product's users. Every method works in the transaction that it is given. */
export abstract class UserDirectory {
  abstract findById(transaction: Transaction, id: string): Promise<HostUser | undefined>;
  /** Finds by e-mail address: case-insensitive, Unicode NFC (D4). */
  abstract findByEmail(transaction: Transaction, email: string): Promise<HostUser | undefined>;
  /** Makes a user; undefined when another user has that e-mail address by now. */
  abstract create(transaction: Transaction, user: NewHostUser): Promise<HostUser | undefined>;
  /**
   * Reads a user and keeps others from changing it until the transaction ends.
   * @param lock `share` is enough where the user is only read: then transactions that do likewise need not wait for one
   *   another. A host may always take the stronger one
   */
  abstract lock(transaction: Transaction, id: string, lock: UserLock): Promise<HostUser | undefined>;
  abstract update(transaction: Transaction, id: string, update: HostUserUpdate): Promise<void>;
}

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
  readonly events: readonly AuditEvent[];
}

/** The local users of a request. */
export interface SettledUsers {
  readonly subjectUserId: string;
  readonly actorUserId?: string;
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

/** A login that opens a session. */
export interface SessionLogin {
  readonly userId: string;
  /** The origin of the page that posted the login, if it named one: the page's host. */
  readonly loginOrigin: string | undefined;
  /** The `Cookie` header of the login, as it came: what it holds of earlier sessions is the product's matter. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
  /** The key that vouched for the user; with it, the session must end if it is revoked. */
  readonly vouchedBy: readonly VouchingKey[];
}

/** A session that was opened for a browser. */
export interface OpenedSession {
  /** The value of the `Set-Cookie` header. Secret. */
  readonly setCookie: string;
  /** What the trail may call it, and those that it is renewed by: no secret. */
  readonly familyId?: string;
  /** What else happened, such as the end of another user's session: to be recorded with the login. */
  readonly events: readonly AuditEvent[];
}

/** A session that can be opened by its row alone. */
export interface PreparedSession extends Pick<LoginSettlement, 'session' | 'maxSessionsPerUser'> {
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
  prepare?(login: Omit<SessionLogin, 'userId'>): PreparedSession | undefined;
}

/** Somebody who has acted, as an issuer knows them: a record, which gives nobody a right. */
export interface PriorActor {
  readonly iss: string;
  readonly sub: string;
}

/** What an access token is to say. */
export interface AccessTokenGrant {
  /** Its `jti`: new, and not secret. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** The issuer of the subject token, recorded as `client_id`. */
  readonly clientId: string;
  /** Who has acted before the actor, the latest first; only with an actor. */
  readonly priorActors?: readonly PriorActor[];
  /** Whose rights a call has that is made with the token: `both` needs actor and subject to have them. Default `actor`. */
  readonly rights?: 'actor' | 'both';
  /** The scopes that are granted, which limit the token; undefined: it is not limited. */
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for; undefined: the host itself. The host then takes it nowhere. */
  readonly audience?: string;
  /** Recorded, not granted (D55). */
  readonly requestedScope?: string;
  /** Recorded, not granted: target resource URIs as they were asked for, with spaces between them. */
  readonly requestedResource?: string;
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The keys that vouched for subject and actor, in this order: with any of them the token must end if it is revoked. */
  readonly vouchedBy: readonly VouchingKey[];
}

export interface IssuedAccessToken {
  /** The compact JWT. Secret. */
  readonly token: string;
}

/** Signs one access token, by a key that is there already. */
export type AccessTokenSigner = (grant: AccessTokenGrant) => IssuedAccessToken;

/**
 * The product's access tokens. An issuer of a host's own has to write down, and its API to enforce, what a grant limits:
 * `rights`, `grantedScopes`, `audience`. The answer of the exchange says so.
 */
export abstract class AccessTokenIssuer {
  /** The `aud` of tokens that are for the host itself, which a client may name as the resource. */
  readonly audience?: string;
  /** Takes the key that signs now, before anything is used up for the token. @throws Error where there is none */
  abstract prepare(): AccessTokenSigner;

  /**
   * Finds the live access token of this product that a text is; undefined for everything else. Who holds it may then end it
   * by itself (RFC 7009): `Revocations.refusesToken` tells so. Without it that endpoint answers 501.
   */
  findLive?(token: string): Promise<LiveAccessToken | undefined>;
}

/** An access token that holds at this moment. */
export interface LiveAccessToken {
  /** Its `jti`. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  readonly expiresAt: Date;
}

/** The steps of the journey that are timed. */
export type Stage = 'verify' | 'consume' | 'resolve' | 'issue' | 'open';

/** How many usable keys an entry of the configuration has. */
export interface KeysHeld {
  readonly entry: string;
  readonly issuer: string;
  readonly count: number;
}

/** A step that a trace shows: a stage of a flow, or the fetch of a key set. */
export type TracedStep =
  { readonly name: Stage; readonly flow: Flow } | { readonly name: 'jwks_fetch'; readonly entry: string };

/** How the fetch of a key set may end. There are no other words, so that they can be labels of a metric. */
export const KEY_SET_FETCH_OUTCOMES = [
  'succeeded',
  /** The set has no usable key: its entry trusts nobody now. */
  'no_usable_key',
  'address_refused',
  'connection_failed',
  'timeout',
  /** Another status than 200, a redirect among them. */
  'status',
  /** Compressed, or too large. */
  'answer_refused',
  'not_a_key_set',
  'internal_fault',
] as const;

export type KeySetFetchOutcome = (typeof KEY_SET_FETCH_OUTCOMES)[number];

/** What is known of the key set of a JWKS entry at this moment. */
export interface KeySetState {
  readonly entry: string;
  readonly issuer: string;
  /** Seconds since the fetch began that brought the keys; undefined before the first success. */
  readonly ageSeconds: number | undefined;
  /** Seconds until the leader fetches again, negative once that is overdue; undefined before the first attempt. */
  readonly nextRefreshSeconds: number | undefined;
  /** Whether the latest fetch failed. */
  readonly isFailing: boolean;
}

/** How many replay records there are. */
export interface ReplayRecords {
  /** Of all of them, as the database itself estimates: no row is read for it. */
  readonly estimate: number;
  /** Expired, and not purged yet; counted up to the limit that was given. */
  readonly expired: number;
}

/**
 * The product's metrics and traces. What is not abstract a host may leave out. No word that is given as a label comes from a
 * client: reasons and outcomes are of fixed sets, entries are named by whoever configures them.
 */
export abstract class ExchangeTelemetry {
  abstract observeStage(flow: Flow, stage: Stage, seconds: number): void;
  abstract countThrottled(flow: ThrottledFlow): void;
  /**
   * Counts a failure that not even the audit trail could take: by a fault of the service, or because the database could not
   * serve.
   */
  abstract countUnrecordedFailure(flow: Flow, reason?: 'internal_error' | 'temporarily_unavailable'): void;
  /** Takes a function that tells the present number of usable keys, to be asked whenever metrics are read. */
  abstract watchKeys(read: () => readonly KeysHeld[]): void;

  /** Counts a request that was refused for what it is, before a token was looked at. @param reason one of a fixed set */
  countRefusal(_flow: ThrottledFlow, _reason: string): void {
    // Nobody counts.
  }

  /**
   * Runs a step: the place for a span around it. Must call `work` once, and end as it does. What `work` throws may hold what a
   * token says: neither its message nor its members belong into a trace.
   */
  traced<T>(_step: TracedStep, work: () => Promise<T>): Promise<T> {
    return work();
  }

  countKeySetFetch(_outcome: KeySetFetchOutcome): void {
    // Nobody counts.
  }

  /** Takes a function that tells of each JWKS entry, to be asked whenever metrics are read. */
  watchKeySets(_read: () => readonly KeySetState[]): void {
    // Nobody watches.
  }

  /** Counts a run of the leader's that deletes expired replay records. */
  countReplayPurge(_outcome: 'succeeded' | 'failed'): void {
    // Nobody counts.
  }

  countPurgedReplayRecords(_count: number): void {
    // Nobody counts.
  }

  /**
   * Takes a function that asks the database, so it is to be called now and then only.
   * @param read given the most expired records to count; rejects with the driver's error
   */
  watchReplayRecords(_read: (atMost: number) => Promise<ReplayRecords>): void {
    // Nobody watches.
  }
}

/** An embedded login that was refused, as far as others may hear of it. */
export interface LoginFailure {
  /** The stable word for programs. */
  readonly word: string;
  readonly requestId: string;
  /** The origin of the page that posted the login, if it named one; not judged. */
  readonly loginOrigin: string | undefined;
}

/** A page as it is answered. */
export interface RenderedPage {
  readonly contentType: string;
  readonly body: string;
}

/** The product's page for a refused login, in the frame in which its own script has posted it. */
export abstract class LoginFailurePage {
  /** Echoes nothing of the request, has no inline script, and tells the word to nobody who may not frame the product. */
  abstract render(failure: LoginFailure): RenderedPage;
}

/** What is throttled: both flows, and the end of single access tokens. */
export type ThrottledFlow = Flow | 'revocation';
