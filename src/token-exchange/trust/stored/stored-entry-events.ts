// Audit events of stored trusted key entries.
import { anyObject, event, oneOf, optional, text } from '../../audit/event-members.js';
import { AFTER, BEFORE, ISSUER } from '../../audit/shared-members.js';

export const STORED_ENTRY_EVENTS = {
  'svc.audit.token-exchange.stored-entry-changed': event(
    'A stored trusted key entry was changed. Client secrets are hashed, URLs without query.',
    {
      entry: text(''),
      change: oneOf(['added', 'policy-changed', 'suspended', 'resumed', 'removed'], ''),
      issuer: optional(ISSUER),
      from: optional(anyObject(BEFORE)),
      to: optional(anyObject(AFTER)),
    },
  ),
};
