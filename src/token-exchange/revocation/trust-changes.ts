// Takes trust back and gives it again within a transaction, with the events that are to be recorded in it.
import type { AuditContext } from '../audit/audit-event.js';
import { auditEvent } from '../audit/audit-event.js';
import type { RecordedWork } from '../audit/audit.bus.js';
import type { Transaction } from '../../platform/database/transaction.js';
import type { RevocationRepository, RevokedTrust } from './revocation.repository.js';

/** @returns when: the time of the context */
export async function revokeTrust(
  revocations: RevocationRepository,
  transaction: Transaction,
  trust: RevokedTrust,
  context: AuditContext,
): Promise<RecordedWork<Date>> {
  await revocations.revoke(transaction, trust, context.occurredAt);
  const event = auditEvent('svc.audit.token-exchange.trust-revoked', context, payloadOf(trust));
  return { result: context.occurredAt, events: [event] };
}

/** @returns false where no such revocation holds; then nothing is changed, and there is nothing to record */
export async function restoreTrust(
  revocations: RevocationRepository,
  transaction: Transaction,
  trust: RevokedTrust,
  context: AuditContext,
): Promise<RecordedWork<boolean>> {
  const isRestored = await revocations.restore(transaction, trust, context.occurredAt);
  if (!isRestored) return { result: false, events: [] };
  const event = auditEvent('svc.audit.token-exchange.trust-restored', context, payloadOf(trust));
  return { result: true, events: [event] };
}

function payloadOf({ issuer, kid }: RevokedTrust): { issuer: string; kid?: string } {
  return kid === null ? { issuer } : { issuer, kid };
}
