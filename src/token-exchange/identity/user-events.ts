// Audit events of users that tokens create, link or change.
import { event, listOf, oneOf, text } from '../audit/event-members.js';
import { AFTER, BEFORE, ISSUER, USER_ID } from '../audit/shared-members.js';

const ROLE = text('');

export const USER_EVENTS = {
  /** @rule 6.5 A user was created. */
  'svc.audit.token-exchange.user-provisioned': event('A token has created a user.', {
    issuer: ISSUER,
    userId: USER_ID,
    role: ROLE,
  }),
  /** @rule 6.6 An existing user was linked to another external identity. */
  'svc.audit.token-exchange.identity-linked': event(
    'An existing user was linked to another external identity.',
    { issuer: ISSUER, userId: USER_ID },
  ),
  'svc.audit.token-exchange.privileged-identity-linked': event(
    'The linked user is the owner or an administrator.',
    { issuer: ISSUER, userId: USER_ID, role: ROLE },
  ),
  /** @rule 6.7 A token changed a user's role. */
  'svc.audit.token-exchange.role-updated': event("A token has changed a user's global role.", {
    issuer: ISSUER,
    userId: USER_ID,
    from: text(BEFORE),
    to: text(AFTER),
  }),
  /** The event of changed names says which names changed, never their values. */
  'svc.audit.token-exchange.profile-updated': event("A token has changed a user's names.", {
    issuer: ISSUER,
    userId: USER_ID,
    fields: listOf(oneOf(['givenName', 'familyName'], ''), '', {
      minItems: 1,
      uniqueItems: true,
    }),
  }),
};
