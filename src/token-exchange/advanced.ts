// The second entry of the package: what a host needs that administers token exchange, or has parts of its own. It does not load
// the module, which index.ts does.

// Settings and parts
export type {
  AccessTokenSettings,
  EmbedLoginSettings,
  EntryRulesSettings,
  ExchangeSettings,
  IdAssertionSettings,
  JwksSettings,
  LogoutSettings,
  ReplayPurgeSettings,
  RoleNames,
  RouteSettings,
  SessionSettings,
  TokenRevocationSettings,
  UserTable,
} from './settings/token-exchange.options.js';
export type { Given, SettingsFactory, TokenExchangeParts } from './token-exchange.parts.js';

// Ports
export { AccessTokenIssuer } from './host/access-token-issuer.js';
export type {
  AccessTokenGrant,
  AccessTokenSigner,
  IssuedAccessToken,
  LiveAccessToken,
} from './host/access-token-issuer.js';
export { LoginFailurePage } from './host/login-failure-page.js';
export type { LoginFailure, RenderedPage } from './host/login-failure-page.js';
export { SessionOpener } from './host/session-opener.js';
export type { NewSession, OpenedSession, PreparedSession, SessionLogin } from './host/session-opener.js';
export { ExchangeTelemetry, KEY_SET_FETCH_OUTCOMES } from './host/telemetry.js';
export type {
  KeySetFetchOutcome,
  KeySetState,
  KeysHeld,
  ReplayRecords,
  Stage,
  ThrottledFlow,
  TracedStep,
} from './host/telemetry.js';
export { ProjectDirectory } from './host/projects.js';
export type {
  ClaimingUser,
  HostProject,
  ProjectChange,
  ProjectMembership,
  ProjectQuery,
} from './host/projects.js';
export { UserDirectory } from './host/users.js';
export type { ExternalIdentity, UserLock } from './host/users.js';
export type { AccessFlow, Flow } from './host/flow.js';
export { Leader, SoleLeader } from '../platform/jobs/leader.js';
export { Notifications, SoleProcessNotifications } from '../platform/jobs/notifications.js';
export type { Subscription } from '../platform/jobs/notifications.js';
export { Clock } from '../platform/clock.js';
export type { Log } from '../platform/log/log.js';
export { limitWaits } from '../platform/database/wait-limit.js';
export type { BackgroundPool, WaitLimits } from '../platform/database/wait-limit.js';
export { DatabaseOutages } from '../platform/http/database-outages.js';
export type { OutageWatch } from '../platform/http/database-outages.js';
export { TemporarilyUnavailableException } from '../platform/http/temporarily-unavailable.exception.js';
export { Transaction } from '../platform/database/transaction.js';
export type { RefundingThrottlerStorage } from '../platform/http/throttle/refunding-throttler.storage.js';

// Trusted key entries
export { readTrustedKeys } from './trust/trusted-key-entry.js';
export type { TrustedKeysReading } from './trust/trusted-key-entry.js';
export type { TrustedKeysRules } from './trust/entry-reader.js';
export type { TrustedKeyEntry } from './trust/trusted-key.js';
export { JwksFetchError, JwksFetcher } from './trust/jwks/jwks-fetcher.js';
export { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
export { JwksSnapshotRepository, toJwksAddress } from './trust/jwks/jwks-snapshot.repository.js';
export type { JwksAddress, JwksSnapshot } from './trust/jwks/jwks-snapshot.repository.js';
export type { StoredEntriesRules } from './trust/stored/check-stored-entries.js';
export { StoredEntryChanges, shownEntry } from './trust/stored/stored-entry.changes.js';
export type {
  PolicyChange,
  StoredEntryChange,
  StoredEntryWork,
} from './trust/stored/stored-entry.changes.js';
export { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
export { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
export { StoredEntryService } from './trust/stored/stored-entry.service.js';
export type { StoredEntryStatus } from './trust/stored/stored-entry.service.js';
export { StoredEntryError, labelOf } from './trust/stored/stored-entry.js';
export type { CheckedStoredEntry } from './trust/stored/stored-entry.js';

// Access tokens
export { ACCESS_TOKEN_OPTIONS } from './tokens/access-token.service.js';
export { ACCESS_TOKEN_ALGORITHM, AccessTokenService } from './tokens/access-token.service.js';
export type { AccessTokenRefusal, VerifiedAccessToken } from './tokens/access-token.service.js';
export { ACCESS_TOKEN_PROVIDERS } from './tokens/access-tokens.providers.js';
export { SigningKeyRepository } from './tokens/signing-key.repository.js';
export { SigningKeyService } from './tokens/signing-key.service.js';

// Calls with access tokens, and what is published of them
export { callerOf, isCurrent, isEnabled } from './tokens/caller.js';
export type { Caller } from './tokens/caller.js';
export { bearerTokenIn, challengeTo, scopeChallengeTo } from './http/challenge.js';
export { KeySetController } from './http/key-set.controller.js';
export { METADATA_OPTIONS, MetadataController } from './http/metadata.controller.js';
export type { MetadataOptions, TokenEndpoint } from './http/metadata.controller.js';

// Sessions
export { readSessionCookies } from './sessions/session-cookie.js';
export { SESSION_OPTIONS } from './sessions/session-cookie.js';
export type { SessionOptions } from './sessions/session-cookie.js';
export { SessionRepository } from './sessions/session.repository.js';
export type { WebSession } from './sessions/session.repository.js';
export { SessionService } from './sessions/session.service.js';
export { SESSION_PROVIDERS } from './sessions/sessions.providers.js';
export { signOutEverywhere } from './sessions/sign-out.service.js';
export { SignOutService } from './sessions/sign-out.service.js';

// Revocation
export { RevocationFollower } from './revocation/revocation.follower.js';
export { REVOCATION_PROVIDERS } from './revocation/revocation.providers.js';
export { RevocationRepository } from './revocation/revocation.repository.js';
export type { RevokedTrust } from './revocation/revocation.repository.js';
export { RevocationService } from './revocation/revocation.service.js';
export type { EndedToken } from './revocation/revocation.service.js';
export { Revocations } from './revocation/revocations.js';
export type { TrustRevocation, Vouched, VouchedToken } from './revocation/revocations.js';
export type { ExternalLogin, Logout } from './revocation/external-login.js';
export { restoreTrust, revokeTrust } from './revocation/revocation.service.js';
export { readRecordedKeys } from './revocation/vouching-key.js';
export type { VouchingKey } from './revocation/vouching-key.js';

// Audit events
export { AuditBus } from './audit/audit.bus.js';
export type { RecordedWork } from './audit/audit.bus.js';
export { AuditTrail } from './audit/audit-trail.js';
export { EventTable, EventTableTrail } from './audit/event-table.js';
export type { AuditContext, AuditEventName, AuditPayloads } from './audit/audit-event.js';
export type { StoredEntryRecord } from './audit/event-catalogue.js';

// Users and replay protection
export { IdentityLinkRepository } from './users/identity-link.repository.js';
export { ClockDifference } from './replay/clock-difference.js';
export { JtiRepository } from './replay/jti.repository.js';
export type { ExternalPerson, Party } from './refusals/rejection.js';
export type { RejectionReason } from './refusals/token-refusals.js';
