// Audit events of back-channel logouts.
import { event, integer, oneOf, optional } from '../audit/event-members.js';
import { CLIENT_ADDRESS, ISSUER, KID, REFUSAL } from '../audit/shared-members.js';

export const LOGOUT_EVENTS = {
  'svc.audit.token-exchange.logout': event(
    'A provider or partner has signed a user out.',
    {
      issuer: ISSUER,
      kid: KID,
      ends: oneOf(
        ['subject', 'session', 'issuer'],
        '`session`: a session at the provider. `issuer`: all users, after 50,000 logouts within 25 hours.',
      ),
      sessions: integer(''),
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'logout', is: 'succeeded' },
  ),
  'svc.audit.token-exchange.logout-failed': event('A logout failed.', REFUSAL, {
    of: 'logout',
    is: 'failed',
  }),
};
