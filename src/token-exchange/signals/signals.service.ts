// Receives security events of transmitters: ends sessions and access tokens, and disables and enables users.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { AuditEvent, RecordedWork } from '../audit/audit-trail.js';
import { auditEvent } from '../audit/audit-trail.js';
import { EntryThrottleService } from '../endpoint/entry-throttle.service.js';
import type { ClientRequest } from '../endpoint/flow.runner.js';
import { SessionOpener } from '../host/logins.js';
import type { ExternalIdentity } from '../host/users.js';
import { UserDirectory } from '../host/users.js';
import { IdentityLinkRepository } from '../identity/identity-link.repository.js';
import { isPrivileged } from '../identity/role-policy.js';
import { JtiRepository } from '../replay/jti.repository.js';
import type { EndLogins } from '../revocation/revocation.service.js';
import { RevocationService, warnOfAll } from '../revocation/revocation.service.js';
import type { Logout } from '../revocation/revocations.js';
import { keysOfLogout, Revocations } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { VerifiedEvent } from '../verify/external-token.verifier.js';
import { ExternalTokenVerifier, issuerAndKid, refuseRevokedKey } from '../verify/external-token.verifier.js';
import { eventChecks } from './event-checks.js';
import type { SecurityEvent, UserSubject } from './security-event.js';
import type { EventName } from './signal-rows.js';
import type { Transmitter } from './transmitters.js';
import { eventUseId, Transmitters } from './transmitters.js';

interface NamedIdentity extends ExternalIdentity {
  /** Undefined if the identity is linked to no user. */
  readonly userId: string | undefined;
}

@Injectable()
export class SignalSubjects {
  constructor(
    private readonly links: IdentityLinkRepository,
    private readonly users: UserDirectory,
    private readonly keys: TrustedKeyService,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'roles'>,
  ) {}

  /**
   * @rule D147 A transmitter names users of its issuer only: by `iss` and `sub`, by a linked id, or by an e-mail address for which an
   * entry of that issuer may find users.
   */
  async find(
    transaction: Transaction,
    { issuer: transmitter, loginIssuer: issuer = transmitter }: Transmitter,
    user: UserSubject | undefined,
  ): Promise<readonly NamedIdentity[]> {
    if (user?.format === 'email') return this.findByEmail(transaction, issuer, user.email);
    if (user === undefined || (user.format === 'iss_sub' && ![issuer, transmitter].includes(user.iss)))
      return [];
    const subject = user.format === 'opaque' ? user.id : user.sub;
    const userId = (await this.links.find(transaction, { issuer, subject }))?.userId;
    return user.format === 'opaque' && userId === undefined ? [] : [{ issuer, subject, userId }];
  }

  private async findByEmail(
    transaction: Transaction,
    issuer: string,
    email: string,
  ): Promise<readonly NamedIdentity[]> {
    if (!this.keys.vouchesFor(issuer, email)) return [];
    const userId = (await this.users.findByEmail(transaction, email))?.id;
    if (userId === undefined) return [];
    const subjects = await this.links.subjectsOf(transaction, issuer, userId);
    return subjects.map((subject) => ({ issuer, subject, userId }));
  }

  /**
   * Disables or enables the user of an identity.
   * D147: a transmitter disables only users whom its issuer has provisioned and who are not privileged, and enables only whom it
   * has disabled. Of two events the later one counts, whichever comes first; of the same second the one that disables.
   * @param at when it happened, in seconds since the Unix epoch
   * @returns whether the user was changed
   */
  async switch(
    transaction: Transaction,
    { userId, ...identity }: NamedIdentity,
    enabled: boolean,
    at: number,
  ): Promise<boolean> {
    const user = userId === undefined ? undefined : await this.users.lock(transaction, userId, 'update');
    if (user === undefined) return false;
    const isProvisioned = await this.links.noteAccountEvent(transaction, identity, user.id, { at, enabled });
    if (!isProvisioned || isPrivileged(user.role, this.options.roles)) return false;
    const { id } = user;
    const isChanged = enabled
      ? await this.users.enable?.(transaction, id, identity.issuer)
      : await this.users.disable?.(transaction, id, identity.issuer);
    return isChanged === true;
  }
}

/** A token is accepted for a day after its `iat`, so its `jti` is kept for two. */
const JTI_KEPT_SECONDS = 2 * 86_400;
/** What each event does to the account, if anything. */
const ENABLES: Partial<Record<EventName, boolean>> = {
  'account-disabled': false,
  'account-purged': false,
  'account-enabled': true,
};

/** What was sent. Secret. */
interface Sent {
  readonly text: string;
  readonly authorization: string | undefined;
}

interface ReceivedEvent {
  readonly token: VerifiedEvent;
  readonly event: SecurityEvent;
  readonly transmitter: Transmitter;
  readonly request: ClientRequest;
}

@Injectable()
export class SignalsService {
  constructor(
    private readonly transmitters: Transmitters,
    private readonly verifier: ExternalTokenVerifier,
    private readonly revocations: Revocations,
    private readonly ends: RevocationService,
    private readonly throttle: EntryThrottleService,
    private readonly jtis: JtiRepository,
    private readonly subjects: SignalSubjects,
    private readonly sessions: SessionOpener,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Log,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'signals'>,
  ) {}

