// Revokes and restores trust in keys, and records it.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Log } from '../../platform/log/log.js';
import type { AuditContext, RecordedWork } from '../audit/audit-trail.js';
import { AuditBus, auditEvent } from '../audit/audit-trail.js';
import { RevocationFollower } from './revocation.follower.js';
import type { RevokedTrust } from './revocation.repository.js';
import { RevocationRepository } from './revocation.repository.js';
import type { Logout, TrustRevocation } from './revocations.js';

/** @returns the time of the revocation, from the context */
export async function revokeTrust(
  revocations: RevocationRepository,
  transaction: Transaction,
  trust: RevokedTrust,
  context: AuditContext,
): Promise<RecordedWork<Date>> {
  await revocations.revoke(transaction, trust, context.occurredAt);
  const event = auditEvent('svc.audit.token-exchange.trust-revoked', context, payloadOf(trust));
  return { result: context.occurredAt, events: [event] };
}

/** @returns false if no such revocation is in force; then nothing changes and nothing is recorded */
export async function restoreTrust(
  revocations: RevocationRepository,
  transaction: Transaction,
  trust: RevokedTrust,
  context: AuditContext,
): Promise<RecordedWork<boolean>> {
  const isRestored = await revocations.restore(transaction, trust, context.occurredAt);
  if (!isRestored) return { result: false, events: [] };
  const event = auditEvent('svc.audit.token-exchange.trust-restored', context, payloadOf(trust));
  return { result: true, events: [event] };
}

function payloadOf({ issuer, kid }: RevokedTrust): { issuer: string; kid?: string } {
  return kid === null ? { issuer } : { issuer, kid };
}

/** An access token to be ended by its holder. */
export interface EndedToken {
  /** Its `jti`. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  readonly expiresAt: Date;
}

/** Ends logins in a transaction. @returns whether all logins of the issuer have ended, because there were more logouts than are kept */
export type EndLogins = (logout: Logout) => Promise<boolean>;

/** The log's warning of an issuer whose logins have all ended. */
export function warnOfAll(logger: Log, { requestId }: { readonly requestId: string }, issuer: string): void {
  logger.warn(
    { requestId, issuer },
    'more than 50,000 logouts of an issuer within 25 hours: all its logins until now have ended',
  );
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
   * Ends everything that a key of an issuer signed for, or that all its keys signed for if `kid` is null, and refuses new tokens
   * until `restore`. It applies here at once, elsewhere within 10 seconds. Issuer and key need not be configured.
   * @returns the time; everything issued until then is refused for good
   */
  async revoke({ issuer, kid }: RevokedTrust, requestId: string): Promise<Date> {
    const revokedAt = await this.audit.commit((transaction) =>
      revokeTrust(this.repository, transaction, { issuer, kid }, this.contextOf(requestId)),
    );
    await this.follower.followNews();
    return revokedAt;
  }

  /**
   * Trusts a key again, or an issuer if `kid` is null, for what is issued from now on. Other revocations stay.
   * @returns false if no such revocation is in force; then nothing changes
   */
  async restore({ issuer, kid }: RevokedTrust, requestId: string): Promise<boolean> {
    const isRestored = await this.audit.commit((transaction) =>
      restoreTrust(this.repository, transaction, { issuer, kid }, this.contextOf(requestId)),
    );
    await this.follower.followNews();
    return isRestored;
  }

  /** Every trust revocation there ever was, by issuer and kid. */
  list(): Promise<TrustRevocation[]> {
    return this.repository.list();
  }

  /** Ends one access token of this package, here at once and elsewhere within 10 seconds. A repeated call does nothing. */
  async endToken({ id, expiresAt, ...users }: EndedToken, requestId: string): Promise<void> {
    await this.audit.commit(async (transaction) => {
      if (!(await this.repository.endToken(transaction, id, expiresAt)))
        return { result: undefined, events: [] };
      const context = { ...this.contextOf(requestId), ...users };
      const event = auditEvent('svc.audit.token-exchange.token-revoked', context, { accessTokenId: id });
      return { result: undefined, events: [event] };
    });
    await this.follower.followNews();
  }

  /**
   * Ends external logins and everything that they opened, here at once and elsewhere within 10 seconds.
   * Of more than `MAX_LOGOUTS` of an issuer all its logins until now end, and the count begins again.
   * @param work that ends them, in a transaction with the record of it; may be run again where it lost a race
   */
  async endLogins<Result>(
    work: (transaction: Transaction, end: EndLogins) => Promise<RecordedWork<Result>>,
  ): Promise<Result> {
    const result = await this.audit.commit((transaction) =>
      work(transaction, (logout) => this.repository.endLogins(transaction, logout)),
    );
    await this.follower.followNews();
    return result;
  }

  private contextOf(requestId: string): AuditContext {
    return { occurredAt: this.clock.now(), requestId };
  }
}
