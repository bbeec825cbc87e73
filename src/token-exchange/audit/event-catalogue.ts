// The catalogue of audit events, one row each. Payload types, docs/reference/audit-events.*, metrics and log derive from it.
import { FLOW_NAMES } from '../endpoint/flows.js';
import { EVENT_NAMES } from '../signals/security-event.js';
import type { Events } from './event-members.js';
import { anyObject, event, integer, listOf, objectOf, oneOf, optional, text, uuid } from './event-members.js';

const ISSUER = text('`iss` of the trusted key entry.', { minLength: 1 });
const KID = text('`kid` of the key.');
const USER_ID = text('Id of a local user.', { minLength: 1 });
const PROJECT_ID = text('', { minLength: 1 });
const ROLE = text('Global role of the user.');
export const ACCESS_TOKEN_ID = uuid('`jti` of the access token.');
export const SESSION_FAMILY_ID = uuid('Family of the session, which its renewals keep; no credential.');

/** @param also a further sentence about this event */
export function clientAddress(also = '') {
  return text(
    `Client address as the throttle counts it (of IPv6 the /64), or \`unknown\`. ${also}Personal data.`,
  );
}

const PRIOR_ACTORS = optional(
  listOf(
    objectOf({ iss: text('Issuer who knows them.'), sub: text('Their id there.') }, ''),
    'Who acted before, as the tokens say, the latest first. The ids are those of the issuers.',
    { minItems: 1 },
  ),
);

const IGNORED_ROLE = {
  ignoredRole: optional(
    text('The role claim of a token, which was ignored because it names no assignable role.'),
  ),
  assignableRoles: optional(text('The roles that a token can assign, if `ignoredRole` is there.')),
};

const WORKLOADS = optional(
  listOf(
    objectOf({ iss: text('Issuer.'), sub: text('Its `sub`.') }, ''),
    'The jobs whose tokens came, the subject first, if their entries have `signInAs`.',
    { minItems: 1 },
  ),
);

const CLIENT_ID = optional(text('Id of the client that sent an assertion.'));

