// Embedded login: an external token in, a session out.
import { Injectable } from '@nestjs/common';
import { auditEvent } from '../../audit/audit-event.js';
import { AuditBus } from '../../audit/audit.bus.js';
import { Transactions } from '../../database/transaction.js';
import { ConsumptionService } from '../consumption/consumption.service.js';
import type { OpenedSession } from '../host.js';
import { SessionOpener } from '../host.js';
import type { ResolvedUser } from '../identity/identity.service.js';
import { IdentityService } from '../identity/identity.service.js';
import { Journey, identityEvents } from '../journey.js';
import { withRejectionContext } from '../rejection.js';
import type { VerifiedToken } from '../verification/external-token.verifier.js';
import { ExternalTokenVerifier, originOf } from '../verification/external-token.verifier.js';
import type { LoginSource } from './login-origin.js';
import { hostOriginOf, refuseForeignOrigin } from './login-origin.js';

/** A login as it was asked for; nothing is checked yet. */
export interface EmbedLogin {
  readonly token: string;
  readonly source: LoginSource;
  /** The `Cookie` header. Secret. */
  readonly cookies: string | undefined;
  readonly requestId: string;
}

@Injectable()
export class EmbedLoginService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly consumption: ConsumptionService,
    private readonly identities: IdentityService,
    private readonly sessions: SessionOpener,
    private readonly transactions: Transactions,
    private readonly audit: AuditBus,
    private readonly journey: Journey,
  ) {}

  /**
   * Signs the user of an external token in.
   * @rule 4.1 Verify, resolve the user, open a session.
   * @throws Rejection with the first reason against it
   */
  login(attempt: EmbedLogin): Promise<OpenedSession> {
    const { requestId } = attempt;
    return this.journey.audited('embed', requestId, async () => {
      const verified = await this.journey.timed('embed', 'verify', () => this.verify(attempt));
      const known = await this.journey.timed('embed', 'consume', () => this.consume(verified));
      return this.journey.timed('embed', 'resolve', () => this.resolveAndOpen(verified, attempt, known));
    });
  }

  private async verify({ token, source }: EmbedLogin): Promise<VerifiedToken> {
    const verified = await this.verifier.verify(token, 'embed');
    await withRejectionContext(originOf(verified), () => refuseForeignOrigin(verified.key.policy, source));
    return verified;
  }

  /** @returns the user, if they need no change */
  private async consume(subject: VerifiedToken): Promise<ResolvedUser | undefined> {
    // The login is told with its session, which is not open yet.
    const users = await this.consumption.consume({ subject }, []);
    return users && { userId: users.subjectUserId, changes: [] };
  }

  /** The user, the session and the audit rows stand or fall together. */
  private async resolveAndOpen(
    token: VerifiedToken,
    { source, cookies, requestId }: EmbedLogin,
    known: ResolvedUser | undefined,
  ): Promise<OpenedSession> {
    const { session, events } = await this.transactions.run(async (transaction) => {
      const subject = known ?? (await this.identities.resolve(transaction, token));
      const { userId } = subject;
      const loginOrigin = hostOriginOf(source.origin);
      const opened = await this.sessions.open(transaction, { userId, loginOrigin, cookies, requestId });
      const context = { requestId, subjectUserId: userId };
      const { policy, kid } = token.key;
      const login = auditEvent('svc.audit.token-exchange.embed-login', context, {
        issuer: policy.issuer,
        kid,
      });
      const told = [...opened.events, ...identityEvents(context, token, subject), login];
      await this.audit.record(transaction, told);
      return { session: opened, events: told };
    });
    this.audit.publish(events);
    return session;
  }
}
