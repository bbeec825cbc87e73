// Audit events of embedded logins and of sessions.
import { event, integer, listOf, oneOf, optional, text, uuid } from '../audit/event-members.js';
import {
  CLIENT_ADDRESS,
  IGNORED_ROLE,
  ISSUER,
  KID,
  PRIOR_ACTORS,
  REFUSAL,
  SESSION_FAMILY_ID,
} from '../audit/shared-members.js';

export const LOGIN_EVENTS = {
  /** @rule 6.3 An embedded login succeeded. */
  'svc.audit.token-exchange.embed-login': event(
    'An embedded login has opened a session.',
    {
      issuer: ISSUER,
      kid: KID,
      sessionFamilyId: optional(SESSION_FAMILY_ID),
      replacedRedirect: optional(text('Why the browser went to `/` instead of `redirectTo`.')),
      ...IGNORED_ROLE,
      priorActors: PRIOR_ACTORS,
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'embed', is: 'succeeded' },
  ),
  /** @rule 6.4 An embedded login was refused; the event holds the reason. */
  'svc.audit.token-exchange.embed-login-failed': event('An embedded login failed.', REFUSAL, {
    of: 'embed',
    is: 'failed',
  }),
  'svc.audit.token-exchange.user-signed-out': event(
    'All sessions and access tokens of the subject were ended.',
    { sessions: integer('') },
  ),
  'svc.audit.session.ended': event('Sessions of the subject were ended early.', {
    sessions: integer(''),
    cause: oneOf(
      ['signed-out', 'replaced', 'too-many', 'ended-by-operator', 'signed-out-by-provider'],
      '`replaced`: by another login in the same browser. `too-many`: above the limit.',
    ),
    sessionFamilyIds: listOf(uuid(''), '', {
      minItems: 1,
      uniqueItems: true,
    }),
  }),
};
