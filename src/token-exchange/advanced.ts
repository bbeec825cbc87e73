// The second entry of the package, for hosts that administer token exchange or have their own parts. It does not load the module;
// index.ts does.

// Settings and parts
export type {
  AccessTokenSettings,
  EmbedLoginSettings,
  EntryRulesSettings,
  ExchangeSettings,
  IdAssertionSettings,
  JwksSettings,
  LimitedEndpointSettings,
  ReplayPurgeSettings,
  RoleNames,
  RouteSettings,
  SessionSettings,
  UserTable,
} from './settings/token-exchange.options.js';
export type { ModuleExtras } from './token-exchange.module-definition.js';

// Ports
export { SessionOpener } from './host/logins.js';
export type { BoundLogin, OpenedBoundSession, OpenedSession, SessionLogin } from './host/logins.js';
export { ExchangeTelemetry } from './host/telemetry.js';
export type {
  EntryEnd,
  KeySetFetchOutcome,
  KeySetFigures,
  KeySetStateName,
  KeysHeld,
  ReplayRecords,
  SeatsOfEntry,
  Stage,
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
export type { AccessFlow, Flow, ThrottledFlow } from './endpoint/flows.js';
export type { Log } from '../platform/log/log.js';
export { limitWaits } from '../platform/database/pool.js';
export type { ConnectionPool, LimitedDriver, WaitLimits } from '../platform/database/pool.js';
export { DatabaseOutages } from '../platform/http/database-outages.js';
export { TemporarilyUnavailableException } from '../platform/http/temporarily-unavailable.exception.js';
export { Transaction } from '../platform/database/transaction.js';
export { TokenExchangeThrottlerStorage } from './host/host-parts.module.js';
export type { RefundingThrottlerStorage } from '../platform/http/throttle/rate-limit.js';

// Trusted key entries
export { readTrustedKeys } from './trust/trusted-key-entry.js';
export type { TrustedKeysReading } from './trust/trusted-key-entry.js';
export type { TrustedKeyEntry } from './trust/trusted-key.js';
export { StoredEntryService } from './trust/stored/stored-entry.service.js';
export type { StoredEntryStatus } from './trust/stored/stored-entry.service.js';
export { StoredEntryError } from './trust/stored/stored-entry.js';

// Access tokens
export { AccessTokenService } from './tokens/access-token.service.js';
export type { AccessTokenRefusal, VerifiedAccessToken } from './tokens/access-token.service.js';

// Sessions
export { presentedCallOf } from './endpoint/challenge.js';
export type { PresentedCall } from './dpop/dpop-proofs.js';
export { BoundSessionService } from './login/bound-session.service.js';
export type { BoundSessionVerdict } from './login/bound-session.service.js';
export type { WebSession } from './login/session.repository.js';
export { SessionService } from './login/session.service.js';
export { SignOutService } from './login/sign-out.service.js';

// Revocation
export { RevocationService } from './revocation/revocation.service.js';
export { Revocations } from './revocation/revocations.js';
export type {
  TrustRevocation,
  RevocableSession,
  RevocableToken,
  ExternalLogin,
  IssuerKey,
  Logout,
} from './revocation/revocations.js';

// Audit events
export { AuditTrail } from './audit/audit-trail.js';
export type { AuditContext, AuditEventName, AuditPayloads } from './audit/audit-trail.js';

// Users and replay protection
export type { ExternalPerson } from './refusals/oauth-refusal.js';
export type { TokenRefusalReason } from './refusals/token-refusals.js';
