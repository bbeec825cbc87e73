// Opens, renews, finds and ends browser sessions.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent, AuditPayloads } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import { AuditBus } from '../audit/audit.bus.js';
import { Batch } from '../../platform/database/batch.js';
import type { Transaction } from '../../platform/database/transaction.js';
import { Clock } from '../../platform/clock.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { OpenedSession, PreparedSession, SessionLogin } from '../host/session-opener.js';
import { SessionOpener } from '../host/session-opener.js';
import { newRequestId } from '../../platform/log/request-id.js';
import type { IssuerKey, Logout } from '../revocation/external-login.js';
import { Revocations } from '../revocation/revocations.js';
import type { SessionCookieReader, SessionSettings } from './session-cookie.js';
import { clearingCookies, sessionCookie, sessionCookieReader, SESSION_OPTIONS } from './session-cookie.js';
import type { DeletedSession, WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';

const ID_BYTES = 32;
/** For requests that are under way with the cookie of before. */
const GRACE_AFTER_RENEWAL_MS = 30_000;
/** Users whose room is remembered: some 3 MB. */
const MOST_REMEMBERED_USERS = 20_000;
/** By so much of the limit a user may be above it until the purge: else each login of a user at the limit would end a session. */
const TOLERATED_SHARE = 0.1;

/** A login whose user may have too many sessions by now. */
interface Login {
  readonly userId: string;
  readonly requestId: string;
}

/** Why sessions were ended before their time. */
type EndCause = AuditPayloads['svc.audit.session.ended']['cause'];

@Injectable()
export class SessionService extends SessionOpener {
  private readonly limits = new Batch<Login, undefined>((logins) => this.limitAll(logins));
  /** How many sessions users may open in this process before theirs are counted again. */
  private readonly room = new Map<string, number>();
  private readonly idsIn: SessionCookieReader;

  constructor(
    private readonly sessions: SessionRepository,
    private readonly revocations: Revocations,
    private readonly clock: Clock,
    @Inject(SESSION_OPTIONS) private readonly options: SessionSettings,
    private readonly audit: AuditBus,
    @Inject(LOGGER) private readonly logger: Log,
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
    const {
      userId,
      accessGeneration = null,
      loginOrigin = null,
      cookies,
      requestId,
      signedBy: keys,
      externalLogin,
    } = login;
    const carried = await this.findLive(this.idsIn(cookies), transaction);
    const renewedId = await this.renewedFamily(transaction, carried, userId);
    const familyId = renewedId ?? randomUUID();
    const others = carried.map((session) => session.familyId).filter((id) => id !== familyId);
    const events = await this.endFamilies(transaction, others, requestId, 'replaced');

    const { setCookie, ...fresh } = this.fresh();
    const signedBy = keysOf(
      keys,
      carried.filter((session) => session.familyId === renewedId),
    );
    const session = { ...fresh, userId, familyId, loginOrigin, signedBy, accessGeneration, externalLogin };
    await this.sessions.insert(transaction, session);
    return { setCookie, familyId, events };
  }

  /** Without a session cookie there is nothing to renew and nothing to end. */
  override prepare(login: Omit<SessionLogin, 'userId' | 'accessGeneration'>): PreparedSession | undefined {
    const { loginOrigin = null, cookies, signedBy, externalLogin } = login;
    if (this.idsIn(cookies).length > 0) return undefined;
    const { setCookie, ...fresh } = this.fresh();
    const familyId = randomUUID();
    const opened = { setCookie, familyId, events: [] };
    return { session: { ...fresh, familyId, loginOrigin, signedBy, externalLogin }, opened };
  }

  /** Members unique to each session. */
  private fresh(): Pick<WebSession, 'idHash' | 'createdAt' | 'expiresAt'> & { readonly setCookie: string } {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const { lifetimeSeconds } = this.options;
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + lifetimeSeconds * 1000);
    const setCookie = sessionCookie(id, lifetimeSeconds, this.options);
    return { idHash: hashOf(id), createdAt, expiresAt, setCookie };
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

  /**
   * @rule D104 Above the limit of a user the oldest sessions end, after the answer: a login is not kept out by those before.
   * A failure is left to the next login of the user, or to the purge, and so is what other processes open while there is room here.
   */
  override limit(userId: string, requestId: string): void {
    const room = this.room.get(userId) ?? 0;
    if (room > 0) return void this.room.set(userId, room - 1);
    this.limits.add({ userId, requestId }).catch((error: unknown) => {
      this.logger.debug({ err: error }, 'sessions over the limit are left to the purge');
    });
  }

  /** Deletes sessions that have ended, and those over the limit of their users. */
  async purge(): Promise<void> {
    const now = this.clock.now();
    await this.sessions.purge(now);
    const userIds = await this.sessions.findOverLimit(this.options.maxPerUser, now);
    const requestId = newRequestId();
    await this.endOldest(userIds.map((userId) => ({ userId, requestId })));
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

  /** The family that a login goes on with; its carried sessions get their grace. None if it was ended meanwhile. */
  private async renewedFamily(
    transaction: Transaction,
    carried: readonly WebSession[],
    userId: string,
  ): Promise<string | undefined> {
    const familyId = carried.find((session) => session.userId === userId)?.familyId;
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
  private async limitAll(logins: readonly Login[]): Promise<undefined[]> {
    const now = this.clock.now();
    const byUser = new Map(logins.map((login) => [login.userId, login]));
    const userIds = [...byUser.keys()];
    // Who comes before the answer is counted next time.
    for (const userId of userIds) this.room.delete(userId);
    const { maxPerUser } = this.options;
    const counts = await this.sessions.countOf(userIds, now);
    const leftOf = (userId: string) => maxPerUser - (counts.get(userId) ?? 0);
    await this.endOldest([...byUser.values()].filter(({ userId }) => leftOf(userId) < 0));
    if (this.room.size > MOST_REMEMBERED_USERS) this.room.clear();
    const tolerated = Math.floor(maxPerUser * TOLERATED_SHARE);
    for (const userId of userIds) {
      const room = Math.max(0, leftOf(userId)) + tolerated;
      // Another batch may have counted the same user meanwhile.
      this.room.set(userId, Math.min(room, this.room.get(userId) ?? room));
    }
    return logins.map(() => undefined);
  }

  private async endOldest(logins: readonly Login[]): Promise<void> {
    if (logins.length === 0) return;
    const { maxPerUser } = this.options;
    const requestIds = new Map(logins.map(({ userId, requestId }) => [userId, requestId]));
    await this.audit.commit(async (transaction) => {
      const userIds = [...requestIds.keys()];
      const now = this.clock.now();
      const deleted = await this.sessions.deleteOldest(transaction, userIds, maxPerUser, now);
      const events = [...requestIds].flatMap(([userId, requestId]) =>
        this.eventsOf(
          deleted.filter((session) => session.userId === userId),
          requestId,
          'too-many',
        ),
      );
      return { result: undefined, events };
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
