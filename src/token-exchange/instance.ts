// What the instance of this repository needs beyond the package's entry points. It is not an entry point itself.
export * from './advanced.js';

// Settings, tables, endpoints
export { endpointDescriptions } from './endpoint/endpoints.description.js';
export { TOKEN_EXCHANGE_GRANT, publishedGrants } from './exchange/token-exchange.form.js';
export { TOKEN_EXCHANGE_MIGRATIONS } from './migrations/index.js';
export { DPOP_NONCE, PATH_PREFIX, SECTIONS, SESSION_COOKIE, TRANSMITTERS } from './settings/settings.js';
export type { TokenExchangeSettings } from './settings/token-exchange.options.js';
export { ROUTE_SETTINGS, TOKEN_EXCHANGE_SETTINGS } from './settings/token-exchange.options.js';
export { completedOptions, givenSettings } from './settings/token-exchange.settings.js';

// Ports
export { KEY_SET_FETCH_OUTCOMES, KEY_SET_STATES } from './host/telemetry.js';

// Trusted key entries
export {
  ALGORITHMS,
  algorithmsFitting,
  keyFits,
  newPrivateKey,
  signatureParameters,
  thumbprintOf,
} from './trust/algorithms.js';
export type { Algorithm } from './trust/algorithms.js';
export { namesDocuments } from './assertions/client-reader.js';
export type { TrustedClient } from './assertions/client-reader.js';
export type { Row, Rows, Findings } from './trust/entry-kinds.js';
export { KEY_MEMBERS, MAX_ISSUER_BYTES, readEntry } from './trust/entry-reader.js';
export type { PolicyDefaults, TrustedKeysRules } from './trust/entry-rules.js';
export { JwksContentError, MAX_KID_BYTES, readJwks } from './trust/jwks-content.js';
export { JwksFetchError, JwksFetcher } from './trust/jwks/jwks-fetcher.js';
export { JwksKeyProvider } from './trust/jwks/jwks-key.provider.js';
export { JwksSnapshotRepository, neverTried, toJwksAddress } from './trust/jwks/jwks-snapshot.repository.js';
export type { JwksSnapshot } from './trust/jwks/jwks-snapshot.repository.js';
export type { KeySetState } from './trust/jwks/jwks-cache-entry.js';
export { isInUse, keySetInWords, keySetState } from './trust/jwks/jwks-cache-entry.js';
export { policyInWords } from './trust/policy-checks.js';
export { POLICY, POLICY_GROUPS } from './trust/policy-rows.js';
export { MAX_KEY_CHARACTERS } from './projects/projects-policy.js';
export { StoredEntryChanges } from './trust/stored/stored-entry.changes.js';
export type { StoredEntryChange, StoredEntryWork } from './trust/stored/stored-entry.changes.js';
export { StoredEntryFollower } from './trust/stored/stored-entry.follower.js';
export type { CheckedStoredEntry, EntryValue, StoredEntriesRules } from './trust/stored/stored-entry.js';
export { shownEntry } from './trust/stored/stored-entry.js';
export { StoredEntryRepository } from './trust/stored/stored-entry.repository.js';
export { stateOf } from './trust/stored/stored-entry.service.js';
export { flowsOf, labelOf, maxUsersOf } from './trust/trusted-key.js';
export type { TrustPolicy } from './trust/trusted-key.js';
export type { JwksEntry } from './trust/trusted-key.js';
export { FIELD_LIMITS, MAX_TOKEN_CHARACTERS, signCompactJws } from './verify/compact-jws.js';
export type { JwsSigner } from './verify/compact-jws.js';

// Access tokens
export { ACCESS_TOKEN_OPTIONS } from './tokens/access-token.service.js';
export type { AccessTokenOptions } from './tokens/access-token.service.js';
export { ACCESS_TOKEN_PROVIDERS } from './tokens/access-tokens.providers.js';
export { DpopProofs } from './dpop/dpop-proofs.js';
export type { PresentedCall } from './dpop/dpop-proofs.js';
export { SigningKeyRepository } from './tokens/signing-key.repository.js';
export { SigningKeyService, endPresentKey } from './tokens/signing-key.service.js';

