// The audit events of this instance beside those of token exchange, a row for each; and what both catalogues say together.
import type { EventRow, Events, PayloadsOf } from '../token-exchange/plain.js';
import {
  ACCESS_TOKEN_ID,
  clientAddress,
  event,
  integer,
  oneOf,
  optional,
  SESSION_FAMILY_ID,
  text,
  textsByName,
  TOKEN_EXCHANGE_EVENTS,
  uuid,
} from '../token-exchange/plain.js';

/** Why a sign-in at the operator's page was refused. */
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
  operation: text('As its command is typed: `users create`.'),
  way: oneOf(
    ['service', 'database', 'operator'],
    "Through the running service, on the database itself, or by the operator's page: then the subject is who asked.",
  ),
  clientAddress: optional(clientAddress("By the operator's page only. ")),
};
const OPERATOR_SESSION_ID = uuid("The session of the operator's page, as its lists call it; opens nothing.");

export const INSTANCE_EVENTS = {
  'svc.audit.api.called': event(
    'An API call came with a valid access token, also one that is refused for a missing right or licence; or the trail was read, by a token or a session. Throttled calls leave none.',
    {
      ...CALL,
      things: textsByName('The ids that the path named, by the names of its parameters.'),
      accessTokenId: optional(ACCESS_TOKEN_ID),
      sessionFamilyId: optional(SESSION_FAMILY_ID),
    },
  ),
  'svc.audit.api.refused': event(
    'A call of the API was refused for its Bearer credential (401). Within a minute and instance at most ten are written of one token that this instance signed, else of one client address, and 600 of all addresses together. The users are those of a token that this instance signed.',
    {
      reason: text('The stable word for the cause, explained in docs/refusals.md.'),
      expected: optional(text('What the rule asks for.')),
      found: optional(text('What came instead, in words of the service.')),
      ...CALL,
      accessTokenId: optional(uuid('`jti` of the access token, if this instance signed it.')),
      clientAddress: optional(clientAddress()),
    },
    { of: 'api', is: 'failed' },
  ),
  'svc.audit.administration.performed': event('A command did its work; one that reads was about to.', {
    ...ADMINISTRATION,
    things: textsByName('The ids of what it concerned, by the names that the API has for them.'),
  }),
  'svc.audit.administration.failed': event('A command was asked for and changed nothing.', {
    ...ADMINISTRATION,
    reason: oneOf(['refused', 'internal_error'], '`internal_error`: a fault ended it.'),
  }),
  'svc.audit.operator.signed-in': event("An operator has signed in at the operator's page.", {
    clientAddress: clientAddress(),
    by: oneOf(
      ['password', 'code'],
      '`code`: by a code of `svc-admin users set-password --code`, with which a password was set.',
    ),
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.sign-in-failed': event(
    "A sign-in at the operator's page was refused, or the change of a password there for the one before. The client gets the same answer for every reason. The subject is the user whose e-mail address was typed, where there is one.",
    {
      clientAddress: clientAddress(),
      reason: oneOf(
        OPERATOR_REFUSAL_REASONS,
        '`wrong_code`: also one that was used, is too old, or belongs to a user who may not sign in.',
      ),
    },
  ),
  'svc.audit.operator.signed-out': event('An operator has signed out.', {
    clientAddress: clientAddress(),
    operatorSessionId: OPERATOR_SESSION_ID,
  }),
  'svc.audit.operator.password-changed': event(
    "The subject has another password for the operator's page, and the sessions of before have ended.",
    {
      clientAddress: optional(clientAddress('Not there where a command has set it. ')),
      by: oneOf(
        ['password', 'code', 'command'],
        'By the one before, by a code, or by `svc-admin users set-password`.',
      ),
      endedSessions: integer("How many sessions of the operator's page have ended by it."),
    },
  ),
} satisfies Events;

declare module '../token-exchange/audit/audit-event.js' {
  interface AuditPayloads extends PayloadsOf<typeof INSTANCE_EVENTS> {}
}

/** Every event, by its name. */
export const AUDIT_EVENTS: Events = { ...TOKEN_EXCHANGE_EVENTS, ...INSTANCE_EVENTS };

/** What all names begin with. */
export const EVENT_NAME_START = 'svc.audit.';
export const AUDIT_EVENT_NAMES: readonly string[] = Object.keys(AUDIT_EVENTS);

/** Events that say how something ended. */
export const OUTCOME_EVENTS = AUDIT_EVENT_NAMES.filter((name) => outcomeOf(name) !== undefined);
/** Those of refusals, with a reason in their payload. */
export const REFUSAL_EVENTS = OUTCOME_EVENTS.filter((name) => outcomeOf(name)?.is === 'failed');

/** A token exchange or an embedded login that succeeded. */
export const SIGN_IN_EVENTS = OUTCOME_EVENTS.filter((name) => outcomeOf(name)?.is === 'succeeded');

export function outcomeOf(name: string): EventRow['outcome'] {
  return AUDIT_EVENTS[name]?.outcome;
}
