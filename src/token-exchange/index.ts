// The entry of the package: what a host may use. Whatever is not here may change without notice.
export { TokenExchangeModule } from './token-exchange.module.js';
export type { SettingsFactory } from './token-exchange.module.js';

// Options
export type {
  AccessTokenSettings,
  EmbedLoginSettings,
  EntryRulesSettings,
  ExchangeSettings,
  JwksSettings,
  ReplayPurgeSettings,
  RoleNames,
  SessionSettings,
  TokenExchangeSettings,
  TokenRevocationSettings,
  UserTable,
} from './token-exchange.options.js';
export type { Given, TokenExchangeParts } from './token-exchange.parts.js';
export { readTrustedKeys } from './trust/trusted-key-entry.js';
export type { TrustedKeysReading } from './trust/trusted-key-entry.js';
export type { TrustedKeysRules } from './trust/entry-reader.js';
export type { TrustedKeyEntry } from './trust/trusted-key.js';
export { StoredEntryService } from './trust/stored/stored-entry.service.js';
export type { StoredEntryStatus } from './trust/stored/stored-entry.service.js';
export { StoredEntryError } from './trust/stored/stored-entry.js';
export type { PolicyChange, StoredEntryChange } from './trust/stored/stored-entry.changes.js';

// Ports, and what they speak of
export { AccessTokenIssuer } from './host/access-token-issuer.js';
export { LoginFailurePage } from './host/login-failure-page.js';
export { SessionOpener } from './host/session-opener.js';
export { ExchangeTelemetry } from './host/telemetry.js';
export { UserDirectory } from './host/users.js';
export type {
  AccessTokenGrant,
  AccessTokenSigner,
  IssuedAccessToken,
  LiveAccessToken,
} from './host/access-token-issuer.js';
export type { LoginFailure, RenderedPage } from './host/login-failure-page.js';
export type { NewSession, OpenedSession, PreparedSession, SessionLogin } from './host/session-opener.js';
export type {
  KeySetFetchOutcome,
  KeySetState,
  KeysHeld,
  ReplayRecords,
  Stage,
  ThrottledFlow,
  TracedStep,
} from './host/telemetry.js';
export type { ExternalIdentity, HostUser, HostUserUpdate, NewHostUser, UserLock } from './host/users.js';
export type { Flow } from './flow.js';
export { AuditTrail } from './audit/audit-trail.js';
export { Leader, SoleLeader } from '../platform/jobs/leader.js';
export { Notifications, SoleProcessNotifications } from '../platform/jobs/notifications.js';
export type { Subscription } from '../platform/jobs/notifications.js';
export { Clock } from '../platform/clock.js';
export type { Log } from '../platform/log/log.js';
export { limitWaits } from '../platform/database/wait-limit.js';
export type { BackgroundPool, WaitLimits } from '../platform/database/wait-limit.js';
export { DatabaseOutages } from '../platform/http/database-outages.js';
export type { OutageWatch } from '../platform/http/database-outages.js';
export { Transaction, managerOf } from '../platform/database/transaction.js';
export type { RefundingThrottlerStorage } from '../platform/http/throttle/refunding-throttler.storage.js';

// Of the ports' own implementations, those that a host asks something of
export { AccessTokenService } from './tokens/access-token.service.js';
export type { VerifiedAccessToken } from './tokens/access-token.service.js';
export { RevocationService } from './revocation/revocation.service.js';
export type { EndedToken } from './revocation/revocation.service.js';
export { Revocations } from './revocation/revocations.js';
export type { TrustRevocation, Vouched, VouchedToken } from './revocation/revocations.js';
export type { RevokedTrust } from './revocation/revocation.repository.js';
export type { VouchingKey } from './revocation/vouching-key.js';
export { TemporarilyUnavailableException } from '../platform/http/temporarily-unavailable.exception.js';
export { SessionService } from './sessions/session.service.js';
export { SignOutService } from './sessions/sign-out.service.js';
export type { WebSession } from './sessions/session.repository.js';

// Events
export type { AuditContext, AuditEvent, AuditEventName, AuditPayloads } from './audit/audit-event.js';
export type { StoredEntryRecord } from './audit/event-catalogue.js';
export type { RejectionReason } from './token-refusals.js';

// Tables
export { TOKEN_EXCHANGE_MIGRATIONS } from './migrations/index.js';
