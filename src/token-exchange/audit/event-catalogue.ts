// The catalogue of audit events: one row for each, from which payload types, docs/audit-events.*, metrics and log come.
import type { Events } from './event-members.js';
import {
  anyObject,
  event,
  flag,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  text,
  uuid,
} from './event-members.js';

const ISSUER = text('`iss` of the trusted key entry.', { minLength: 1 });
const KID = text('`kid` of the key.');
const USER_ID = text('Id of a local user.', { minLength: 1 });
const PROJECT_ID = text('', { minLength: 1 });
const ROLE = text('Global role of the user.');
export const ACCESS_TOKEN_ID = uuid('`jti` of the access token.');
export const SESSION_FAMILY_ID = uuid('Family of the session: its renewals stay in it. No browser has it.');

/** @param also a sentence about this event */
export function clientAddress(also = '') {
  return text(
    `Who sent the request, as the throttle counts it: an IPv4 address, the /64 network of an IPv6 address, or \`unknown\`. ${also}Personal data.`,
  );
}

const PRIOR_ACTORS = optional(
  listOf(
    objectOf({ iss: text('Issuer who knows them.'), sub: text('Their id there.') }, ''),
    'Who has acted before, by what the tokens say, the latest first. Their ids are those of the issuers: no local user is meant.',
    { minItems: 1 },
  ),
);

const CLIENT_ID = optional(
  text('The client that sent an identity assertion, by its id in the trusted key entry.'),
);

const REFUSAL = {
  flow: oneOf(
    ['exchange', 'embed', 'id-jag', 'logout'],
    'The flow: a token exchange, an embedded login, an identity assertion, or a back-channel logout.',
  ),
  reason: text(
    'The stable word for the true cause, explained in docs/refusals.md; the client may have learned less.',
  ),
  issuer: optional(text('`iss` of the token, where that is a trusted one.', { minLength: 1 })),
  kid: optional(
    text('`kid` of the token, where its issuer is a trusted one; escaped, and cut to 200 characters.'),
  ),
  clientId: CLIENT_ID,
  party: optional(oneOf(['subject', 'actor'], 'Which token was refused.')),
  userId: optional(
    text('The local user who was found, where who that is or what is stored of them is the cause.'),
  ),
  detail: optional(text('More about the cause, with nothing of the token.')),
  expected: optional(
    text('What the rule asks for: words and numbers of the service, and values of the configuration.'),
  ),
  found: optional(text('What came instead: never an e-mail address, a `sub`, a `jti`, a token or a key.')),
  clientAddress: optional(clientAddress()),
};

const STORED_ENTRY = {
  isSuspended: flag('Whether it took no tokens.'),
  entry: anyObject(
    'The entry as it was given, which holds public keys and hashes of client secrets only; a URL without its query.',
  ),
};

