// The most expensive values for every field of every request, generated from the API's description and the two forms.
// The tests send them too.

/** The maximum sizes of a body, and of a header or query, in bytes. */
const BODY_BYTES = 256 * 1024;
const HEADER_BYTES = 60 * 1024;
/** The most array elements and object properties in a JSON body, in total. */
const MAX_PARTS = 5_000;
/** The size of the claims in a token of maximum length. */
const CLAIM_BYTES = 45_000;
/** The size of a body without its largest property. */
const OTHER_MEMBERS_BYTES = 400;

const TOKEN_EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
/** A string with the format of a token but no valid content. */
const NO_TOKEN = 'e30.e30.e30';

/**
 * The two flows: their fields, a form that is valid except for its token, and a function that makes a form for a token.
 */
export const FLOWS = [
  {
    path: '/rest/auth/oauth/token',
    fields: [
      'grant_type',
      'subject_token',
      'actor_token',
      'subject_token_type',
      'scope',
      'audience',
      'resource',
      'unknown',
    ],
    form: { grant_type: TOKEN_EXCHANGE_GRANT, subject_token: NO_TOKEN },
    formOf: (token) => `grant_type=${TOKEN_EXCHANGE_GRANT}&subject_token=${token}`,
  },
  {
    path: '/rest/auth/embed',
    fields: ['token', 'redirectTo', 'unknown'],
    form: { token: NO_TOKEN },
    formOf: (token) => `token=${token}`,
  },
];

/** Encoded pieces of form values that are expensive for decoders, splitters, counters and patterns. */
const FORM_PIECES = [
  'A',
  '+',
  '%2B',
  '%F0%9F%98%80',
  '%EF%B8%8F',
  '.',
  'e30.',
  '%',
  '%00',
  '[[',
  '=',
  '\u00e9',
  '%20',
  'a@',
  '/..',
  '%25',
];

const inBody = (name, body, bytes = BODY_BYTES) => ({ name, bytes, body });
const inQuery = (name, query) => ({ name, bytes: HEADER_BYTES, query });

/** Forms with one field, one name or the number of fields at its maximum. */
export function hostileForms({ fields, form }) {
  const encoded = (members) => new URLSearchParams(members).toString();
  const values = fields.flatMap((field) =>
    FORM_PIECES.map((piece) => {
      const rest = encoded(Object.fromEntries(Object.entries(form).filter(([name]) => name !== field)));
      const start = `${rest}&${field}=`;
      return inBody(`${field} of ${piece}`, (bytes) => start + filled(piece, bytes - start.length));
    }),
  );
  const headers = fields.flatMap((field) =>
    Object.entries(UNENDING).map(([name, make]) =>
      inBody(
        `${field} with a header of ${name}`,
        (bytes) =>
          `${encoded(form)}&${field}=${Buffer.from(make((bytes * 3) / 4)).toString('base64url')}.e30.AA`,
        CLAIM_BYTES,
      ),
    ),
  );
  const separators = ['&', '&a', '&a=1', '&a[]=', '=', '+=&', '%61=&'].map((piece) =>
    inBody(`pairs of ${piece}`, (bytes) => filled(piece, bytes)),
  );
  return [...values, ...headers, ...separators];
}

const CLAIMS = ['extra', 'aud', 'email', 'given_name', 'role', 'sub', 'jti', 'may_act'];
const CLAIM_VALUES = {
  'many members': (bytes) => Object.fromEntries(range(bytes / 12).map((index) => [`m${index}`, 0])),
  'many arrays': (bytes) => range(bytes / 3).map(() => []),
  'many texts': (bytes) => range(bytes / 5).map(() => 'a'),
  'one text': (bytes) => filled('a', bytes),
  'one text of astral characters': (bytes) => filled('\u{1f600}', bytes),
  'escaped quotation marks': (bytes) => filled('"', bytes / 2),
  'escaped backslashes': (bytes) => filled('\\', bytes / 2),
};

/**
 * Correctly signed tokens with claims of maximum size. Each request has a new token.
 * @param sign makes a partner's token with the given claims changed
 */
export function hostileTokens({ formOf }, sign) {
  return Object.entries(CLAIM_VALUES).flatMap(([name, make]) =>
    CLAIMS.map((claim) => {
      const body = async (bytes) => formOf(await sign({ [claim]: make(bytes) }));
      return inBody(`token with ${claim}: ${name}`, body, CLAIM_BYTES);
    }),
  );
}

