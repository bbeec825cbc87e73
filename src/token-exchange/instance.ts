// What the instance of this repository needs beyond the entries of the package. It is no entry itself.
export * from './advanced.js';

// Ports
export { KEY_SET_FETCH_OUTCOMES, KEY_SET_STATES } from './host/telemetry.js';

// Trusted key entries
export type { TrustedKeysRules } from './trust/entry-rules.js';
export { JwksFetchError, JwksFetcher } from './trust/jwks/jwks-fetcher.js';
export { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
export { JwksSnapshotRepository, neverTried, toJwksAddress } from './trust/jwks/jwks-snapshot.repository.js';
export type { JwksAddress, JwksSnapshot } from './trust/jwks/jwks-snapshot.repository.js';
export { isServing, keySetInWords, keySetState } from './trust/jwks/key-set-state.js';
export type { KeySetState } from './trust/jwks/key-set-state.js';
export type { StoredEntriesRules } from './trust/stored/stored-entry.reader.js';
export { StoredEntryChanges } from './trust/stored/stored-entry.changes.js';
export type { StoredEntryChange, StoredEntryWork } from './trust/stored/stored-entry.changes.js';
export { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
export { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
export { stateOf } from './trust/stored/stored-entry.service.js';
export { shownEntry } from './trust/stored/stored-entry.js';
export { labelOf } from './trust/trust-policy.js';
export type { CheckedStoredEntry, EntryValue } from './trust/stored/stored-entry.js';

// Access tokens
export { ACCESS_TOKEN_OPTIONS } from './tokens/access-token.service.js';
export type { AccessTokenOptions } from './tokens/access-token.service.js';
export { ACCESS_TOKEN_PROVIDERS } from './tokens/access-tokens.providers.js';
export { DpopProofs } from './tokens/dpop-proofs.js';
export type { PresentedCall } from './tokens/dpop-proofs.js';
export { SigningKeyRepository } from './tokens/signing-key.repository.js';

// Errors of the endpoints
export { FlowErrors } from './http/flow-error.filter.js';
export { FlowRefusal, refusalOfLabel } from './refusals/rejection.js';
export type { Endpoint } from './http/paths.js';

// Calls with access tokens, and what is published of them
export { callerOf, isCurrent, isEnabled } from './tokens/caller.js';
export { challengeTo, errorOf, isServedScheme, presentedCallOf, scopeChallengeTo } from './http/challenge.js';
export { KeySetController } from './http/metadata.controller.js';
export { METADATA_OPTIONS, MetadataController } from './http/metadata.controller.js';
export type { MetadataOptions, TokenEndpoint } from './http/metadata.controller.js';

// Sessions
export { readSessionCookies, SESSION_COOKIE, SESSION_OPTIONS } from './sessions/session-cookie.js';
export { SessionRepository } from './sessions/session.repository.js';
export { SESSION_PROVIDERS } from './sessions/sessions.providers.js';
export { signOutEverywhere } from './sessions/sign-out.service.js';

// Revocation
export { RevocationFollower } from './revocation/revocation.follower.js';
export { REVOCATION_PROVIDERS } from './revocation/revocation.providers.js';
export { RevocationRepository } from './revocation/revocation.repository.js';
export { restoreTrust, revokeTrust } from './revocation/revocation.service.js';
export { readRecordedKeys } from './revocation/external-login.js';

// Audit events
export { AuditBus } from './audit/audit.bus.js';
export type { RecordedWork } from './audit/audit.bus.js';
export { EventTable, EventTableTrail } from './audit/event-table.js';

// Users and replay protection
export { IdentityLinkRepository } from './users/identity-link.repository.js';
export { ClockDifference } from './replay/clock-difference.js';
export { JtiRepository } from './replay/jti.repository.js';
