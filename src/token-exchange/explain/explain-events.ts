// Audit events of partners' questions about refusals.
import { event, text } from '../audit/event-members.js';
import { ISSUER, clientAddress, REFUSAL, CLIENT_REFUSAL } from '../audit/shared-members.js';

export const EXPLAIN_EVENTS = {
  'svc.audit.token-exchange.refusal-explained': event(
    'A partner was told why a token of its entry was refused.',
    {
      issuer: ISSUER,
      kid: text('`kid` of the key that signed the question.'),
      reason: text('The cause that it was told of, a word of docs/refusals.md.'),
      clientAddress: clientAddress(),
    },
  ),
  'svc.audit.token-exchange.explain-refused': event(
    'A partner asked why a token was refused, and got no answer.',
    { issuer: REFUSAL.issuer, kid: REFUSAL.kid, ...CLIENT_REFUSAL },
  ),
};
