// Audit events of memberships that tokens change.
import { event, listOf, text } from '../audit/event-members.js';
import { ISSUER, USER_ID } from '../audit/shared-members.js';

const PROJECT_ID = text('', { minLength: 1 });

export const PROJECT_EVENTS = {
  'svc.audit.token-exchange.projects-updated': event(
    "A claim of projects has changed a user's memberships.",
    {
      issuer: ISSUER,
      userId: USER_ID,
      added: listOf(PROJECT_ID, ''),
      changed: listOf(PROJECT_ID, 'Ids of projects with another role.'),
      removed: listOf(PROJECT_ID, ''),
    },
  ),
};
