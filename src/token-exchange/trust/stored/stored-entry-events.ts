// Audit events of stored trusted key entries.
import { anyObject, event, oneOf, optional, text } from '../../audit/event-members.js';
import { ISSUER } from '../../audit/shared-members.js';

const STORED_ENTRY = 'The entry, with public keys and hashes of client secrets only, and URLs without query.';

export const STORED_ENTRY_EVENTS = {
  'svc.audit.token-exchange.stored-entry-changed': event('A stored trusted key entry was changed.', {
    entry: text('Name of the entry.'),
    change: oneOf(['added', 'policy-changed', 'suspended', 'resumed', 'removed'], 'What was done.'),
    issuer: optional(ISSUER),
    from: optional(anyObject(`${STORED_ENTRY} Before; missing if it was added.`)),
    to: optional(anyObject(`${STORED_ENTRY} After; missing if it was removed.`)),
  }),
};
