// The names of all events of this instance, as far as a running program has to know them.
import type { AuditEventName } from '../token-exchange/audit/audit-event.js';
import './instance-events.js';

/** What all names begin with. */
export const EVENT_NAME_START = 'svc.audit.';

/** One row each: the compiler asks for those that the catalogue has besides. */
const NAMES: Readonly<Record<AuditEventName, true>> = {
  'svc.audit.token-exchange.succeeded': true,
  'svc.audit.token-exchange.failed': true,
  'svc.audit.token-exchange.embed-login': true,
  'svc.audit.token-exchange.embed-login-failed': true,
  'svc.audit.token-exchange.user-provisioned': true,
  'svc.audit.token-exchange.identity-linked': true,
  'svc.audit.token-exchange.privileged-identity-linked': true,
  'svc.audit.token-exchange.role-updated': true,
  'svc.audit.token-exchange.profile-updated': true,
  'svc.audit.token-exchange.stored-entry-changed': true,
  'svc.audit.token-exchange.trust-revoked': true,
  'svc.audit.token-exchange.trust-restored': true,
  'svc.audit.token-exchange.token-revoked': true,
  'svc.audit.token-exchange.user-signed-out': true,
  'svc.audit.session.ended': true,
  'svc.audit.api.called': true,
  'svc.audit.api.refused': true,
  'svc.audit.administration.performed': true,
  'svc.audit.administration.failed': true,
  'svc.audit.operator.signed-in': true,
  'svc.audit.operator.sign-in-failed': true,
  'svc.audit.operator.signed-out': true,
  'svc.audit.operator.password-changed': true,
};

export const AUDIT_EVENT_NAMES: readonly string[] = Object.keys(NAMES);
