// Signs out, with the record of it.
import { Injectable } from '@nestjs/common';
import { auditEvent } from '../audit/audit-event.js';
import { AuditBus } from '../audit/audit.bus.js';
import { Clock } from '../foundation/clock.js';
import { RevocationFollower } from '../revocation/revocation.follower.js';
import { RevocationRepository } from '../revocation/revocation.repository.js';
import type { WebSession } from './session.repository.js';
import { SessionService } from './session.service.js';

@Injectable()
export class SignOutService {
  constructor(
    private readonly sessions: SessionService,
    private readonly revocations: RevocationRepository,
    private readonly follower: RevocationFollower,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /**
   * Ends the families of sessions whole.
   * @param sessions all that a request carries
   * @returns the `Set-Cookie` value that clears the cookie
   */
  async signOut(sessions: readonly Pick<WebSession, 'familyId'>[], requestId: string): Promise<string> {
    const familyIds = sessions.map(({ familyId }) => familyId);
    await this.audit.commit(async (transaction) => {
      const events = await this.sessions.signOut(transaction, familyIds, requestId);
      return { result: undefined, events };
    });
    return this.sessions.clearingCookie();
  }

  /**
   * Ends all that a user has: sessions, and access tokens of which the user is subject or actor. What is being opened or issued
   * at this moment has a time that is not later, and is refused by that. Here at once, elsewhere within 10 seconds; new
   * logins pass from the next second on.
   * @rule D62 A user is signed out everywhere, for good.
   * @returns how many sessions there were that had not ended by themselves
   */
  async signOutEverywhere(userId: string, requestId: string): Promise<number> {
    const sessions = await this.audit.commit(async (transaction) => {
      const now = this.clock.now();
      await this.revocations.signOut(transaction, userId, now);
      const ended = await this.sessions.endAll(transaction, userId);
      const context = { occurredAt: now, requestId, subjectUserId: userId };
      const event = auditEvent('svc.audit.token-exchange.user-signed-out', context, { sessions: ended });
      return { result: ended, events: [event] };
    });
    await this.follower.hear();
    return sessions;
  }
}