  /**
   * Does what an event asks for; an event that does nothing here, and one that was received before, succeed too.
   * @throws OAuthRefusal with the first reason against the token
   * @throws TooManyRequestsError above the limit of the transmitter
   */
  async receive({ text, authorization }: Sent, request: ClientRequest): Promise<void> {
    const transmitter = this.transmitters.authenticated(authorization);
    await request.inTime(() =>
      this.throttle.countOf('signals of', transmitter.issuer, this.options.signals.perMinute),
    );
    const token = await this.verifier.verifyEvent(text, eventChecks(transmitter), this.transmitters.keys);
    refuseRevokedKey(this.revocations, token);
    const { event } = token.claims;
    if (event === undefined) return;
    const isOfAll = await request.inTime(() =>
      this.ends.endLogins((transaction, end) =>
        this.apply(transaction, end, { token, event, transmitter, request }),
      ),
    );
    if (isOfAll) warnOfAll(this.logger, request, transmitter.loginIssuer ?? transmitter.issuer);
  }

  /** The `jti` is used up with what the event does: after a failure of the database the transmitter can send it again. */
  private async apply(
    transaction: Transaction,
    end: EndLogins,
    received: ReceivedEvent,
  ): Promise<RecordedWork<boolean>> {
    const { token, event, transmitter } = received;
    const { issuer } = transmitter;
    const { jti, iat } = token.claims;
    const use = (kind: 'event' | 'verification', id: string) =>
      this.jtis.useUp(
        transaction,
        { jti: eventUseId(kind, issuer, id), exp: iat + JTI_KEPT_SECONDS },
        issuer,
      );
    if (!(await use('event', jti))) return { result: false, events: [] };
    if (event.name !== 'verification') return this.end(transaction, end, received);
    // By it the command that has asked for the event sees that it has arrived.
    if (event.state !== undefined) await use('verification', event.state);
    return { result: false, events: [this.recorded(received, 'verified')] };
  }

  /** @returns whether all logins of the issuer have ended */
  private async end(
    transaction: Transaction,
    end: EndLogins,
    received: ReceivedEvent,
  ): Promise<RecordedWork<boolean>> {
    const { event, transmitter, request } = received;
    const identities = await this.subjects.find(transaction, transmitter, event.user);
    // Users before sessions: everything that locks both does so in this order.
    const state = await this.switch(transaction, identities, event);
    const logout = logoutBy(event, transmitter, identities, this.clock.now());
    const userId = identities[0]?.userId;
    if (logout === undefined)
      return { result: false, events: [this.recorded(received, state ?? 'none', { userId })] };
    const result = await end(logout);
    const ended = await this.sessions.endLogins?.(transaction, logout, request.requestId);
    const effect = state ?? (result ? 'issuer-signed-out' : 'signed-out');
    const signal = this.recorded(received, effect, { userId, sessions: ended?.result });
    return { result, events: [signal, ...(ended?.events ?? [])] };
  }

  private async switch(
    transaction: Transaction,
    identities: readonly NamedIdentity[],
    { name, at }: SecurityEvent,
  ): Promise<'enabled' | 'disabled' | undefined> {
    const enabled = ENABLES[name];
    if (enabled === undefined) return undefined;
    let isChanged = false;
    for (const identity of identities)
      if (await this.subjects.switch(transaction, identity, enabled, at)) isChanged = true;
    return isChanged ? (enabled ? 'enabled' : 'disabled') : undefined;
  }

  private recorded(
    { token, event, request: { requestId, clientAddress } }: ReceivedEvent,
    effect: 'verified' | 'none' | 'signed-out' | 'issuer-signed-out' | 'disabled' | 'enabled',
    { userId, sessions = 0 }: { readonly userId?: string; readonly sessions?: number } = {},
  ): AuditEvent {
    return auditEvent(
      'svc.audit.token-exchange.signal',
      { occurredAt: this.clock.now(), requestId, subjectUserId: userId },
      { ...issuerAndKid(token), event: event.name, effect, sessions, clientAddress },
    );
  }
}

/**
 * What an event ends, by its own time (D132): what was opened later stays, however late the event comes.
 * @returns undefined if it ends nothing
 */
function logoutBy(
  { name, at, session, change }: SecurityEvent,
  { issuer: transmitter, loginIssuer: issuer = transmitter }: Transmitter,
  identities: readonly NamedIdentity[],
  now: Date,
): Logout | undefined {
  const isKept = name === 'account-enabled' || (name === 'credential-change' && !isLoss(change));
  const sid = name === 'session-revoked' ? session : undefined;
  const named = identities.length === 0 && sid !== undefined ? [{ subject: undefined }] : identities;
  const keys = isKept ? [] : named.flatMap(({ subject: sub }) => keysOfLogout(issuer, { sub, sid }));
  if (keys.length === 0) return undefined;
  const atMs = Math.min(at * 1000, now.getTime());
  return { issuer, keys: [...new Set(keys)].sort(), until: at, at: new Date(atMs) };
}

function isLoss(change: unknown): boolean {
  return change === 'revoke' || change === 'delete';
}
