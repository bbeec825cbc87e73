// Opens, renews, finds and ends browser sessions, both in cookies and bound to a key of the page.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { newRequestId } from '../../platform/http/http-messages.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { AuditEvent, AuditPayloads, RecordedWork } from '../audit/audit-trail.js';
import { AuditBus, auditEvent } from '../audit/audit-trail.js';
import type {
  BoundLogin,
  MadeSession,
  OpenedBoundSession,
  OpenedSession,
  SessionLogin,
  SessionMaker,
} from '../host/logins.js';
import { SessionOpener } from '../host/logins.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { ClockDifference } from '../replay/clock-difference.js';
import type { IssuerKey, Logout } from '../revocation/revocations.js';
import { Revocations } from '../revocation/revocations.js';
import type { SessionSettings } from '../settings/token-exchange.options.js';
import type { DeletedSession, NewSession, SessionKind, WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';
import type { SessionCookieReader } from './session-cookie.js';
import { clearingCookies, SESSION_OPTIONS, sessionCookie, sessionCookieReader } from './session-cookie.js';

const ID_BYTES = 32;
/** For requests in progress with the previous cookie. */
const GRACE_AFTER_RENEWAL_MS = 30_000;
/** Users whose excess sessions one transaction ends. */
const USERS_AT_ONCE = 100;

/** The prefix of session tokens, so that nobody mistakes one for an access token. */
const BOUND_PREFIX = 'svs_';
/** The least time between two notes of a session's use. */
const USE_NOTED_EVERY_MS = 10_000;

/** Whether a credential is the session token of a bound session. */
export function isSessionToken(credential: string): boolean {
  return credential.startsWith(BOUND_PREFIX);
}

/** Why sessions were ended before their time. */
type EndCause = AuditPayloads['svc.audit.session.ended']['cause'];

@Injectable()
export class SessionService extends SessionOpener implements SessionMaker {
  override readonly sessionMaker: SessionMaker = this;
  private readonly idsIn: SessionCookieReader;

  constructor(
    private readonly sessions: SessionRepository,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    private readonly clocks: ClockDifference,
    @Inject(SESSION_OPTIONS) private readonly options: SessionSettings,
    private readonly audit: AuditBus,
    @Inject(LOGGER) private readonly log: Log,
  ) {
    super();
    this.idsIn = sessionCookieReader(options.cookieName);
  }

  /**
   * Opens a session under a new random id, in the family of this user's latest session in the request. The request's other
   * sessions end with their families: another user's, or those of the browser's other cookie jar.
   * @rule D26 A session lives for the configured time from its login, or until 30 seconds after its renewal.
   */
  async open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession> {
    const { cookies, requestId, signedBy: keys } = login;
    const carried = await this.findLive(this.idsIn(cookies), transaction);
    const renewedId = await this.renewedFamily(transaction, carried, login);
    const familyId = renewedId ?? randomUUID();
    const others = carried.map((session) => session.familyId).filter((id) => id !== familyId);
    const events = await this.endFamilies(transaction, others, requestId, 'replaced');

    const { session, setCookie } = this.ofCookie(login, familyId);
    const renewed = carried.filter((one) => one.familyId === renewedId);
    await this.sessions.insert(transaction, { ...session, signedBy: keysOf(keys, renewed) });
    return { setCookie, familyId, events };
  }

  make(login: SessionLogin): MadeSession<OpenedSession> | undefined {
    if (this.idsIn(login.cookies).length > 0) return undefined;
    const { session, setCookie } = this.ofCookie(login, randomUUID());
    return { session, opened: { setCookie, familyId: session.familyId, events: [] } };
  }

  /**
   * Opens a session that is bound to the key of a page, or extends one: its session token and key stay, so that calls in progress
   * succeed.
   * A session that was signed out meanwhile stays ended (D28).
   * @throws OAuthRefusal `session_of_another_user`
   */
  override async openBound(
    transaction: Transaction,
    login: BoundLogin,
  ): Promise<OpenedBoundSession | undefined> {
    const { renewedToken, keyThumbprint, userId } = login;
    if (renewedToken === undefined) {
      const { session, opened } = this.newBound(login);
      await this.sessions.insert(transaction, session);
      return opened;
    }
    const found = await this.findBound(renewedToken, transaction);
    if (found?.keyThumbprint !== keyThumbprint) return undefined;
    if (found.userId !== userId) throw new OAuthRefusal('session_of_another_user', { userId });
    const { familyId, signedBy } = found;
    const session = this.fresh(login, familyId, hashOf(renewedToken));
    await this.sessions.extend(transaction, {
      ...session,
      signedBy: [...(signedBy ?? []), ...session.signedBy],
    });
    return this.openedBound(session, renewedToken);
  }

  makeBound(login: BoundLogin): MadeSession<OpenedBoundSession> | undefined {
    return login.renewedToken === undefined ? this.newBound(login) : undefined;
  }

  private newBound(login: BoundLogin): MadeSession<OpenedBoundSession> {
    const sessionToken = BOUND_PREFIX + newId();
    const session = this.fresh(login, randomUUID(), hashOf(sessionToken));
    return { session, opened: this.openedBound(session, sessionToken) };
  }

  private openedBound({ familyId, expiresAt }: NewSession, sessionToken: string): OpenedBoundSession {
    const { lifetimeSeconds } = this.options;
    return { sessionToken, lifetimeSeconds, expiresAt, familyId, events: [] };
  }

  /** A session under a new random id. */
  private ofCookie(
    login: SessionLogin,
    familyId: string,
  ): { readonly session: NewSession; readonly setCookie: string } {
    const id = newId();
    const setCookie = sessionCookie(id, this.options.lifetimeSeconds, this.options);
    return { session: this.fresh(login, familyId, hashOf(id)), setCookie };
  }

  private fresh(login: SessionLogin | BoundLogin, familyId: string, idHash: Buffer): NewSession {
    const { userId, accessGeneration, loginOrigin, signedBy, externalLogin } = login;
    const now = this.clocks.databaseNow();
    return {
      idHash,
      userId,
      familyId,
      createdAt: this.clock.now(),
      expiresAt: new Date(now.getTime() + this.options.lifetimeSeconds * 1000),
      signedBy,
      externalLogin,
      loginOrigin: loginOrigin ?? null,
      accessGeneration: accessGeneration ?? null,
      keyThumbprint: 'keyThumbprint' in login ? login.keyThumbprint : null,
      usedAt: now,
    };
  }

  /** The live sessions of a request's `Cookie` header, the latest login first. Only the first is used. */
  findCarried(cookies: string | undefined): Promise<WebSession[]> {
    return this.findLive(this.idsIn(cookies));
  }

  /**
   * Ends whole families: all sessions, also those in their grace and those that are being opened.
   * @returns the events for the audit trail
   */
  signOut(transaction: Transaction, familyIds: readonly string[], requestId: string): Promise<AuditEvent[]> {
    return this.endFamilies(transaction, familyIds, requestId, 'signed-out');
  }

  /**
   * Ends all bound sessions that pages of a host origin opened for a user.
   * @returns the events for the audit trail
   */
  async signOutOfHost(
    transaction: Transaction,
    { userId, loginOrigin }: { readonly userId: string; readonly loginOrigin: string },
    requestId: string,
  ): Promise<AuditEvent[]> {
    const familyIds = await this.sessions.findBoundFamilies(transaction, userId, loginOrigin);
    return this.endFamilies(transaction, familyIds, requestId, 'signed-out');
  }

  override async endLogins(
    transaction: Transaction,
    logout: Logout,
    requestId: string,
  ): Promise<RecordedWork<number>> {
    const ended = await this.sessions.endLogins(transaction, logout, this.clocks.databaseNow());
    return { result: ended.length, events: this.eventsOf(ended, requestId, 'signed-out-by-provider') };
  }

  /** Whether the provider of its login has recently ended one of a request's sessions. */
  async wasSignedOutByProvider(kind: SessionKind, ids: readonly string[]): Promise<boolean> {
    const sessions = await this.sessions.findLive(kind, ids.map(hashOf), new Date(0));
    return sessions.some(
      ({ externalLogin, signedBy, createdAt }) =>
        externalLogin !== null &&
        this.revocations.isLoggedOut(externalLogin, signedBy ?? undefined, createdAt.getTime()),
    );
  }

  clearingCookies(): string[] {
    return clearingCookies(this.options);
  }

  /**
   * Ends the least recently used sessions above a user's limit, so a page in view stays. A login above the limit is not
   * refused: a browser without cookies would shut its user out.
   */
  async endTooMany(): Promise<void> {
    const userIds = await this.sessions.findOverLimit(this.options.maxPerUser, this.clocks.databaseNow());
    for (let from = 0; from < userIds.length; from += USERS_AT_ONCE)
      await this.endLeastUsed(userIds.slice(from, from + USERS_AT_ONCE));
  }

  /**
   * @param transaction of a login, which uses the known revocations, because its token is already used up
   * @throws TemporarilyUnavailableException if the revocations are unknown at present
   */
  findLive(ids: readonly string[], transaction?: Transaction): Promise<WebSession[]> {
    return this.findLiveOf('cookie', ids, transaction);
  }

  /**
   * The bound session of a session token, if it has not ended. Whoever sends the token must also prove the session's key.
   * @param transaction of a renewal, which locks the session
   * @throws TemporarilyUnavailableException if the revocations are unknown at present
   */
  async findBound(sessionToken: string, transaction?: Transaction): Promise<WebSession | undefined> {
    const [found] = await this.findLiveOf('bound', [sessionToken], transaction);
    return found;
  }

  /** Notes the use of a session, for the user's limit. The request neither waits for it nor fails with it. */
  noteUse({ idHash, usedAt }: WebSession): void {
    const now = this.clocks.databaseNow();
    if (now.getTime() - usedAt.getTime() < USE_NOTED_EVERY_MS) return;
    this.sessions
      .noteUse(idHash, now)
      .catch((error: unknown) => this.log.debug({ err: error }, 'the use of a session is not recorded'));
  }

  private async findLiveOf(
    kind: SessionKind,
    ids: readonly string[],
    transaction: Transaction | undefined,
  ): Promise<WebSession[]> {
    if (ids.length === 0) return [];
    // Checked before the database is asked, so that no request waits for a database that is away.
    if (transaction === undefined) this.revocations.ensureKnown();
    const now = this.clocks.databaseNow();
    const found = await this.sessions.findLive(kind, ids.map(hashOf), now, transaction);
    return found.filter((session) => !this.isRevoked(session));
  }

  private isRevoked({ createdAt, signedBy, externalLogin }: WebSession): boolean {
    const keys = signedBy ?? undefined;
    const logins = externalLogin === null ? [] : [externalLogin];
    return this.revocations.hasRefused({ keys, logins, sinceMs: createdAt.getTime() });
  }

  /**
   * The family that a login continues; its previous sessions get their grace. Undefined if it was ended meanwhile. A login that
   * may sign in administrators does not renew a session that may not, because it would inherit that session's keys.
   */
  private async renewedFamily(
    transaction: Transaction,
    carried: readonly WebSession[],
    { userId, signedBy }: SessionLogin,
  ): Promise<string | undefined> {
    const limited = signedBy.some(isLimited)
      ? new Set<string>()
      : new Set(carried.filter((one) => one.signedBy?.some(isLimited)).map(({ familyId }) => familyId));
    const familyId = carried.find((one) => one.userId === userId && !limited.has(one.familyId))?.familyId;
    if (familyId === undefined) return undefined;
    const predecessors = carried.filter((session) => session.familyId === familyId);
    const graceEnd = new Date(this.clocks.databaseNow().getTime() + GRACE_AFTER_RENEWAL_MS);
    const idHashes = predecessors.map(({ idHash }) => idHash);
    return (await this.sessions.endBy(transaction, idHashes, graceEnd)) ? familyId : undefined;
  }

  /** Makes an event for each user who lost sessions. */
  private async endFamilies(
    transaction: Transaction,
    familyIds: readonly string[],
    requestId: string,
    cause: EndCause,
  ): Promise<AuditEvent[]> {
    if (familyIds.length === 0) return [];
    const deleted = await this.sessions.deleteFamilies(transaction, familyIds);
    return this.eventsOf(deleted, requestId, cause);
  }

  /** Two instances may delete at once: each skips the rows that the other has locked. */
  private async endLeastUsed(userIds: readonly string[]): Promise<void> {
    const { maxPerUser } = this.options;
    await this.audit.commit(async (transaction) => {
      const now = this.clocks.databaseNow();
      const deleted = await this.sessions.deleteLeastUsed(transaction, userIds, maxPerUser, now);
      return { result: undefined, events: this.eventsOf(deleted, newRequestId(), 'too-many') };
    });
  }

  private eventsOf(deleted: readonly DeletedSession[], requestId: string, cause: EndCause): AuditEvent[] {
    return [...liveByUser(deleted, this.clocks.databaseNow())].map(([subjectUserId, sessions]) => {
      const sessionFamilyIds = [...new Set(sessions.map(({ familyId }) => familyId))];
      return auditEvent(
        'svc.audit.session.ended',
        { occurredAt: this.clock.now(), requestId, subjectUserId },
        { sessions: sessions.length, cause, sessionFamilyIds },
      );
    });
  }
}

/**
 * A renewal adds its key to the keys of the renewed sessions, because it continues their family. Unknown keys stay unknown.
 */
function keysOf(own: readonly IssuerKey[], predecessors: readonly WebSession[]): readonly IssuerKey[] | null {
  const inherited = predecessors.map(({ signedBy }) => signedBy);
  if (inherited.includes(null)) return null;
  return [...inherited.flatMap((keys) => keys ?? []), ...own];
}

function isLimited({ byAdministrator }: IssuerKey): boolean {
  return byAdministrator === true;
}

function liveByUser(sessions: readonly DeletedSession[], now: Date): Map<string, DeletedSession[]> {
  const live = new Map<string, DeletedSession[]>();
  for (const session of sessions.filter(({ expiresAt }) => expiresAt > now))
    live.set(session.userId, [...(live.get(session.userId) ?? []), session]);
  return live;
}

function newId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id, 'utf8').digest();
}
