// Opens, renews, finds and ends browser sessions.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { AuditEvent } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import { Clock } from '../clock.js';
import type { Transaction } from '../database/transaction.js';
import type { AccessOptions } from './access.options.js';
import { ACCESS_OPTIONS } from './access.options.js';
import { readSessionCookies, sessionCookie } from './session-cookie.js';
import type { DeletedSession, WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';

const ID_BYTES = 32;
/** For requests that are under way with the cookie of before. */
const GRACE_AFTER_RENEWAL_MS = 30_000;

/** A request that opens or ends sessions. */
export interface SessionRequest {
  /** The `Cookie` header, as it came. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
}

/** A login that succeeded. */
export interface SessionLogin extends SessionRequest {
  readonly userId: string;
  /** The origin of the page that posted it. */
  readonly loginOrigin: string | undefined;
}

/** A new session, and what the audit trail is told of those that it replaced. */
export interface NewSession {
  /** The value of the `Set-Cookie` header. Secret. */
  readonly setCookie: string;
  readonly events: readonly AuditEvent[];
}

@Injectable()
export class SessionService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly clock: Clock,
    @Inject(ACCESS_OPTIONS) private readonly options: AccessOptions,
  ) {}

  /**
   * Opens a session under a new random id, in the family of the session of this user that the request carries. Whatever
   * else it carries ends with its family: who sits before this browser has changed.
   * @rule D26 A session lives for the configured time from its login, or until 30 seconds after its renewal.
   */
  async open(transaction: Transaction, login: SessionLogin): Promise<NewSession> {
    const { userId, loginOrigin = null } = login;
    const carried = await this.carriedBy(transaction, login);
    const familyId = (await this.renewedFamily(transaction, carried, userId)) ?? randomUUID();
    const strangers = carried.filter((session) => session.familyId !== familyId);
    const events = await this.endFamiliesOf(transaction, strangers, login, 'replaced');

    const id = randomBytes(ID_BYTES).toString('base64url');
    const { sessionLifetimeSeconds, partitionedCookie } = this.options;
    const createdAt = this.now();
    const expiresAt = new Date(createdAt.getTime() + sessionLifetimeSeconds * 1000);
    const idHash = hashOf(id);
    await this.sessions.insert(transaction, { idHash, userId, familyId, createdAt, expiresAt, loginOrigin });
    return { setCookie: sessionCookie(id, sessionLifetimeSeconds, partitionedCookie), events };
  }

  /** Of the sessions with these ids the latest that has not ended. */
  async findLatest(ids: readonly string[]): Promise<WebSession | undefined> {
    return (await this.sessions.findLive(ids.map(hashOf), this.now()))[0];
  }

  /**
   * Ends the families of all sessions that the request carries, whole.
   * @returns what the audit trail is told
   */
  async signOut(transaction: Transaction, request: SessionRequest): Promise<AuditEvent[]> {
    const carried = await this.carriedBy(transaction, request);
    return this.endFamiliesOf(transaction, carried, request, 'signed-out');
  }

  /** The `Set-Cookie` value that clears the cookie, with the attributes that it was set with. */
  clearingCookie(): string {
    return sessionCookie('', 0, this.options.partitionedCookie);
  }

  purge(): Promise<void> {
    return this.sessions.purge(this.now());
  }

  private carriedBy(transaction: Transaction, { cookies }: SessionRequest): Promise<WebSession[]> {
    return this.sessions.findLive(readSessionCookies(cookies).map(hashOf), this.now(), transaction);
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

  /** Ends whole families at once, and makes an event for each user who lost sessions. */
  private async endFamiliesOf(
    transaction: Transaction,
    members: readonly WebSession[],
    { requestId }: SessionRequest,
    cause: 'signed-out' | 'replaced',
  ): Promise<AuditEvent[]> {
    if (members.length === 0) return [];
    const familyIds = new Set(members.map(({ familyId }) => familyId));
    const deleted = await this.sessions.deleteFamilies(transaction, [...familyIds]);
    return [...liveByUser(deleted, this.now())].map(([subjectUserId, sessions]) =>
      auditEvent('svc.audit.session.ended', { requestId, subjectUserId }, { sessions, cause }),
    );
  }

  private now(): Date {
    return new Date(this.clock.nowMs());
  }
}

/** How many sessions each user had that would have gone on. */
function liveByUser(sessions: readonly DeletedSession[], now: Date): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { userId } of sessions.filter(({ expiresAt }) => expiresAt > now))
    counts.set(userId, (counts.get(userId) ?? 0) + 1);
  return counts;
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id, 'utf8').digest();
}
