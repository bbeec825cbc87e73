// Why a client may not introspect, and the audit events of introspection.
import { event } from '../audit/event-members.js';
import { CLIENT_REFUSAL } from '../audit/shared-members.js';
import type { TokenRefusal } from '../refusals/refusal.js';

export const INTROSPECTION_REFUSALS = {
  introspection_not_allowed: {
    check: 'client',
    cause: 'no active entry lets the client introspect',
    remedy: 'allow it (`svc-admin clients add --introspect`)',
    oauth: { status: 403, error: 'unauthorized_client', message: 'The client may not introspect tokens' },
  },
} satisfies Record<string, TokenRefusal>;

export const INTROSPECTION_EVENTS = {
  'svc.audit.token-exchange.introspection-refused': event('An introspection was refused.', CLIENT_REFUSAL),
};