export const TOKEN_EXCHANGE_EVENTS = {
  /** @rule 6.1 A token exchange succeeded. */
  'svc.audit.token-exchange.succeeded': event(
    'A token exchange succeeded, or an identity assertion was redeemed (`clientId`). Written before the access token is signed.',
    {
      issuer: ISSUER,
      kid: KID,
      clientId: CLIENT_ID,
      accessTokenId: ACCESS_TOKEN_ID,
      lifetimeSeconds: integer('Life of the access token, in seconds.', 1),
      scope: optional(text('`scope` as it was asked for.')),
      resource: optional(
        listOf(text(''), '`resource` as it was asked for, without user, password and query.'),
      ),
      grantedScopes: optional(listOf(text(''), 'What was granted, where the entries limit it.')),
      audience: optional(text('The service that the token is for, where it is another one.')),
      rights: optional(oneOf(['actor', 'both'], 'Whose rights a call needs that is made with it.')),
      priorActors: PRIOR_ACTORS,
      clientAddress: optional(clientAddress()),
    },
    { of: 'exchange', is: 'succeeded' },
  ),
  /** @rule 6.2 A token exchange was refused; the event holds the reason. */
  'svc.audit.token-exchange.failed': event(
    'A token exchange or an identity assertion was refused, or ended by a fault of the service (`internal_error`).',
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
      replacedRedirect: optional(
        text('Why the browser went to `/` in place of the `redirectTo` of the login, which is not recorded.'),
      ),
      priorActors: PRIOR_ACTORS,
      clientAddress: optional(clientAddress()),
    },
    { of: 'embed', is: 'succeeded' },
  ),
  /** @rule 6.4 An embedded login was refused; the event holds the reason. */
  'svc.audit.token-exchange.embed-login-failed': event(
    'An embedded login was refused, or ended by a fault of the service (`internal_error`).',
    REFUSAL,
    { of: 'embed', is: 'failed' },
  ),
  'svc.audit.token-exchange.logout': event(
    'A provider or partner has signed a user out: what that user, or one session at the provider, had opened was ended.',
    {
      issuer: ISSUER,
      kid: KID,
      ends: oneOf(
        ['subject', 'session'],
        'All of the subject, or what one session of the provider has opened.',
      ),
      sessions: integer('How many sessions that had not ended by themselves.'),
      clientAddress: optional(clientAddress()),
    },
    { of: 'logout', is: 'succeeded' },
  ),
  'svc.audit.token-exchange.logout-failed': event(
    'A logout token was refused, or a fault of the service ended the logout (`internal_error`).',
    REFUSAL,
    { of: 'logout', is: 'failed' },
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
    "The user of such a link is the owner or an administrator: who has the issuer's key is that user from now on. A warning of the log says so too.",
    { issuer: ISSUER, userId: USER_ID, role: ROLE },
  ),
  /** @rule 6.7 A token changed a user's role. */
  'svc.audit.token-exchange.role-updated': event("A token has changed a user's global role.", {
    issuer: ISSUER,
    userId: USER_ID,
    from: text('Role before.'),
    to: text('Role since.'),
  }),
  'svc.audit.token-exchange.projects-updated': event(
    "A token's claim of projects has changed memberships of a user.",
    {
      issuer: ISSUER,
      userId: USER_ID,
      added: listOf(PROJECT_ID, 'Ids of projects that the user has become a member of.'),
      changed: listOf(PROJECT_ID, 'Ids of projects in which the user has another role since.'),
      removed: listOf(PROJECT_ID, 'Ids of projects that the user is no member of any longer.'),
    },
  ),
  /** @rule D86 The event of changed names of a user says which they are, and never what they were or are. */
  'svc.audit.token-exchange.profile-updated': event('A token has changed names of a user.', {
    issuer: ISSUER,
    userId: USER_ID,
    fields: listOf(
      oneOf(['givenName', 'familyName'], ''),
      'Which names were changed; never what they were or are.',
      { minItems: 1, uniqueItems: true },
    ),
  }),
  'svc.audit.token-exchange.stored-entry-changed': event('A stored trusted key entry was changed.', {
    entry: text('Name of the entry.'),
    change: oneOf(['added', 'policy-changed', 'suspended', 'resumed', 'removed'], 'What was done.'),
    issuer: optional(ISSUER),
    from: optional(objectOf(STORED_ENTRY, 'The entry before; not there where it was added.')),
    to: optional(objectOf(STORED_ENTRY, 'The entry since; not there where it was removed.')),
  }),
  'svc.audit.token-exchange.trust-revoked': event(
    'Trust in a key, or without `kid` in every key of an issuer, was revoked, with everything that it signed for.',
    { issuer: ISSUER, kid: optional(KID) },
  ),
  'svc.audit.token-exchange.trust-restored': event(
    'That trust was restored, for what is issued from then on.',
    { issuer: ISSUER, kid: optional(KID) },
  ),
  'svc.audit.token-exchange.token-revoked': event('An access token was ended by a client that held it.', {
    accessTokenId: ACCESS_TOKEN_ID,
  }),
  'svc.audit.token-exchange.user-signed-out': event(
    'All sessions and access tokens of the subject were ended.',
    { sessions: integer('How many sessions that had not ended by themselves.') },
  ),
  'svc.audit.session.ended': event('Sessions of the subject were ended before their time.', {
    sessions: integer('How many that had not ended by themselves.'),
    cause: oneOf(
      ['signed-out', 'replaced', 'too-many', 'ended-by-operator', 'signed-out-by-provider'],
      "`replaced`: a login in the same browser took their place, mostly that of another user. `too-many`: they were the oldest of more than a user may have. `ended-by-operator`: at the operator's page. `signed-out-by-provider`: by a logout token.",
    ),
    sessionFamilyIds: listOf(uuid(''), 'Their families, as in the events of their logins.', {
      minItems: 1,
      uniqueItems: true,
    }),
  }),
} satisfies Events;

/** A stored trusted key entry as events hold it. */
export type StoredEntryRecord = NonNullable<
  (typeof TOKEN_EXCHANGE_EVENTS)['svc.audit.token-exchange.stored-entry-changed']['members']['from']['value']
>;
