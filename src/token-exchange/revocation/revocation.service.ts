// Takes trust in keys back and gives it again, with the record of it.
import { Injectable } from '@nestjs/common';
import { auditEvent } from '../audit/audit-event.js';
import { AuditBus } from '../audit/audit.bus.js';
import { Clock } from '../foundation/clock.js';
import type { RevokedTrust } from './revocation.repository.js';
import { RevocationRepository } from './revocation.repository.js';
import { RevocationFollower } from './revocation.follower.js';
import type { TrustRevocation } from './revocations.js';

/** An access token that somebody ends. */
export interface EndedToken {
  /** Its `jti`. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  readonly expiresAt: Date;
}

@Injectable()
export class RevocationService {
  constructor(
    private readonly repository: RevocationRepository,
    private readonly follower: RevocationFollower,
    private readonly audit: AuditBus,
    private readonly clock: Clock,
  ) {}

  /**
   * Ends all that a key of an issuer has vouched for, or with `kid` null all keys, and takes nothing new of it until
   * `restore`. Here at once, elsewhere within 10 seconds. Neither needs to be configured (any more).
   * @returns when; what was issued until then is refused for good
   */
  async revoke({ issuer, kid }: RevokedTrust, requestId: string): Promise<Date> {
    const revokedAt = await this.audit.commit(async (transaction) => {
      const now = this.clock.now();
      await this.repository.revoke(transaction, { issuer, kid }, now);
      const context = { occurredAt: now, requestId };
      const event = auditEvent('svc.audit.token-exchange.trust-revoked', context, trustOf(issuer, kid));
      return { result: now, events: [event] };
    });
    await this.follower.hear();
    return revokedAt;
  }

  /**
   * Lets a key, or with `kid` null an issuer, vouch again: for what is issued from now on. What was revoked beside it stays so.
   * @returns false where no such revocation holds; then nothing has happened
   */
  async restore({ issuer, kid }: RevokedTrust, requestId: string): Promise<boolean> {
    const isRestored = await this.audit.commit(async (transaction) => {
      const now = this.clock.now();
      if (!(await this.repository.restore(transaction, { issuer, kid }, now)))
        return { result: false, events: [] };
      const context = { occurredAt: now, requestId };
      const event = auditEvent('svc.audit.token-exchange.trust-restored', context, trustOf(issuer, kid));
      return { result: true, events: [event] };
    });
    await this.follower.hear();
    return isRestored;
  }

  /** Every trust revocation there ever was, by issuer and kid. */
  list(): Promise<TrustRevocation[]> {
    return this.repository.list();
  }

  /** Ends one access token of this package, here at once and elsewhere within 10 seconds. Again it does nothing. */
  async endToken({ id, expiresAt, ...users }: EndedToken, requestId: string): Promise<void> {
    await this.audit.commit(async (transaction) => {
      if (!(await this.repository.endToken(transaction, id, expiresAt)))
        return { result: undefined, events: [] };
      const context = { occurredAt: this.clock.now(), requestId, ...users };
      const event = auditEvent('svc.audit.token-exchange.token-revoked', context, { accessTokenId: id });
      return { result: undefined, events: [event] };
    });
    await this.follower.hear();
  }
}

function trustOf(issuer: string, kid: string | null): { issuer: string; kid?: string } {
  return kid === null ? { issuer } : { issuer, kid };
}
