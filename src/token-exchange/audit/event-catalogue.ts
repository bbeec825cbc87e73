// Concatenates all rooms' rows of audit events. Payload types, docs/reference/audit-events.*, metrics and log derive from it.
import { EXCHANGE_EVENTS } from '../exchange/exchange-events.js';
import { EXPLAIN_EVENTS } from '../explain/explain-rows.js';
import { USER_EVENTS } from '../identity/user-events.js';
import { INTROSPECTION_EVENTS } from '../introspection/introspection-rows.js';
import { LOGIN_EVENTS } from '../login/login-rows.js';
import { LOGOUT_EVENTS } from '../logout/logout-events.js';
import { PROJECT_EVENTS } from '../projects/project-events.js';
import { REVOCATION_EVENTS } from '../revocation/revocation-events.js';
import { SIGNAL_EVENTS } from '../signals/signal-rows.js';
import { STORED_ENTRY_EVENTS } from '../trust/stored/stored-entry-events.js';
import type { Events } from './event-members.js';

export const TOKEN_EXCHANGE_EVENTS = {
  ...EXCHANGE_EVENTS,
  ...LOGIN_EVENTS,
  ...LOGOUT_EVENTS,
  ...SIGNAL_EVENTS,
  ...USER_EVENTS,
  ...PROJECT_EVENTS,
  ...STORED_ENTRY_EVENTS,
  ...REVOCATION_EVENTS,
  ...INTROSPECTION_EVENTS,
  ...EXPLAIN_EVENTS,
} satisfies Events;
