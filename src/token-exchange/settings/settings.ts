// The settings of the package: one schema for their types, defaults, ranges and documents, and for the variables of the instance.
import { z } from 'zod';
import { flag, holding, oneOf, string, wholeNumber } from '../../platform/input/schemas.js';
import { parsedUrl } from '../../platform/text/url.js';
import { JWKS_SETTING_NAMES } from '../trust/entry-rules.js';

/** The default and range of a setting in words, for documents. */
interface Words {
  readonly otherwise?: string;
  readonly range?: string;
}

/** Adds a description in Markdown. */
function described<S extends z.ZodType>(schema: S, description: string, words: Words = {}): S {
  return schema.meta({ description, ...words });
}

/** The `__Host-` prefix binds the cookie to this host, `Secure` and `Path=/` (RFC 6265bis §4.1.3). */
export const SESSION_COOKIE = '__Host-svc-session';

const DAY_SECONDS = 86_400;
const SEALING_KEY_BYTES = 32;
const strings = () => z.array(string(), 'must be a list of strings').readonly();

/** Requests a minute. */
function perMinute(endpoint: string, standard: number) {
  return described(wholeNumber(1, 1_000_000).default(standard), `Requests per address at ${endpoint}.`);
}

/** An address before paths, which tokens name exactly as written. */
function address() {
  return string()
    .refine((text) => parsedUrl(text) !== undefined, { error: 'must be a URL', abort: true })
    .refine((text) => !text.endsWith('/'), 'must have no slash at its end');
}

const SHORTEST_SECRET = 32;

/** Transmitters of security events. Messages have no value, since one may be a secret. */
export const TRANSMITTERS = z
  .array(
    z.strictObject({
      issuer: string().refine((text) => parsedUrl(text) !== undefined, 'must be a URL'),
      audience: string().min(1, 'must not be empty'),
      jwksUri: string().refine((text) => parsedUrl(text) !== undefined, 'must be a URL'),
      secret: string().regex(
        new RegExp(`^[\\x21-\\x7e]{${SHORTEST_SECRET},}$`),
        `must have ${SHORTEST_SECRET} or more characters of ASCII, without blanks`,
      ),
      /** Of the trusted key entries whose logins its events end; left out: its own. */
      loginIssuer: string()
        .refine((text) => parsedUrl(text) !== undefined, 'must be a URL')
        .optional(),
    }),
    'must be a list of transmitters',
  )
  .readonly()
  .refine(
    (list) =>
      (['issuer', 'jwksUri', 'secret'] as const).every(
        (name) => new Set(list.map((one) => one[name])).size === list.length,
      ),
    'two transmitters must not share issuer, jwksUri or secret',
  );

