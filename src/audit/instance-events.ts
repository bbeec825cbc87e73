// The instance's own audit events, besides those of token exchange. Also combines the two catalogues.
import type { EventRow, Events, PayloadsOf } from '../token-exchange/instance.js';
import {
  ACCESS_TOKEN_ID,
  clientAddress,
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

const CALL = { method: text('Method of the call.'), route: text('Path with the names of its parameters.') };
const ADMINISTRATION = {
  operation: text('The operation as its command is typed: `users create`.'),
  way: oneOf(
    ['service', 'database', 'operator'],
    "`operator`: at the operator's page, where the subject is the operator.",
  ),
  clientAddress: optional(clientAddress("Only from the operator's page. ")),
};
const USER_STATE = { role: text('Global role.'), enabled: flag('Whether the user may come in.') };
const OPERATOR_SESSION_ID = uuid("Id of the session of the operator's page, as in its lists; no credential.");

const INSTANCE_EVENTS = {
  'svc.audit.api.called': event(
    'An API call came with a valid access token, or wrote by a session, also if a right or licence was missing; or the trail was read. Throttled calls leave no event.',
    {
      ...CALL,
      targets: textsByName('The ids in the path, under the names of its parameters.'),
      accessTokenId: optional(ACCESS_TOKEN_ID),
      sessionFamilyId: optional(SESSION_FAMILY_ID),
    },
  ),
  'svc.audit.api.refused': event(
    'An API call was refused for its access token or proof (401). An instance writes ten a minute per token that it signed, otherwise per client address, and 600 in all.',
    {
      reason: text('The cause, a word of docs/refusals.md.'),
      detail: optional(text('The check that a DPoP proof fails.')),
      expected: optional(text('What the rule requires.')),
      found: optional(text('What came instead.')),
      ...CALL,
      accessTokenId: optional(uuid('`jti` of the access token, if this instance signed it.')),
      clientAddress: optional(clientAddress()),
    },
    { of: 'api', is: 'failed' },
  ),
  'svc.audit.administration.performed': event('A command did its work.', {
    ...ADMINISTRATION,
    targets: textsByName('The ids of the affected objects, under the names of the API.'),
  }),
  'svc.audit.administration.read': event(
    "A command or the operator's page is about to read. Repeated readings of a page are written once a minute.",
    {
      ...ADMINISTRATION,
      targets: textsByName('The ids of what is read, under the names of the API; none: all.'),
    },
  ),
  'svc.audit.administration.failed': event('A command failed and changed nothing.', {
    ...ADMINISTRATION,
    reason: oneOf(['refused', 'internal_error'], '`internal_error`: a fault ended it.'),
  }),
  'svc.audit.user.changed': event(
    "The subject was created, got another role or state, or was deleted. The actor is the API's caller or the operator; a command has none.",
    {
      from: optional(objectOf(USER_STATE, 'Before; missing if the user was created.')),
      to: optional(objectOf(USER_STATE, 'After; missing if the user was deleted.')),
    },
  ),
  'svc.audit.operator.signed-in': event("An operator has signed in at the operator's page.", {
    clientAddress: clientAddress(),
    by: oneOf(
      ['password', 'code'],
      '`code`: with a code of `svc-admin users set-password --code`, which also set a password.',
    ),
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.sign-in-failed': event(
    "A sign-in or change of a password at the operator's page was refused. The subject is the user with the typed e-mail address, if any.",
    {
      clientAddress: clientAddress(),
      reason: oneOf(
        OPERATOR_REFUSAL_REASONS,
        '`wrong_code`: also a used or expired one, or one of a user who may not sign in.',
      ),
    },
  ),
  'svc.audit.operator.signed-out': event('An operator has signed out.', {
    clientAddress: clientAddress(),
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.password-changed': event("The subject has a new password for the operator's page.", {
    clientAddress: optional(clientAddress('Missing if a command set the password. ')),
    by: oneOf(
      ['password', 'code', 'command'],
      'How it was set: with the previous password, with a code, or by `svc-admin users set-password`.',
    ),
    endedSessions: integer("Number of sessions of the operator's page that ended."),
  }),
} satisfies Events;

declare module '../token-exchange/audit/audit.bus.js' {
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
