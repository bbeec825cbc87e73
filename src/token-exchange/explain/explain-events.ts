// Audit events of partners' questions about refusals.
import { event } from '../audit/event-members.js';
import { ISSUER, KID, CLIENT_ADDRESS, REFUSAL, CLIENT_REFUSAL } from '../audit/shared-members.js';

export const EXPLAIN_EVENTS = {
  'svc.audit.token-exchange.refusal-explained': event('A partner was told why its token was refused.', {
    issuer: ISSUER,
    kid: KID,
    reason: REFUSAL.reason,
    clientAddress: CLIENT_ADDRESS,
  }),
  'svc.audit.token-exchange.explain-refused': event("A partner's question about a refusal was refused.", {
    issuer: REFUSAL.issuer,
    kid: REFUSAL.kid,
    ...CLIENT_REFUSAL,
  }),
};
