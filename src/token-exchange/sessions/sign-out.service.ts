// Signs out, with the record of it.
import { Injectable } from '@nestjs/common';
import { AuditBus } from '../audit/audit.bus.js';
import type { WebSession } from './session.repository.js';
import { SessionService } from './session.service.js';

@Injectable()
export class SignOutService {
  constructor(
    private readonly sessions: SessionService,
    private readonly audit: AuditBus,
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
}
