// Audit events of back-channel logouts.
import { event, integer, oneOf, optional } from '../audit/event-members.js';
import { ISSUER, KID, CLIENT_ADDRESS, REFUSAL } from '../audit/shared-members.js';

export const LOGOUT_EVENTS = {
  'svc.audit.token-exchange.logout': event(
    'A provider or partner has signed a user out.',
    {
      issuer: ISSUER,
      kid: KID,
      ends: oneOf(
        ['subject', 'session', 'issuer'],
        'What ended: everything of the user, of one session at the provider, or of the issuer after 50,000 logouts within 25 hours.',
      ),
      sessions: integer('Number of ended sessions.'),
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'logout', is: 'succeeded' },
  ),
  'svc.audit.token-exchange.logout-failed': event('A logout was refused or failed.', REFUSAL, {
    of: 'logout',
    is: 'failed',
  }),
};
