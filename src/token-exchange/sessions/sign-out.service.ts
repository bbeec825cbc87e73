// Signs out, with the record of it.
import { Injectable } from '@nestjs/common';
import { AuditBus } from '../audit/audit.bus.js';
import { Clock } from '../../platform/clock.js';
import { UserDirectory } from '../host/users.js';
import type { WebSession } from './session.repository.js';
import { SessionRepository } from './session.repository.js';
import { SessionService } from './session.service.js';
import { signOutEverywhere } from './sign-out-everywhere.js';

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
   * Ends all that a user has: sessions, and access tokens of which the user is subject or actor; at once, on every instance.
   * @returns how many sessions there were that had not ended by themselves
   * @throws Error where the host cannot end access
   */
  signOutEverywhere(userId: string, requestId: string): Promise<number> {
    const things = { sessions: this.rows, users: this.users };
    return this.audit.commit((transaction) =>
      signOutEverywhere(things, transaction, userId, { occurredAt: this.clock.now(), requestId }),
    );
  }
}
