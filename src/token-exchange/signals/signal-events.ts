// Audit events of received security events.
import { event, integer, oneOf, optional } from '../audit/event-members.js';
import { CLIENT_ADDRESS, CLIENT_REFUSAL, ISSUER, KID, REFUSAL } from '../audit/shared-members.js';
import { EVENT_NAMES } from './security-event.js';

export const SIGNAL_EVENTS = {
  'svc.audit.token-exchange.signal': event('A security event of a user or session arrived.', {
    issuer: ISSUER,
    kid: KID,
    event: oneOf(EVENT_NAMES, ''),
    effect: oneOf(
      ['none', 'signed-out', 'issuer-signed-out', 'disabled', 'enabled', 'verified'],
      '`disabled` includes a sign-out. `issuer-signed-out`: all users of the issuer.',
    ),
    sessions: integer(''),
    clientAddress: optional(CLIENT_ADDRESS),
  }),
  'svc.audit.token-exchange.signal-refused': event('A security event was refused.', {
    issuer: REFUSAL.issuer,
    kid: REFUSAL.kid,
    ...CLIENT_REFUSAL,
  }),
};
