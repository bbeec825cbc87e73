// Properties that events of several rooms have.
import { FLOW_NAMES } from '../endpoint/flows.js';
import { listOf, objectOf, oneOf, optional, text, uuid } from './event-members.js';

export const ISSUER = text('`iss` of the trusted key entry.', { minLength: 1 });
export const KID = text('`kid` of the key.');
export const USER_ID = text('Id of a local user.', { minLength: 1 });
export const ACCESS_TOKEN_ID = uuid('`jti` of the access token.');
export const SESSION_FAMILY_ID = uuid('Family of the session, which its renewals keep; no credential.');
/** @param also a further sentence about this event */
export function clientAddress(also = '') {
  return text(
    `Client address as the throttle counts it (of IPv6 the /64), or \`unknown\`. ${also}Personal data.`,
  );
}

export const PRIOR_ACTORS = optional(
  listOf(
    objectOf({ iss: text('Issuer who knows them.'), sub: text('Their id there.') }, ''),
    'Who acted before, as the tokens say, the latest first. The ids are those of the issuers.',
    { minItems: 1 },
  ),
);

export const IGNORED_ROLE = {
  ignoredRole: optional(
    text('The role claim of a token, which was ignored because it names no assignable role.'),
  ),
  assignableRoles: optional(text('The roles that a token can assign, if `ignoredRole` is there.')),
};

export const WORKLOADS = optional(
  listOf(
    objectOf({ iss: text('Issuer.'), sub: text('Its `sub`.') }, ''),
    'The jobs whose tokens came, the subject first, if their entries have `signInAs`.',
    { minItems: 1 },
  ),
);

export const CLIENT_ID = optional(text('Id of the client that sent an assertion.'));
export const REFUSAL = {
  flow: oneOf(FLOW_NAMES, 'The flow.'),
  reason: text('The cause, a word of docs/refusals.md; the client may see less.'),
  issuer: optional(text('`iss` of the token, if it is trusted.', { minLength: 1 })),
  kid: optional(text('`kid` of the token, if its issuer is trusted; at most 200 characters.')),
  clientId: CLIENT_ID,
  party: optional(oneOf(['subject', 'actor'], 'Which token was refused.')),
  workloads: WORKLOADS,
  userId: optional(text('The local user, if the cause lies with that user.')),
  detail: optional(text('More about the cause, without values of the token.')),
  expected: optional(text('What the rule requires.')),
  found: optional(text('What came instead.')),
  clientAddress: optional(clientAddress()),
};

/** Properties of the refusal of a client with its own credentials. */
export const CLIENT_REFUSAL = {
  reason: REFUSAL.reason,
  clientId: optional(text('Id of the client, if an entry names it.')),
  detail: REFUSAL.detail,
  expected: REFUSAL.expected,
  found: REFUSAL.found,
  clientAddress: REFUSAL.clientAddress,
};
