// Audit events of memberships that tokens change.
import { event, listOf, text } from '../audit/event-members.js';
import { ISSUER, USER_ID } from '../audit/shared-members.js';

const PROJECT_ID = text('', { minLength: 1 });

export const PROJECT_EVENTS = {
  'svc.audit.token-exchange.projects-updated': event(
    'A claim of projects has changed memberships of a user.',
    {
      issuer: ISSUER,
      userId: USER_ID,
      added: listOf(PROJECT_ID, 'Ids of projects that the user has joined.'),
      changed: listOf(PROJECT_ID, 'Ids of projects in which the user now has another role.'),
      removed: listOf(PROJECT_ID, 'Ids of projects that the user has left.'),
    },
  ),
};
