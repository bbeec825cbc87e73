// Opens, renews, finds and ends browser sessions.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent, AuditPayloads, RecordedWork } from '../audit/audit.bus.js';
import { AuditBus, auditEvent } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Clock } from '../../platform/clock.js';
import type { OpenedSession, SessionLogin } from '../host/logins.js';
import { SessionOpener } from '../host/logins.js';
import { newRequestId } from '../../platform/log/request-id.js';
import type { IssuerKey, Logout } from '../revocation/external-login.js';
import { Revocations } from '../revocation/revocations.js';
import type { SessionSettings } from '../settings/token-exchange.options.js';
import type { SessionCookieReader } from './session-cookie.js';
import { clearingCookies, sessionCookie, sessionCookieReader, SESSION_OPTIONS } from './session-cookie.js';
import type { DeletedSession, NewSession, WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';

const ID_BYTES = 32;
/** For requests that are under way with the cookie of before. */
const GRACE_AFTER_RENEWAL_MS = 30_000;
/** Users whose sessions over the limit one transaction ends. */
const USERS_AT_ONCE = 100;

/** A session that its row alone opens. */
interface MadeSession {
  readonly session: NewSession;
  /** To be answered once the row is there. */
  readonly opened: OpenedSession;
}

/** Why sessions were ended before their time. */
type EndCause = AuditPayloads['svc.audit.session.ended']['cause'];

@Injectable()
export class SessionService extends SessionOpener {
  private readonly idsIn: SessionCookieReader;

  constructor(
    private readonly sessions: SessionRepository,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    @Inject(SESSION_OPTIONS) private readonly options: SessionSettings,
    private readonly audit: AuditBus,
  ) {
    super();
    this.idsIn = sessionCookieReader(options.cookieName);
  }

  /**
   * Opens a session under a new random id, in the family of the latest session of this user that the request carries. Its other
   * sessions end with their families: another user's, or those of another cookie jar of the browser.
   * @rule D26 A session lives for the configured time from its login, or until 30 seconds after its renewal.
   */
  async open(transaction: Transaction, login: SessionLogin): Promise<OpenedSession> {
    const { cookies, requestId, signedBy: keys } = login;
    const carried = await this.findLive(this.idsIn(cookies), transaction);
    const renewedId = await this.renewedFamily(transaction, carried, login);
    const familyId = renewedId ?? randomUUID();
    const others = carried.map((session) => session.familyId).filter((id) => id !== familyId);
    const events = await this.endFamilies(transaction, others, requestId, 'replaced');

    const { session, setCookie } = this.fresh(login, familyId);
    const renewed = carried.filter((one) => one.familyId === renewedId);
    await this.sessions.insert(transaction, { ...session, signedBy: keysOf(keys, renewed) });
    return { setCookie, familyId, events };
  }

  /** Makes the session of a login that carries none, and touches nothing; undefined where sessions of before have to be looked at. */
  make(login: SessionLogin): MadeSession | undefined {
    if (this.idsIn(login.cookies).length > 0) return undefined;
    const { session, setCookie } = this.fresh(login, randomUUID());
    return { session, opened: { setCookie, familyId: session.familyId, events: [] } };
  }

  /** Under a new random id. */
  private fresh(
    { userId, accessGeneration, loginOrigin, signedBy, externalLogin }: SessionLogin,
    familyId: string,
  ): { readonly session: NewSession; readonly setCookie: string } {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const { lifetimeSeconds } = this.options;
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifetimeSeconds * 1000);
    const setCookie = sessionCookie(id, lifetimeSeconds, this.options);
    const session = {
      idHash: hashOf(id),
      userId,
      familyId,
      createdAt,
      expiresAt,
      signedBy,
      externalLogin,
      loginOrigin: loginOrigin ?? null,
      accessGeneration: accessGeneration ?? null,
    };
    return { session, setCookie };
  }

  /** The sessions of a request's `Cookie` header that have not ended, the latest login first. It alone counts. */
  findCarried(cookies: string | undefined): Promise<WebSession[]> {
    return this.findLive(this.idsIn(cookies));
  }

  /**
   * Ends families whole: all sessions, also those in their grace and those that are being opened.
   * @returns the events for the audit trail
   */
  signOut(transaction: Transaction, familyIds: readonly string[], requestId: string): Promise<AuditEvent[]> {
    return this.endFamilies(transaction, familyIds, requestId, 'signed-out');
  }

  override async endLogins(
    transaction: Transaction,
    { keys }: Logout,
    requestId: string,
  ): Promise<RecordedWork<number>> {
    const ended = await this.sessions.endLogins(transaction, keys, this.clock.now());
    return { result: ended.length, events: this.eventsOf(ended, requestId, 'signed-out-by-provider') };
  }

  /** Whether one of a request's sessions was ended by the provider of its login, lately. */
  async wasSignedOutByProvider(ids: readonly string[]): Promise<boolean> {
    const sessions = await this.sessions.findLive(ids.map(hashOf), new Date(0));
    return sessions.some(
      ({ externalLogin, signedBy, createdAt }) =>
        externalLogin !== null &&
        this.revocations.isLoggedOut(externalLogin, signedBy ?? undefined, createdAt.getTime()),
    );
  }

  /** The `Set-Cookie` values that clear the cookie. */
  clearingCookies(): string[] {
    return clearingCookies(this.options);
  }

  /** @rule D104 Above the limit of a user the purge ends the oldest sessions: a login is not kept out by those before. */
  async endTooMany(): Promise<void> {
    const userIds = await this.sessions.findOverLimit(this.options.maxPerUser, this.clock.now());
    for (let from = 0; from < userIds.length; from += USERS_AT_ONCE)
      await this.endOldest(userIds.slice(from, from + USERS_AT_ONCE));
  }

  /**
   * @param transaction of a login, which goes by what is known: its token is used up by now
   * @throws TemporarilyUnavailableException where it is not known at present what has been revoked
   */
  async findLive(ids: readonly string[], transaction?: Transaction): Promise<WebSession[]> {
    if (ids.length === 0) return [];
    // Before the database is asked, so that no request waits for a database that is away.
    if (transaction === undefined) this.revocations.ensureKnown();
    const found = await this.sessions.findLive(ids.map(hashOf), this.clock.now(), transaction);
    return found.filter((session) => !this.isRevoked(session));
  }

  private isRevoked({ createdAt, signedBy, externalLogin }: WebSession): boolean {
    const keys = signedBy ?? undefined;
    const logins = externalLogin === null ? [] : [externalLogin];
    return this.revocations.hasRefused({ keys, logins, sinceMs: createdAt.getTime() });
  }

  /**
   * The family that a login goes on with; its carried sessions get their grace. None if it was ended meanwhile. A login that may sign
   * in administrators does not go on from a session that may not, whose keys it would inherit.
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
    const graceEnd = new Date(this.clock.nowMs() + GRACE_AFTER_RENEWAL_MS);
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

  /** Two instances may both delete: what one has locked the other leaves out. */
  private async endOldest(userIds: readonly string[]): Promise<void> {
    const { maxPerUser } = this.options;
    await this.audit.commit(async (transaction) => {
      const deleted = await this.sessions.deleteOldest(transaction, userIds, maxPerUser, this.clock.now());
      return { result: undefined, events: this.eventsOf(deleted, newRequestId(), 'too-many') };
    });
  }

  private eventsOf(deleted: readonly DeletedSession[], requestId: string, cause: EndCause): AuditEvent[] {
    return [...liveByUser(deleted, this.clock.now())].map(([subjectUserId, sessions]) => {
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
 * A renewal adds its key to those of the sessions that it goes on from, since it lets their family live on. Where theirs are
 * not known, they stay unknown.
 */
function keysOf(own: readonly IssuerKey[], predecessors: readonly WebSession[]): readonly IssuerKey[] | null {
  const inherited = predecessors.map(({ signedBy }) => signedBy);
  if (inherited.includes(null)) return null;
  return [...inherited.flatMap((keys) => keys ?? []), ...own];
}

function isLimited({ byAdministrator }: IssuerKey): boolean {
  return byAdministrator === true;
}

/** The sessions of each user that had not ended. */
function liveByUser(sessions: readonly DeletedSession[], now: Date): Map<string, DeletedSession[]> {
  const live = new Map<string, DeletedSession[]>();
  for (const session of sessions.filter(({ expiresAt }) => expiresAt > now))
    live.set(session.userId, [...(live.get(session.userId) ?? []), session]);
  return live;
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id, 'utf8').digest();
}
