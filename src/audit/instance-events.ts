// The instance's own audit events, besides those of token exchange. Also combines the two catalogues.
import type { EventRow, Events, PayloadsOf } from '../token-exchange/instance.js';
import {
  ACCESS_TOKEN_ID,
  AFTER,
  BEFORE,
  CLIENT_ADDRESS,
  event,
  flag,
  integer,
  objectOf,
  oneOf,
  optional,
  SESSION_FAMILY_ID,
  text,
  textsByName,
  TOKEN_EXCHANGE_EVENTS,
  uuid,
} from '../token-exchange/instance.js';

/** Why a sign-in to the operator's page was refused. */
const OPERATOR_REFUSAL_REASONS = [
  'unknown_account',
  'no_password',
  'wrong_password',
  'not_privileged',
  'user_disabled',
  'wrong_code',
] as const;
export type OperatorRefusalReason = (typeof OPERATOR_REFUSAL_REASONS)[number];

const CALL = { method: text(''), route: text('Path with the names of its parameters.') };
const ADMINISTRATION = {
  operation: text('Command, such as `users create`.'),
  way: oneOf(['service', 'database', 'operator'], "`operator`: the subject used the operator's page."),
  clientAddress: optional(CLIENT_ADDRESS),
};
const TARGETS = 'Ids of the affected objects, by parameter name; empty if all are affected.';
const USER_STATE = { role: text(''), enabled: flag('') };
const OPERATOR_SESSION_ID = uuid('');

const INSTANCE_EVENTS = {
  'svc.audit.api.called': event(
    'An API call had a valid access token, changed something with a session, or read the trail. Calls without right or licence are included.',
    {
      ...CALL,
      targets: textsByName(TARGETS),
      accessTokenId: optional(ACCESS_TOKEN_ID),
      sessionFamilyId: optional(SESSION_FAMILY_ID),
    },
  ),
  'svc.audit.api.refused': event(
    'An access token or proof was refused (401). At most ten a minute are recorded per token or client address, 600 in all.',
    {
      reason: text('A reason of docs/refusals.md.'),
      detail: optional(text('')),
      expected: optional(text('')),
      found: optional(text('')),
      ...CALL,
      accessTokenId: optional(ACCESS_TOKEN_ID),
      clientAddress: optional(CLIENT_ADDRESS),
    },
    { of: 'api', is: 'failed' },
  ),
  'svc.audit.administration.performed': event('A command succeeded.', {
    ...ADMINISTRATION,
    targets: textsByName(TARGETS),
  }),
  'svc.audit.administration.read': event(
    "A command or the operator's page has read data. Repeated reads are recorded once a minute.",
    {
      ...ADMINISTRATION,
      targets: textsByName(TARGETS),
    },
  ),
  'svc.audit.administration.failed': event('A command failed and changed nothing.', {
    ...ADMINISTRATION,
    reason: oneOf(['refused', 'internal_error'], ''),
  }),
  'svc.audit.user.changed': event('The subject was created, changed or deleted.', {
    from: optional(objectOf(USER_STATE, BEFORE)),
    to: optional(objectOf(USER_STATE, AFTER)),
  }),
  'svc.audit.operator.signed-in': event("An operator has signed in at the operator's page.", {
    clientAddress: CLIENT_ADDRESS,
    by: oneOf(['password', 'code'], ''),
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.sign-in-failed': event(
    "A sign-in or a new password at the operator's page was refused. The subject is the user with the typed e-mail address.",
    {
      clientAddress: CLIENT_ADDRESS,
      reason: oneOf(
        OPERATOR_REFUSAL_REASONS,
        '`wrong_code`: wrong, used, expired, or the user may not sign in.',
      ),
    },
  ),
  'svc.audit.operator.signed-out': event('An operator has signed out.', {
    clientAddress: CLIENT_ADDRESS,
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.password-changed': event("The subject has a new password for the operator's page.", {
    clientAddress: optional(CLIENT_ADDRESS),
    by: oneOf(['password', 'code', 'command'], '`code`: created by `svc-admin users set-password --code`.'),
    endedSessions: integer(''),
  }),
} satisfies Events;

declare module '../token-exchange/audit/audit-trail.js' {
  interface AuditPayloads extends PayloadsOf<typeof INSTANCE_EVENTS> {}
}

/** All events by name. */
export const AUDIT_EVENTS: Events = { ...TOKEN_EXCHANGE_EVENTS, ...INSTANCE_EVENTS };

/** The common prefix of all names. */
export const EVENT_NAME_START = 'svc.audit.';
export const AUDIT_EVENT_NAMES: readonly string[] = Object.keys(AUDIT_EVENTS);

/** The event for data that an operator has read. */
export const READING_EVENT = 'svc.audit.administration.read';

/** Events with an outcome. */
export const OUTCOME_EVENTS = AUDIT_EVENT_NAMES.filter((name) => outcomeOf(name) !== undefined);
/** Refusals. Their payload has a reason. */
export const REFUSAL_EVENTS = OUTCOME_EVENTS.filter((name) => outcomeOf(name)?.is === 'failed');

/** Successful token exchanges and embedded logins. */
export const SIGN_IN_EVENTS = OUTCOME_EVENTS.filter((name) => {
  const outcome = outcomeOf(name);
  return outcome?.is === 'succeeded' && outcome.of !== 'logout';
});

export function outcomeOf(name: string): EventRow['outcome'] {
  return AUDIT_EVENTS[name]?.outcome;
}
