// The audit events of what resolving a token changed.
import type { AuditContext, AuditEvent } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { IdentityChange, ResolvedUser } from '../users/apply.js';
import type { VerifiedToken } from '../verify/external-token.verifier.js';

export function identityEvents(
  context: AuditContext,
  token: VerifiedToken,
  resolved: ResolvedUser,
): AuditEvent[] {
  const { issuer } = token.key.policy;
  return resolved.changes.flatMap((change) => {
    if (change.kind === 'identity-linked') return linkEvents(context, issuer, change);
    const { kind, ...payload } = change;
    return auditEvent(`svc.audit.token-exchange.${kind}`, context, { issuer, ...payload });
  });
}

/**
 * @rule D54 A link to an administrator has an event of its own, and a warning.
 * See policy-checks.ts for the entries that may, and notices.ts for the log.
 */
function linkEvents(
  context: AuditContext,
  issuer: string,
  { userId, role, isPrivileged }: Extract<IdentityChange, { kind: 'identity-linked' }>,
): AuditEvent[] {
  const linked = auditEvent('svc.audit.token-exchange.identity-linked', context, { issuer, userId });
  if (!isPrivileged) return [linked];
  const payload = { issuer, userId, role };
  return [linked, auditEvent('svc.audit.token-exchange.privileged-identity-linked', context, payload)];
}