/** JSON strings of about `bytes` bytes. */
const TEXTS = {
  text: (bytes) => JSON.stringify(filled('a', bytes - 2)),
  'astral text': (bytes) => JSON.stringify(filled('\u{1f600}', bytes - 2)),
  'escaped text': (bytes) => `"${filled('\\u0001', bytes - 2)}"`,
  'quotation marks': (bytes) => `"${filled('\\"', bytes - 2)}"`,
  backslashes: (bytes) => `"${filled('\\\\', bytes - 2)}"`,
};
/** JSON values with the maximum number or size of parts. */
const STRUCTURES = {
  'empty objects': (bytes) => listOf(partsIn(bytes), () => '{}'),
  'padded objects': (bytes) =>
    listOf(partsIn(bytes) / 2, () => `{"a":"${filled('b', (bytes / partsIn(bytes)) * 2 - 10)}"}`),
  'nested objects': (bytes) => listOf(partsIn(bytes) / 29, () => `${'{"a":'.repeat(28)}{}${'}'.repeat(28)}`),
  numbers: (bytes) => listOf(partsIn(bytes), () => '1e308'),
  members: (bytes) => JSON.stringify(memberObject(bytes)),
  depth: (bytes) => listOf(partsIn(bytes) / 32, () => `${'['.repeat(29)}${']'.repeat(29)}`),
  ...wrapped('an object of', (text) => `{"a":${text}}`),
  ...wrapped('a list of', (text) => `[{"a":${text}}]`),
};
const ALL_VALUES = { ...TEXTS, ...STRUCTURES };
/** Enough values for properties of a scalar type: all others are invalid in the same way. */
const VALUES_OF_SCALARS = chosen(ALL_VALUES, [
  'text',
  'astral text',
  'escaped text',
  'empty objects',
  'members',
]);
/** Values for properties that are refused before their values are read. */
const UNREAD_VALUES = chosen(ALL_VALUES, ['escaped text', 'empty objects', 'members']);
/** JSON with an escape in a name and without an end. A reader that searches for the end from each position takes quadratic time. */
const UNENDING = {
  'escaped quotation marks without an end': (bytes) => `{"\\u0061":1,"${filled('\\"', bytes - 14)}`,
  'colons behind a name': (bytes) => `{"a":"\\n","b"${filled(':', bytes - 14)}`,
};
const UNREAD_BODIES = {
  ...UNREAD_VALUES,
  '130,000 arrays': (bytes) => `[${filled('[],', bytes - 4)}[]]`,
  brackets: (bytes) => filled('[', bytes),
  ...UNENDING,
};

/**
 * Bodies with one property of maximum size.
 * @param schema the body's schema in the API's description
 * @param good a valid body
 */
export function hostileBodies({ properties = {} }, good) {
  const members = Object.entries({ ...properties, unknown: undefined }).flatMap(([member, schema]) =>
    Object.entries(valuesFor(schema)).map(([name, value]) =>
      inBody(`${member}: ${name}`, (bytes) => bodyWith(good, member, value, bytes)),
    ),
  );
  const whole = Object.entries(UNREAD_BODIES).map(([name, body]) => inBody(`whole: ${name}`, body));
  return [...members, ...whole];
}

function valuesFor(schema) {
  if (schema === undefined) return UNREAD_VALUES;
  return ['array', 'object'].includes(schema.type) ? ALL_VALUES : VALUES_OF_SCALARS;
}

function bodyWith(good, member, value, bytes) {
  const [start, end] = JSON.stringify({ ...good, [member]: '\0' }).split(JSON.stringify('\0'));
  return start + value(bytes - start.length - end.length) + end;
}

/** The maximum length of a string in a credential's data. */
const LONGEST_DATA_TEXT = 65_536;
/** Prefixes that the patterns of data match, each with a piece that is expensive for the rest of the pattern. */
const DATA_TEXTS = [
  ...['a', 'A ', '-', '\u{1f600}'].map((piece) => ['', piece]),
  ...['a', '%41', ':', '.', '/', '@'].map((piece) => ['https://', piece]),
  ['mongodb://', 'a'],
  ['-----BEGIN ', 'A '],
  ['-----BEGIN ', '-----BEGIN '],
];

/**
 * Bodies of credentials with data of maximum size, for each rule of a string in the data.
 * @param schemas the data's schemas by credential type
 */
