// Audit events of introspection.
import { event } from '../audit/event-members.js';
import { CLIENT_REFUSAL } from '../audit/shared-members.js';

export const INTROSPECTION_EVENTS = {
  'svc.audit.token-exchange.introspection-refused': event('An introspection was refused.', CLIENT_REFUSAL),
};
