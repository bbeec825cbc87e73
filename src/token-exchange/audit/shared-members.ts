// Properties that events of several rooms have.
import { FLOW_NAMES } from '../endpoint/flows.js';
import { listOf, objectOf, oneOf, optional, text, uuid } from './event-members.js';

export const ISSUER = text('`iss` of the entry or transmitter.', { minLength: 1 });
export const KID = text('');
export const USER_ID = text('', { minLength: 1 });
export const ACCESS_TOKEN_ID = uuid('`jti` of the access token.');
export const SESSION_FAMILY_ID = uuid('Kept by renewals; not a credential.');
export const CLIENT_ADDRESS = text('Client address (of IPv6 the /64), or `unknown`.');
/** What an event has changed. */
export const BEFORE = 'Missing if there was none.';
export const AFTER = 'Missing if removed.';

export const PRIOR_ACTORS = optional(
  listOf(
    objectOf({ iss: text('Issuer who knows them.'), sub: text('Their id there.') }, ''),
    'Earlier actors, latest first.',
    { minItems: 1 },
  ),
);

export const IGNORED_ROLE = {
  ignoredRole: optional(text('Role claim without an assignable role.')),
  assignableRoles: optional(text('')),
};

export const WORKLOADS = optional(
  listOf(
    objectOf({ iss: text('Issuer.'), sub: text('Its `sub`.') }, ''),
    'Jobs (`signInAs`) that sent the tokens, subject first.',
    { minItems: 1 },
  ),
);

export const CLIENT_ID = optional(text(''));
export const REFUSAL = {
  flow: oneOf(FLOW_NAMES, ''),
  reason: text('A reason of docs/refusals.md.'),
  issuer: optional(ISSUER),
  kid: optional(KID),
  clientId: CLIENT_ID,
  party: optional(oneOf(['subject', 'actor'], 'Which token was refused.')),
  workloads: WORKLOADS,
  userId: optional(USER_ID),
  detail: optional(text('')),
  expected: optional(text('')),
  found: optional(text('')),
  clientAddress: optional(CLIENT_ADDRESS),
};

/** Properties of the refusal of a client with its own credentials. */
export const CLIENT_REFUSAL = {
  reason: REFUSAL.reason,
  clientId: CLIENT_ID,
  detail: REFUSAL.detail,
  expected: REFUSAL.expected,
  found: REFUSAL.found,
  clientAddress: REFUSAL.clientAddress,
};