const REFUSAL = {
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

const STORED_ENTRY = 'The entry, with public keys and hashes of client secrets only, and URLs without query.';

/** Properties of the refusal of a client with its own credentials. */
const CLIENT_REFUSAL = {
  reason: REFUSAL.reason,
  clientId: optional(text('Id of the client, if an entry names it.')),
  detail: REFUSAL.detail,
  expected: REFUSAL.expected,
  found: REFUSAL.found,
  clientAddress: REFUSAL.clientAddress,
};

export const TOKEN_EXCHANGE_EVENTS = {
  /** @rule 6.1 A token exchange succeeded. */
  'svc.audit.token-exchange.succeeded': event(
    'A token exchange succeeded, or an assertion was redeemed (`flow`).',
    {
      issuer: ISSUER,
      kid: KID,
      flow: optional(oneOf(['id-jag', 'jwt-bearer'], 'The flow of an assertion.')),
      clientId: CLIENT_ID,
      tenants: optional(
        listOf(text(''), '`tenant` and `aud_tenant` of an identity assertion, if its entry lists tenants.'),
      ),
      accessTokenId: ACCESS_TOKEN_ID,
      lifetimeSeconds: integer('Life of the access token, in seconds.', 1),
      scope: optional(text('The requested `scope`.')),
      resource: optional(listOf(text(''), 'The requested `resource`, without user, password and query.')),
      grantedScopes: optional(listOf(text(''), 'The granted scopes, if the entries limit them.')),
      audience: optional(text('The service that the token is for, if it is another one.')),
      rights: optional(oneOf(['actor', 'both'], 'Whose rights a call with the token needs.')),
      keyThumbprint: optional(
        text('Thumbprint (RFC 7638) of the key that the access token is bound to (DPoP).'),
      ),
      priorActors: PRIOR_ACTORS,
      ...IGNORED_ROLE,
      workloads: WORKLOADS,
      clientAddress: optional(clientAddress()),
    },
    { of: 'exchange', is: 'succeeded' },
  ),
  /** @rule 6.2 A token exchange was refused; the event holds the reason. */
  'svc.audit.token-exchange.failed': event(
    'A token exchange or an assertion was refused, or failed (`internal_error`).',
    REFUSAL,
    { of: 'exchange', is: 'failed' },
  ),
  /** @rule 6.3 An embedded login succeeded. */
  'svc.audit.token-exchange.embed-login': event(
    'An embedded login succeeded and opened a session.',
    {
      issuer: ISSUER,
      kid: KID,
      sessionFamilyId: optional(SESSION_FAMILY_ID),
      replacedRedirect: optional(text('Why the browser went to `/` in place of `redirectTo`.')),
      ...IGNORED_ROLE,
      priorActors: PRIOR_ACTORS,
      clientAddress: optional(clientAddress()),
    },
    { of: 'embed', is: 'succeeded' },
  ),
  /** @rule 6.4 An embedded login was refused; the event holds the reason. */
  'svc.audit.token-exchange.embed-login-failed': event(
    'An embedded login was refused, or ended by an internal error (`internal_error`).',
    REFUSAL,
    { of: 'embed', is: 'failed' },
  ),
  'svc.audit.token-exchange.logout': event(
    'A provider or partner has signed a user out.',
    {
      issuer: ISSUER,
      kid: KID,
      ends: oneOf(
        ['subject', 'session', 'issuer'],
        'What ended: everything of the subject or of one session at the provider, or of the issuer after 50,000 logouts within 25 hours.',
      ),
      sessions: integer('Number of sessions that were still live.'),
      clientAddress: optional(clientAddress()),
    },
    { of: 'logout', is: 'succeeded' },
  ),
  'svc.audit.token-exchange.logout-failed': event(
    'A logout token was refused, or the logout failed (`internal_error`).',
    REFUSAL,
    { of: 'logout', is: 'failed' },
  ),
  'svc.audit.token-exchange.signal': event(
    'A transmitter of security events, such as the identity provider of a company, has told of a user or of one session.',
    {
      issuer: text('`iss` of the transmitter.', { minLength: 1 }),
      kid: KID,
      event: oneOf(EVENT_NAMES, 'The event.'),
      effect: oneOf(
        ['none', 'signed-out', 'issuer-signed-out', 'disabled', 'enabled', 'verified'],
        'What it has done. `disabled`: the user was also signed out. `issuer-signed-out`: all users of the issuer were, as with `ends` of a logout.',
      ),
      sessions: integer('Number of sessions that have ended and were still live.'),
      clientAddress: optional(clientAddress()),
    },
  ),
  'svc.audit.token-exchange.signal-refused': event(
    'A security event was refused: its transmitter did not authenticate, or its token is not acceptable.',
    { issuer: REFUSAL.issuer, kid: REFUSAL.kid, ...CLIENT_REFUSAL },
  ),
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
    'The linked user is the owner or an administrator. The log warns, too.',
    { issuer: ISSUER, userId: USER_ID, role: ROLE },
  ),
  /** @rule 6.7 A token changed a user's role. */
  'svc.audit.token-exchange.role-updated': event("A token has changed a user's global role.", {
    issuer: ISSUER,
    userId: USER_ID,
    from: text('Role before.'),
    to: text('Role after.'),
  }),
  'svc.audit.token-exchange.projects-updated': event(
    "A token's claim of projects has changed memberships of a user.",
    {
      issuer: ISSUER,
      userId: USER_ID,
      added: listOf(PROJECT_ID, 'Ids of projects that the user has joined.'),
      changed: listOf(PROJECT_ID, 'Ids of projects in which the user now has another role.'),
      removed: listOf(PROJECT_ID, 'Ids of projects that the user has left.'),
    },
  ),
  /** @rule D86 The event of changed names says which names changed, never their values. */
  'svc.audit.token-exchange.profile-updated': event('A token has changed names of a user.', {
    issuer: ISSUER,
    userId: USER_ID,
    fields: listOf(
      oneOf(['givenName', 'familyName'], ''),
      'Which names were changed, without their values.',
      { minItems: 1, uniqueItems: true },
    ),
  }),
  'svc.audit.token-exchange.stored-entry-changed': event('A stored trusted key entry was changed.', {
    entry: text('Name of the entry.'),
    change: oneOf(['added', 'policy-changed', 'suspended', 'resumed', 'removed'], 'What was done.'),
    issuer: optional(ISSUER),
    from: optional(anyObject(`${STORED_ENTRY} Before; missing if it was added.`)),
    to: optional(anyObject(`${STORED_ENTRY} After; missing if it was removed.`)),
  }),
  'svc.audit.token-exchange.trust-revoked': event(
    'A key, or without `kid` every key of an issuer, was revoked, with everything that it signed for.',
    { issuer: ISSUER, kid: optional(KID) },
  ),
  'svc.audit.token-exchange.trust-restored': event('Trust was restored, for what is issued from then on.', {
    issuer: ISSUER,
    kid: optional(KID),
  }),
  'svc.audit.token-exchange.token-revoked': event('An access token was ended by a client that held it.', {
    accessTokenId: ACCESS_TOKEN_ID,
  }),
  'svc.audit.token-exchange.revocation-refused': event(
    "A client's access token was not ended: no authentication, or another client's token.",
    CLIENT_REFUSAL,
  ),
  'svc.audit.token-exchange.introspection-refused': event(
    'A client that wanted to introspect an access token did not authenticate, or may not ask.',
    CLIENT_REFUSAL,
  ),
  'svc.audit.token-exchange.refusal-explained': event(
    'A partner was told why a token of its entry was refused.',
    {
      issuer: ISSUER,
      kid: text('`kid` of the key that signed the question.'),
      reason: text('The cause that it was told of, a word of docs/refusals.md.'),
      clientAddress: clientAddress(),
    },
  ),
  'svc.audit.token-exchange.explain-refused': event(
    'A partner asked why a token was refused, and got no answer.',
    { issuer: REFUSAL.issuer, kid: REFUSAL.kid, ...CLIENT_REFUSAL },
  ),
  'svc.audit.token-exchange.user-signed-out': event(
    'All sessions and access tokens of the subject were ended.',
    { sessions: integer('Number of sessions that were still live.') },
  ),
  'svc.audit.session.ended': event('Sessions of the subject were ended before their time.', {
    sessions: integer('Number of sessions that were still live.'),
    cause: oneOf(
      ['signed-out', 'replaced', 'too-many', 'ended-by-operator', 'signed-out-by-provider'],
      '`replaced`: by another login in the same browser. `too-many`: above the limit.',
    ),
    sessionFamilyIds: listOf(uuid(''), 'Their families, as in the events of the logins.', {
      minItems: 1,
      uniqueItems: true,
    }),
  }),
} satisfies Events;