/** The sections whose properties all have a default. */
export const SECTIONS = {
  embedLogin: {
    /** Off, the endpoint answers 501. */
    enabled: described(flag().default(true), 'Turns embedded login on. If off, it answers 501.'),
    perMinute: perMinute('`/rest/auth/embed`', 20),
  },
  exchange: {
    /** Off, the endpoint answers 501. */
    enabled: described(flag().default(true), 'Turns token exchange on. If off, it answers 501.'),
    perMinute: perMinute('`/rest/auth/oauth/token`', 20),
    /** @rule 8.1 At most 900 seconds unless configured. See issuance.planner.ts, which applies it (4.2.5). */
    maxTokenLifetimeSeconds: described(
      wholeNumber(5, DAY_SECONDS).default(900),
      'Longest lifetime of an access token, in seconds.',
    ),
  },
  idAssertion: {
    enabled: described(
      flag().default(false),
      'Lets the token endpoint accept identity assertions (ID-JAG, RFC 7523) of entries whose `flows` contain `id-jag`, for `accessTokens.issuer` or `entryRules.baseUrl`.',
    ),
    maxLifetimeSeconds: described(
      wholeNumber(1, 3600).default(300),
      'Longest lifetime of an identity assertion from `iat` to `exp`.',
    ),
  },
  tokenRevocation: { perMinute: perMinute('`/rest/auth/oauth/revoke`', 60) },
  tokenIntrospection: { perMinute: perMinute('`/rest/auth/oauth/introspect`', 600) },
  logout: {
    perMinute: perMinute('`/rest/auth/backchannel-logout`, and logouts per issuer', 600),
  },
  signals: {
    perMinute: perMinute('`/rest/auth/events`, and events per transmitter', 600),
    transmitters: described(
      TRANSMITTERS.default([]),
      'Transmitters of [security events](../../../docs/operator/signals.md): `{ issuer, audience, jwksUri, secret, loginIssuer }`.',
      { otherwise: 'none' },
    ),
  },
  replayPurge: {
    intervalSeconds: described(
      wholeNumber(1, DAY_SECONDS).default(60),
      'Time between purges of expired replay records.',
    ),
    batchSize: described(wholeNumber(1, 100_000).default(1000), 'Replay records deleted by one statement.'),
  },
  /** @rule 8.2 Every 300 seconds, if no cache lifetime is given. See jwks-refresh.ts, which applies it. */
  jwks: {
    refreshIntervalSeconds: described(
      wholeNumber(1, DAY_SECONDS).default(300),
      'Time between JWKS fetches, if neither answer nor entry has one.',
    ),
    maxStaleSeconds: described(
      wholeNumber(0, DAY_SECONDS).default(DAY_SECONDS),
      'How long expired keys stay in use while fetches fail.',
    ),
    allowHttp: described(flag().default(false), 'Allows `http:` and loopback JWKS addresses, for tests.'),
    allowPrivate: described(strings().default([]), 'Non-public networks allowed for JWKS addresses.', {
      otherwise: 'none',
      range: 'CIDR ranges',
    }),
    settingNames: described(
      z.strictObject({ allowHttp: string(), allowPrivate: string() }).optional(),
      'The names of the two settings above in messages, if your host has its own.',
      {
        otherwise: Object.values(JWKS_SETTING_NAMES)
          .map((name) => `\`${name}\``)
          .join(', '),
      },
    ),
  },
  sessions: {
    lifetimeSeconds: described(
      wholeNumber(60, DAY_SECONDS).default(3600),
      'Lifetime of an embedded session.',
    ),
    maxPerUser: described(
      wholeNumber(1, 10_000).default(100),
      'Live sessions of a user. Above it, the least recently used end within two minutes.',
    ),
    /** Whether the cookie is partitioned by the framing site (CHIPS). */
    partitioned: described(
      flag().default(true),
      '`Partitioned` session cookie, for browsers that block third-party cookies.',
    ),
    cookieName: described(
      string()
        .regex(/^__Host-[\w-]+$/, 'must be __Host- and letters, digits, _ or -')
        .default(SESSION_COOKIE),
      'The name of the session cookie.',
      { range: '`__Host-` and letters, digits, `_` and `-`' },
    ),
  },
} as const;

/** Whether every DPoP proof needs a nonce of the host (RFC 9449 §8, §9). */
export const DPOP_NONCE = described(flag().default(false), 'Requires a nonce in each DPoP proof.');

const accessTokens = z.strictObject({
  /** `iss` and `aud` of every token. */
  issuer: described(address(), '`iss` and `aud` of access tokens: the origin of your API.', {
    otherwise: 'needed',
    range: 'a URL without a final slash',
  }),
  /** Keys for the signing keys in the database. The first seals, all unseal, so that one can be replaced. Secret. */
  sealingKeys: described(
    z
      .array(z.instanceof(Buffer))
      .readonly()
      .refine(
        (keys) => keys.length > 0 && keys.every(({ length }) => length === SEALING_KEY_BYTES),
        `must be one key or more, of ${SEALING_KEY_BYTES} bytes each`,
      ),
    'Keys that seal the signing keys at rest: the first seals, all unseal.',
    { otherwise: 'needed', range: `${SEALING_KEY_BYTES} bytes each` },
  ),
  dpopNonce: DPOP_NONCE,
});

/** The host's names of roles. This module has the rules about them. */
const roles = z
  .strictObject({
    assignable: described(strings(), 'Roles that a `role` claim may assign.'),
    owner: described(string(), 'The role that is never assigned, changed or taken away.'),
    initial: described(string(), 'The role of a new user without a role claim, one of `roles.assignable`.'),
    /** The owner's is always one of them. */
    privileged: described(
      strings().optional(),
      'Roles of administrators. Tokens link to their accounts only with `linkPrivileged`.',
      { otherwise: 'every role but the initial' },
    ),
    inProject: described(
      strings().optional(),
      'The roles in a project, the lowest first. Members with the last one administer the project. Needed with a `ProjectDirectory`.',
      { otherwise: 'none' },
    ),
  })
  .superRefine((given, context) => {
    const fault = rolesFault(given);
    if (fault !== undefined) context.addIssue({ code: 'custom', path: fault.path, message: fault.message });
  });

