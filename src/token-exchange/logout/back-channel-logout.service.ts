// Back-channel logout: ends what the user or session of a provider's logout token has opened here.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { AuditEvent } from '../audit/audit-trail.js';
import { auditEvent } from '../audit/audit-trail.js';
import { EntryThrottleService } from '../endpoint/entry-throttle.service.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import { SessionOpener } from '../host/logins.js';
import { IdentityLinkRepository } from '../identity/identity-link.repository.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { JtiRepository } from '../replay/jti.repository.js';
import { RevocationService, warnOfAll } from '../revocation/revocation.service.js';
import type { Logout } from '../revocation/revocations.js';
import { keysOfLogout, Revocations } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { VerifiedLogout } from '../verify/external-token.verifier.js';
import { ExternalTokenVerifier, issuerAndKid, refuseRevokedKey } from '../verify/external-token.verifier.js';

@Injectable()
export class BackChannelLogoutService {
  constructor(
    private readonly verifier: ExternalTokenVerifier,
    private readonly revocations: Revocations,
    private readonly ends: RevocationService,
    private readonly throttle: EntryThrottleService,
    private readonly jtis: JtiRepository,
    private readonly links: IdentityLinkRepository,
    private readonly sessions: SessionOpener,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'logout'>,
  ) {}

  /**
   * Ends the named sessions and access tokens of the entry's issuer, never another issuer's or a password's. Succeeds even if
   * nothing is ended. A repeated token does not count towards its issuer's limit, because somebody who has one could otherwise
   * block the issuer's next logouts.
   * @throws OAuthRefusal with the first reason against it
   * @throws TooManyRequestsError above the limit of its issuer
   */
  async logOut(text: string, request: FlowRequest): Promise<void> {
    const token = await request.stage('verify', () => this.verify(text));
    await request.inTime(async () => {
      if (await this.isRepeated(token)) return;
      await this.throttle.countOf('logout of', token.key.policy.issuer, this.options.logout.perMinute);
      await request.stage('apply', () => this.apply(token, request));
    });
  }

  private async verify(text: string): Promise<VerifiedLogout> {
    const token = await this.verifier.verifyLogout(text);
    refuseRevokedKey(this.revocations, token);
    return token;
  }

  /**
   * Whether a logout of the same issuer has used the token up. A sender without an answer sends it again.
   * @throws OAuthRefusal `token_replayed` if anything else has used it up
   */
  private async isRepeated({ claims, key }: VerifiedLogout, transaction?: Transaction): Promise<boolean> {
    const use = await this.jtis.findUse(claims.jti, key.policy.issuer, transaction);
    if (use === 'other') throw new OAuthRefusal('token_replayed', issuerAndKid({ key }));
    return use === 'logout';
  }

  /**
   * The transaction that ends the sessions also uses the token up, so that the provider can send it again after a failure of the
   * database.
   */
  private async apply(token: VerifiedLogout, request: FlowRequest): Promise<void> {
    const { claims, key } = token;
    const { issuer } = key.policy;
    const at = this.clock.now();
    const logout: Logout = { issuer, keys: keysOfLogout(issuer, claims), until: claims.iat, at };
    const isOfAll = await this.ends.endLogins(async (transaction, end) => {
      const isNew = await this.jtis.useUp(transaction, claims, issuer);
      if (!isNew && (await this.isRepeated(token, transaction))) return { result: false, events: [] };
      const result = await end(logout);
      const ended = { token, logout, isOfAll: result, request };
      return { result, events: await this.endSessions(transaction, ended) };
    });
    if (isOfAll) warnOfAll(this.logger, request, issuer);
  }

  private async endSessions(
    transaction: Transaction,
    {
      token,
      logout,
      isOfAll,
      request,
    }: { token: VerifiedLogout; logout: Logout; isOfAll: boolean; request: FlowRequest },
  ): Promise<AuditEvent[]> {
    const { requestId, clientAddress } = request;
    const { sid } = token.claims;
    const { issuer, kid } = issuerAndKid(token);
    const ended = await this.sessions.endLogins?.(transaction, logout, requestId);
    const subjectUserId = (await this.linkedUserId(transaction, token)) ?? ended?.events[0]?.subjectUserId;
    const event = auditEvent(
      'svc.audit.token-exchange.logout',
      { occurredAt: logout.at, requestId, subjectUserId },
      {
        issuer,
        kid,
        ends: isOfAll ? 'issuer' : sid === undefined ? 'subject' : 'session',
        sessions: ended?.result ?? 0,
        clientAddress,
      },
    );
    return [event, ...(ended?.events ?? [])];
  }

  private async linkedUserId(
    transaction: Transaction,
    { claims: { sub }, key }: VerifiedLogout,
  ): Promise<string | undefined> {
    if (sub === undefined) return undefined;
    return (await this.links.find(transaction, { issuer: key.policy.issuer, subject: sub }))?.userId;
  }
}
