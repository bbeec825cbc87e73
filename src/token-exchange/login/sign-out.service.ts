// Signs users out, and records it.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { AuditContext, RecordedWork } from '../audit/audit-trail.js';
import { AuditBus, auditEvent } from '../audit/audit-trail.js';
import { UserDirectory } from '../host/users.js';
import type { WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';
import { SessionService } from './session.service.js';

interface SignOutStores {
  readonly sessions: Pick<SessionRepository, 'deleteOfUser'>;
  readonly users: Pick<UserDirectory, 'endAccess'>;
}

/**
 * Ends every session and access token of the user as subject or actor, for good; a later login works (D7). Sessions and tokens that
 * are being issued carry the earlier generation, so they are refused. See `endAccess` in users/user.repository.ts, and `refusalNow`
 * in tokens/caller.ts for the comparison at each use.
 * @returns the number of live sessions that ended
 * @throws Error if the host cannot end access
 */
export async function signOutEverywhere(
  { sessions, users }: SignOutStores,
  transaction: Transaction,
  userId: string,
  { occurredAt, requestId, actorUserId }: AuditContext,
): Promise<RecordedWork<number>> {
  if (users.endAccess === undefined) throw new Error('the UserDirectory of this host has no endAccess');
  await users.endAccess(transaction, userId);
  const ended = await sessions.deleteOfUser(transaction, userId);
  const context = { occurredAt, requestId, subjectUserId: userId, actorUserId };
  const event = auditEvent('svc.audit.token-exchange.user-signed-out', context, { sessions: ended });
  return { result: ended, events: [event] };
}

@Injectable()
export class SignOutService {
  constructor(
    private readonly sessions: SessionService,
    private readonly rows: SessionRepository,
    private readonly users: UserDirectory,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /**
   * Ends the given sessions and all others of their families.
   * @param sessions the sessions of all cookies in the request
   * @returns the `Set-Cookie` values that clear the cookie
   */
  async signOut(sessions: readonly Pick<WebSession, 'familyId'>[], requestId: string): Promise<string[]> {
    const familyIds = sessions.map(({ familyId }) => familyId);
    await this.audit.commit(async (transaction) => {
      const events = await this.sessions.signOut(transaction, familyIds, requestId);
      return { result: undefined, events };
    });
    return this.sessions.clearingCookies();
  }

  /** Ends all bound sessions that pages of a host origin opened for a user. */
  signOutOfHost(
    host: { readonly userId: string; readonly loginOrigin: string },
    requestId: string,
  ): Promise<void> {
    return this.audit.commit(async (transaction) => {
      const events = await this.sessions.signOutOfHost(transaction, host, requestId);
      return { result: undefined, events };
    });
  }

  /**
   * Ends all sessions of a user and all access tokens with the user as subject or actor, at once on every instance.
   * @returns the number of live sessions that ended
   * @throws Error if the host cannot end access
   */
  signOutEverywhere(userId: string, requestId: string): Promise<number> {
    const repositories = { sessions: this.rows, users: this.users };
    return this.audit.commit((transaction) =>
      signOutEverywhere(repositories, transaction, userId, { occurredAt: this.clock.now(), requestId }),
    );
  }
}