// Calls with access tokens, and metadata
export {
  challengeTo,
  errorOf,
  isAboutProof,
  isSupportedScheme,
  presentedCallOf,
  scopeChallengeTo,
} from './endpoint/challenge.js';
export { KeySetController, METADATA_OPTIONS, MetadataController } from './metadata/metadata.controller.js';
export type { MetadataOptions, TokenEndpoint } from './metadata/metadata.controller.js';
export { callerOf, isEnabled, refusalNow } from './tokens/caller.js';

// Refusals
export {
  EMBED_PATH,
  ENDPOINT_PATHS,
  EVENTS_PATH,
  EXPLAIN_PATH,
  INTROSPECTION_PATH,
  LOGOUT_PATH,
  REVOCATION_PATH,
  SERVER_METADATA_PATHS,
  TOKEN_PATH,
  loginMethods,
} from './endpoint/paths.js';
export { ACCESS_FLOWS, FLOWS, ISSUING_FLOWS, THROTTLED_FLOWS } from './endpoint/flows.js';
export type { Endpoint, OutcomeCounter } from './endpoint/flows.js';
export { bearerLine } from './refusals/refusal-line.js';
export { NOTICES } from './refusals/refusals.js';
export { BEARER_REFUSALS } from './tokens/bearer-refusals.js';
export { FAULT } from './endpoint/request-refusals.js';
export type { BearerReason } from './tokens/bearer-refusals.js';
export type { CheckedExplanation, Explanation } from './refusals/refusal.js';
export { OAuthRefusal } from './refusals/oauth-refusal.js';
export { TOKEN_REFUSALS } from './refusals/token-refusals.js';

// Sessions
export { SESSION_OPTIONS, readSessionCookies } from './login/session-cookie.js';
export { SessionRepository } from './login/session.repository.js';
export { isSessionToken } from './login/session.service.js';
export { SESSION_PROVIDERS } from './login/sessions.providers.js';
export { signOutEverywhere } from './login/sign-out.service.js';

// Revocation
export { readRecordedKeys } from './revocation/revocations.js';
export { RevocationFollower } from './revocation/revocation.follower.js';
export { REVOCATION_PROVIDERS } from './revocation/revocation.providers.js';
export { RevocationRepository } from './revocation/revocation.repository.js';
export { restoreTrust, revokeTrust } from './revocation/revocation.service.js';

// Security events
export { REQUESTED_EVENTS } from './signals/signal-rows.js';
export { transmitterEntry, eventUseId } from './signals/transmitters.js';
export type { Transmitter } from './signals/transmitters.js';

// Audit events
export { AuditBus, auditEvent } from './audit/audit-trail.js';
export type { AuditEvent, RecordedWork } from './audit/audit-trail.js';
export { TOKEN_EXCHANGE_EVENTS } from './audit/event-catalogue.js';
export { ACCESS_TOKEN_ID, AFTER, BEFORE, CLIENT_ADDRESS, SESSION_FAMILY_ID } from './audit/shared-members.js';
export {
  event,
  flag,
  integer,
  objectOf,
  oneOf,
  optional,
  text,
  textsByName,
  uuid,
} from './audit/event-members.js';
export type { EventRow, Events, PayloadsOf } from './audit/event-members.js';
export { EventTable, EventTableTrail } from './audit/audit-trail.js';

// Users and replay protection
export { ClockDifference } from './replay/clock-difference.js';
export { JtiRepository } from './replay/jti.repository.js';
export type { PlannedUser, UserCreation } from './host/users.js';
export { IdentityLinkRepository } from './identity/identity-link.repository.js';
export { SeatRepository } from './identity/seat.repository.js';

// Explanations
export type {
  ExplainedCheck,
  ExplainedToken,
  ExplainedUser,
  ExplanationRequest,
  ExplanationRules,
  TokenExplanation,
} from './explain/token-explanation.js';
export { TokenExplainer } from './explain/token.explainer.js';
export type { ExplanationSources } from './explain/token.explainer.js';
