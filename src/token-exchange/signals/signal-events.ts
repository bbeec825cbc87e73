// Audit events of received security events.
import { event, integer, oneOf, optional, text } from '../audit/event-members.js';
import { KID, clientAddress, REFUSAL, CLIENT_REFUSAL } from '../audit/shared-members.js';
import { EVENT_NAMES } from './security-event.js';

export const SIGNAL_EVENTS = {
  'svc.audit.token-exchange.signal': event(
    'A transmitter of security events, such as the identity provider of a company, has told of a user or of one session.',
    {
      issuer: text('`iss` of the transmitter.', { minLength: 1 }),
      kid: KID,
      event: oneOf(EVENT_NAMES, 'The event.'),
      effect: oneOf(
        ['none', 'signed-out', 'issuer-signed-out', 'disabled', 'enabled', 'verified'],
        'What it has done. `disabled`: the user was also signed out. `issuer-signed-out`: all users of the issuer were, as with `ends` of a logout.',
      ),
      sessions: integer('Number of sessions that have ended and were still live.'),
      clientAddress: optional(clientAddress()),
    },
  ),
  'svc.audit.token-exchange.signal-refused': event(
    'A security event was refused: its transmitter did not authenticate, or its token is not acceptable.',
    { issuer: REFUSAL.issuer, kid: REFUSAL.kid, ...CLIENT_REFUSAL },
  ),
};
