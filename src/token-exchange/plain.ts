// Values, types and functions that need neither Nest nor a database. The start and the commands of this instance import them before
// anything else is loaded.

// Trusted key entries, and what signs
export {
  ALGORITHMS,
  algorithmsFitting,
  keyFits,
  newPrivateKey,
  signatureParameters,
  thumbprintOf,
} from './trust/algorithms.js';
export type { Algorithm } from './trust/algorithms.js';
export type { Findings } from './trust/entry-members.js';
export { KEY_MEMBERS, MAX_ISSUER_BYTES, readEntry } from './trust/entry-reader.js';
export type { Row, Rows } from './trust/entry-kinds.js';
export type { PolicyDefaults, TrustedKeysRules } from './trust/entry-rules.js';
export { JwksContentError, MAX_KID_BYTES, readJwks } from './trust/jwks-content.js';
export type { JwksKey } from './trust/jwks-content.js';
export { MAX_KEY_CHARACTERS } from './trust/projects-policy.js';
export type { TrustedClient } from './trust/client-reader.js';
export { policyInWords } from './trust/policy-checks.js';
export { POLICY, POLICY_GROUPS } from './trust/policy-rows.js';
export { flowsOf } from './trust/trust-policy.js';
export type { TrustPolicy } from './trust/trust-policy.js';
export { readTrustedKeys } from './trust/trusted-key-entry.js';
export { namesDocuments } from './trust/client-reader.js';
export type { TrustedKeysReading } from './trust/trusted-key-entry.js';
export type { JwksEntry, TrustedKeyEntry } from './trust/trusted-key.js';
export { signCompactJws } from './verify/compact-jws.js';
export type { JwsSigner } from './verify/compact-jws.js';

// Settings, tables
export { SETTINGS } from './settings/settings.js';
export { completedOptions } from './settings/token-exchange.settings.js';
export type { TokenExchangeSettings, UserTable } from './settings/token-exchange.options.js';
export { TOKEN_EXCHANGE_MIGRATIONS } from './migrations/index.js';

// Endpoints
export { endpointDescriptions } from './http/endpoints.description.js';
export {
  EMBED_PATH,
  INTROSPECTION_PATH,
  LOGOUT_PATH,
  REVOCATION_PATH,
  SERVER_METADATA_PATHS,
  TOKEN_PATH,
  loginMethods,
} from './http/paths.js';
export { publishedGrants } from './http/token-exchange.form.js';
export { TOKEN_EXCHANGE_GRANT } from './http/token-exchange.form.js';
export { FIELD_LIMITS } from './verify/compact-jws.js';
export { MAX_TOKEN_CHARACTERS } from './verify/compact-jws.js';

// Refusals
export { bearerLine } from './refusals/refusal-line.js';
export { BEARER_REFUSALS, FAULT, NOTICES } from './refusals/refusals.js';
export type { BearerReason, CheckedExplanation, Explanation } from './refusals/refusals.js';
export { Rejection } from './refusals/rejection.js';
export { TOKEN_REFUSALS } from './refusals/token-refusals.js';

// Audit events
export { auditEvent } from './audit/audit-event.js';
export type { AuditContext, AuditEvent } from './audit/audit-event.js';
export {
  ACCESS_TOKEN_ID,
  SESSION_FAMILY_ID,
  TOKEN_EXCHANGE_EVENTS,
  clientAddress,
} from './audit/event-catalogue.js';
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