/** Refuses the owner's role (2.5.4), which no claim can assign. */
function rolesFault({
  assignable,
  owner,
  initial,
}: Readonly<{ assignable: readonly string[]; owner: string; initial: string }>) {
  if (assignable.includes(owner))
    return { path: ['assignable'], message: 'must not have the role of roles.owner' };
  if (initial === owner) return { path: ['initial'], message: 'must not be the role of roles.owner' };
  if ([...assignable, owner, initial].includes('')) return { path: [], message: 'a role must have a name' };
  if (!assignable.includes(initial)) return { path: ['initial'], message: 'must be one of roles.assignable' };
  return undefined;
}

/** Facts of the host for the check of entries. */
const entryRules = z.strictObject({
  baseUrl: described(
    address().optional(),
    'The address of your API. Entries that name a wrong address are refused, or cause a warning.',
    { otherwise: '`accessTokens.issuer`', range: 'a URL without a final slash' },
  ),
  scopes: described(
    strings().optional(),
    'The scopes of your API. Entries with other scopes cause a warning.',
    { otherwise: 'any' },
  ),
});

/**
 * The host's table of users, in the package's database. With it the statement that uses up the tokens also reads the users, and
 * only changes need a transaction. Without it every request needs one.
 */
const userTable = z.strictObject({
  /** With its schema, if that is not on the search path. Names are written as in SQL without quotes. */
  name: string(),
  /** The type of its ids. */
  idType: oneOf(['uuid', 'text', 'bigint', 'integer']),
  columns: z.strictObject({
    id: string(),
    role: string(),
    enabled: string(),
    givenName: string(),
    familyName: string(),
    /** The column of `HostUser.accessGeneration`. A trigger that raises it when a user is disabled also covers manual changes. */
    accessGeneration: string(),
  }),
});

const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

/** All settings of a host. */
export const SETTINGS = z.strictObject({
  trustedKeys: described(
    holding<string | readonly object[]>(
      (value) => typeof value === 'string' || Array.isArray(value),
      'must be JSON text or a list',
    ),
    'The JSON text of [trusted key entries](../../../docs/reference/trusted-key-entries.md), or the result of `readTrustedKeys`.',
  ),
  entryRules: entryRules.optional(),
  userTable: described(
    userTable.optional(),
    'The table of your users. With it, few requests need a transaction ([fewer transactions](guide.md#fewer-transactions)).',
    { otherwise: 'none' },
  ),
  roles,
  strict: described(
    flag().default(true),
    'Refuses what a trusted key entry does not allow ([strict policy](../../../docs/reference/trusted-key-entries.md#policy)), and answers a login by GET with 405.',
  ),
  eventPrefix: described(
    string().optional(),
    "Prefix of the names of emitted events. An event's own `name` does not change.",
    { otherwise: '`svc.audit.`' },
  ),
  /** Required, except by the instance of this repository, which provides `AccessTokenService` itself. */
  accessTokens: accessTokens.optional(),
  sessions: section(SECTIONS.sessions),
  embedLogin: section(SECTIONS.embedLogin),
  exchange: section(SECTIONS.exchange),
  idAssertion: section(SECTIONS.idAssertion),
  tokenRevocation: section(SECTIONS.tokenRevocation),
  tokenIntrospection: section(SECTIONS.tokenIntrospection),
  logout: section(SECTIONS.logout),
  signals: section(SECTIONS.signals),
  clockToleranceSeconds: described(
    wholeNumber(0, 60).default(5),
    'Tolerance for `nbf` and a future `iat`; `exp` has none.',
  ),
  replayPurge: section(SECTIONS.replayPurge),
  jwks: section(SECTIONS.jwks),
  /** Called on every request. */
  isOffered: described(
    holding<() => boolean>((value) => typeof value === 'function', 'must be a function').optional(),
    'A function that is called for each request. If it returns false, the endpoints answer 404.',
    { otherwise: 'always' },
  ),
});

/** The default prefix of the endpoints' paths. */
export const PATH_PREFIX = '/rest/auth';

/** Settings of the routes, needed at the registration, before anything is injected. */
export const ROUTES = z.strictObject({
  pathPrefix: described(
    string()
      .regex(/^(\/[\w.~-]+)*$/, 'must be a path such as /rest/auth, with no slash at its end')
      .default(PATH_PREFIX),
    "Prefix of the endpoints' paths, after your global prefix. In `registerAsync`, set it beside `useFactory`.",
    { range: 'a path without a final slash' },
  ),
  /** Off for a host that publishes its own documents there (RFC 8414, RFC 9728). */
  metadata: described(
    flag().default(false),
    'Publishes key set and metadata at `/.well-known`. In `registerAsync`, set it beside `useFactory`.',
  ),
});