export function hostileCredentials(schemas, good) {
  const rules = new Map(
    Object.entries(schemas).flatMap(([type, { properties }]) =>
      Object.entries(properties)
        .filter(([, rule]) => rule.type === 'string')
        .map(([member, rule]) => [JSON.stringify(rule), { type, member }]),
    ),
  );
  const texts = [...rules.values()].flatMap(({ type, member }) =>
    DATA_TEXTS.map(([start, piece]) =>
      inBody(`${type}.${member}: ${start} and many ${piece}`, (bytes) => {
        const text = start + filled(piece, bytes - OTHER_MEMBERS_BYTES - start.length);
        return JSON.stringify({ ...good, type, data: { [member]: text } });
      }),
    ),
  );
  const longest = (bytes) => {
    const text = filled('a', bytes / 2);
    return JSON.stringify({ ...good, type: 'httpBasicAuth', data: { user: text, password: text } });
  };
  const unknown = (bytes) => JSON.stringify({ ...good, data: memberObject(bytes - OTHER_MEMBERS_BYTES) });
  return [
    ...texts,
    inBody('data of the longest texts', longest, 2 * LONGEST_DATA_TEXT),
    inBody('data of unknown members', unknown),
  ];
}

/** Every route outside the API and one API route, each with a supported method and its parameters. */
export const ROUTES = [
  ['POST', '/rest/auth/oauth/token', []],
  ['POST', '/rest/auth/embed', []],
  ['GET', '/rest/auth/embed', ['token', 'redirectTo']],
  ['POST', '/rest/auth/logout', []],
  ['GET', '/rest/me', []],
  ['GET', '/api/v1/workflows', []],
  ['GET', '/.well-known/jwks.json', []],
  ['GET', '/healthz', []],
  ['GET', '/healthz/readiness', []],
  ['GET', '/', []],
  ['GET', '/assets/current/page.css', []],
];

/** Headers that the service reads, each with pieces that are expensive to parse. */
const HEADER_PIECES = {
  authorization: ['A', ' ', '.', 'e30.', 'Bearer ', '='],
  cookie: ['a=b; ', ';', '=', '"', '__Host-svc-session=a; ', '%41'],
  origin: ['A', '.', ',', '%41'],
  'content-type': ['A', ';', 'a=b; ', '"', ' '],
  'x-request-id': ['A', ' ', '"'],
  'x-forwarded-for': ['1.1.1.1,', ',', 'A', ' '],
  'if-none-match': ['W/"a",', '"', ',', ' '],
  accept: ['A', ',', ';', 'a=b; '],
  'sec-fetch-site': ['A', ' ', ','],
};

/** Headers of maximum size, for any route. */
export function hostileHeaders() {
  return Object.entries(HEADER_PIECES).flatMap(([header, pieces]) =>
    pieces.map((piece) => ({
      name: `header ${header} of ${piece}`,
      bytes: HEADER_BYTES,
      headers: (bytes) => ({
        [header]: `${header === 'authorization' ? 'Bearer ' : ''}x${filled(piece, bytes - 8)}x`,
      }),
    })),
  );
}

/** Queries of maximum size, for any route. `names` are its parameters. */
export function hostileQueries(names) {
  const parameters = [...names, 'unknown'].flatMap((name) =>
    ['A', '%F0%9F%98%80', '%00', '+', '%', '%2F..', '[]'].map((piece) =>
      inQuery(`query ${name} of ${piece}`, (bytes) => `?${name}=${filled(piece, bytes - name.length - 2)}`),
    ),
  );
  const pairs = ['&', 'a&', '&a=1', 'limit=1&', 'a[b]='].map((piece) =>
    inQuery(`query of ${piece}`, (bytes) => `?${filled(piece, bytes - 1)}`),
  );
  return [...parameters, ...pairs];
}

/** The hostile request to a route, with a size of `bytes` bytes. */
export async function hostileRequest(route, { body, headers, query }, bytes) {
  return {
    method: route.method,
    path: route.path + (query?.(bytes) ?? ''),
    headers: { ...route.headers, ...headers?.(bytes) },
    ...(body === undefined ? {} : { body: await body(bytes) }),
  };
}

/** Repeats the piece up to `bytes` bytes. */
function filled(piece, bytes) {
  return piece.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(piece))));
}

/** The number of parts, in proportion to the size. A body of full size has almost `MAX_PARTS`. */
function partsIn(bytes) {
  return Math.max(1, Math.floor((MAX_PARTS * 0.95 * bytes) / BODY_BYTES));
}

function listOf(count, piece) {
  return `[${range(count).map(piece).join(',')}]`;
}

function memberObject(bytes) {
  const count = partsIn(bytes);
  return Object.fromEntries(range(count).map((index) => [`m${index}`, filled('v', bytes / count - 14)]));
}

/** The strings inside a structure that a body may have. */
function wrapped(what, around) {
  const rest = around('').length;
  return Object.fromEntries(
    Object.entries(TEXTS).map(([name, text]) => [`${what} ${name}`, (bytes) => around(text(bytes - rest))]),
  );
}

function chosen(values, names) {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

function range(count) {
  return Array.from({ length: Math.floor(count) }, (_, index) => index);
}
