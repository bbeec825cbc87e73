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
    switch (change.kind) {
      case 'user-provisioned': {
        const { userId, role } = change;
        return auditEvent('svc.audit.token-exchange.user-provisioned', context, { issuer, userId, role });
      }
      case 'identity-linked':
        return linkEvents(context, issuer, change);
      case 'role-updated': {
        const { userId, from, to } = change;
        return auditEvent('svc.audit.token-exchange.role-updated', context, { issuer, userId, from, to });
      }
      case 'profile-updated': {
        const { userId, fields } = change;
        return auditEvent('svc.audit.token-exchange.profile-updated', context, { issuer, userId, fields });
      }
      case 'projects-updated': {
        const { kind: _, ...projects } = change;
        return auditEvent('svc.audit.token-exchange.projects-updated', context, { issuer, ...projects });
      }
    }
  });
}

/**
 * @rule D54 A link to an administrator has an event of its own, and a warning.
 * See policy-defaults.ts for the entries that may, and privileged-link.warning.ts for the log.
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
