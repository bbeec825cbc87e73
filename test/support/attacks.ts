// The table of bad external tokens: each fails one check, before or after it is used up, and is made for a service that
// trusts `Cast`.
import { createHmac, randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import type { Members } from '../../demo/partner.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { changeUser, createUser, linkedUser } from './local-users.js';
import { LOGOUT_PATH, logoutToken } from './logout-tokens.js';
import type { TestService } from './test-service.js';

const AUDIENCE = 'https://instance.example';

/** Partners that the service trusts, and one that it does not. */
export class Cast {
  readonly main = Partner.create({ issuer: 'https://main.example', kid: 'shared', audience: AUDIENCE });
  /** Another issuer with the same kid. */
  readonly namesake = Partner.create({
    issuer: 'https://namesake.example',
    kid: 'shared',
    audience: AUDIENCE,
  });
  /** Another issuer with a kid of its own. */
  readonly other = Partner.create({ issuer: 'https://other.example', kid: 'other-key', audience: AUDIENCE });
  readonly rsa = Partner.create({ issuer: 'https://rsa.example', kid: 'rsa-key', algorithm: 'RS256' });
  readonly p384 = Partner.create({ issuer: 'https://p384.example', kid: 'p384-key', algorithm: 'ES384' });
  readonly p521 = Partner.create({ issuer: 'https://p521.example', kid: 'p521-key', algorithm: 'ES512' });
  /** Trusted, until a token of it is made for being refused. */
  readonly revoked = Partner.create({
    issuer: 'https://revoked.example',
    kid: 'revoked',
    audience: AUDIENCE,
  });
  /** Claims to be `main` with a key of its own. */
  readonly impostor = Partner.create({ issuer: 'https://main.example', kid: 'shared', audience: AUDIENCE });

  /** The entry of `main`, which limits roles. */
  get mainEntry(): object {
    return this.main.staticEntry({ allowedRoles: ['global:member', 'global:owner'] });
  }

  get trustedKeys(): object[] {
    const { namesake, other, rsa, p384, p521, revoked } = this;
    return [
      this.mainEntry,
      ...[namesake, other, rsa, p384, p521, revoked].map((partner) => partner.staticEntry()),
    ];
  }
}

/** Who is told what: a token that fails for its claims is told apart from every other failure (7.5, 7.6, 7.8). */
export type Verdict = 'refused' | 'claims-invalid';

export interface Attack {
  /** Begins with the rule. */
  readonly name: string;
  readonly make: (cast: Cast) => string;
  /** The stable word for the cause (D18), which the audit row holds. */
  readonly reason: string;
  readonly verdict: Verdict;
  /** Only where the check binds one of the flows. */
  readonly flow?: 'embed' | 'exchange';
}

/** What an embedded login answers: whom the instance trusts is told to nobody (D77). */
export function embedWordOf(reason: string): string {
  return ['issuer_unknown', 'kid_unknown'].includes(reason) ? 'key_unknown' : reason;
}

/** A token that verifies: what is wrong is known to the database alone. */
export interface LateRefusal {
  /** Begins with the rule. */
  readonly name: string;
  readonly make: (cast: Cast, service: TestService) => string | Promise<string>;
  readonly reason: string;
}

type Make = Attack['make'];

function refused(reason: string, attacks: readonly (readonly [string, Make])[]): Attack[] {
  return attacks.map(([name, make]) => ({ name, make, reason, verdict: 'refused' as const }));
}

/** A correctly signed token of `main` with other claims; `undefined` leaves a claim out. */
const claims =
  (change: Members): Make =>
  ({ main }: Cast) =>
    main.sign(main.claims(change));
/** A correctly signed token of `main` with another header. */
const header =
  (change: Members): Make =>
  ({ main }: Cast) =>
    main.sign(main.claims(), change);
/** Valid members of `main` as JSON text, without the closing brace. */
const open = (members: Members) => JSON.stringify(members).slice(0, -1);
const headerOf = ({ main }: Cast) => ({ alg: 'ES256', typ: 'JWT', kid: main.kid });
const now = () => Math.floor(Date.now() / 1000);

function withPart(token: string, index: number, change: (part: string) => string): string {
  return token
    .split('.')
    .map((part, at) => (at === index ? change(part) : part))
    .join('.');
}

const HEADER = 0;
const PAYLOAD = 1;
const SIGNATURE = 2;
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Another spelling of the same bytes: the last character of 64 bytes has four unused bits. */
function respelt(part: string): string {
  return part.slice(0, -1) + String(BASE64URL[BASE64URL.indexOf(part.slice(-1)) + 1]);
}

/** HMAC over the public key as the entry spells it: the oldest confusion of algorithms. */
function hmacToken({ main }: Cast, secret: string): string {
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const input = `${encoded({ ...headerOf({ main } as Cast), alg: 'HS256' })}.${encoded(main.claims())}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

function zeroSignature(partner: Partner, bytes: number): string {
  return withPart(partner.sign(), SIGNATURE, () => Buffer.alloc(bytes).toString('base64url'));
}

const MALFORMED: [string, Make][] = [
  ['[D15] text that is no JWT', () => 'not-a-token'],
  ['[D15] two parts', ({ main }) => main.sign().split('.').slice(0, 2).join('.')],
  ['[D15] four parts', ({ main }) => `${main.sign()}.e30`],
  ['[D15] five parts, as of an encrypted token', ({ main }) => `${main.sign()}.e30.e30`],
  ['[D15] a header that is no JSON', ({ main }) => main.signRaw('{', JSON.stringify(main.claims()))],
  ['[D15] a header that is an array', ({ main }) => main.signRaw('[]', JSON.stringify(main.claims()))],
  ['[D15] a payload that is no JSON', (cast) => cast.main.signRaw(JSON.stringify(headerOf(cast)), 'claims')],
  ['[D15] a payload that is not UTF-8', (cast) => latin1Payload(cast)],
  ['[D15] padded base64', ({ main }) => `${main.sign()}==`],
  ['[D15] a space in the header', ({ main }) => withPart(main.sign(), HEADER, (part) => `${part} `)],
  ['[D15] a line end in the payload', ({ main }) => withPart(main.sign(), PAYLOAD, (part) => `${part}\n`)],
  ['[D15] another spelling of the signature', ({ main }) => withPart(main.sign(), SIGNATURE, respelt)],
  ['[D37] alg twice', (cast) => cast.main.signRaw(`${open(headerOf(cast))},"alg":"ES256"}`, '{}')],
  ['[D37] kid twice', (cast) => cast.main.signRaw(`${open(headerOf(cast))},"k\\u0069d":"shared"}`, '{}')],
  ['[D37] iss twice', (cast) => twice(cast, '"iss":"https://main.example"')],
  ['[D37] sub twice', (cast) => twice(cast, '"sub":"somebody-else"')],
  ['[D37] role twice', (cast) => twice(cast, '"role":"global:member","role":"global:admin"')],
  ['[D37] a nested member twice', (cast) => twice(cast, '"extra":[{"deep":{"a":1,"a":2}}]')],
];

function latin1Payload(cast: Cast): string {
  const text = JSON.stringify(cast.main.claims({ given_name: 'Zoë' }));
  return cast.main.signRaw(JSON.stringify(headerOf(cast)), Buffer.from(text, 'latin1'));
}

function twice(cast: Cast, member: string): string {
  return cast.main.signRaw(JSON.stringify(headerOf(cast)), `${open(cast.main.claims())},${member}}`);
}

/** A payload that is JSON but no object is no JWT (RFC 7519 §7.2), so nothing is said about claims. */
const NOT_A_CLAIMS_SET: [string, Make][] = ['[]', '"claims"', 'null', '42'].map((payload) => [
  `[D15] the payload ${payload}`,
  (cast) => cast.main.signRaw(JSON.stringify(headerOf(cast)), payload),
]);

const WITHOUT_KID: [string, Make][] = [
  ['[2.2.kid] no kid', header({ kid: undefined })],
  ['[2.2.kid] a numeric kid', header({ kid: 7 })],
  ['[2.2.kid] an empty kid', header({ kid: '' })],
  ['[2.2.kid] a list of kids', header({ kid: ['shared'] })],
];

const UNKNOWN_KID: [string, Make][] = [
  ['[5.2.1] an unknown kid', header({ kid: 'nobody' })],
  ['[5.2.1] a kid with NUL', header({ kid: 'shared\0' })],
  ['[5.2.1] a kid that objects have anyway', header({ kid: '__proto__' })],
  ['[5.2.1] the kid of another issuer', header({ kid: 'other-key' })],
];

const UNKNOWN_ISSUER: [string, Make][] = [
  ['[5.2.1] an unknown issuer', claims({ iss: 'https://unknown.example' })],
  ['[5.2.1] an issuer with a slash more', claims({ iss: 'https://main.example/' })],
  ['[5.2.1] an issuer in capitals', claims({ iss: 'HTTPS://MAIN.EXAMPLE' })],
];

const WRONG_ALGORITHM: [string, Make][] = [
  ['[2.1.supported] alg none', header({ alg: 'none' })],
  [
    '[2.1.supported] alg none without a signature',
    (cast) => withPart(header({ alg: 'none' })(cast), SIGNATURE, () => ''),
  ],
  ['[2.1.supported] alg nOnE', header({ alg: 'nOnE' })],
  ['[2.1.supported] no alg', header({ alg: undefined })],
  ['[2.1.supported] HS256 over the PEM', (cast) => hmacToken(cast, cast.main.publicKeyPem())],
  ['[2.1.supported] HS256 over the trimmed PEM', (cast) => hmacToken(cast, cast.main.publicKeyPem().trim())],
  ['[2.1.supported] es256 in small letters', header({ alg: 'es256' })],
  ['[2.1.supported] ES256K', header({ alg: 'ES256K' })],
  ['[2.1.static.algorithms] RS256 with an EC key', header({ alg: 'RS256' })],
  ['[2.1.static.algorithms] EdDSA with an EC key', header({ alg: 'EdDSA' })],
  ['[2.1.static.algorithms] ES384 with a P-256 key', header({ alg: 'ES384' })],
  ['[2.1.static.algorithms] PS256 on an RS256 entry', ({ rsa }) => rsa.sign(rsa.claims(), { alg: 'PS256' })],
  ['[2.1.static.algorithms] RS512 on an RS256 entry', ({ rsa }) => rsa.sign(rsa.claims(), { alg: 'RS512' })],
  [
    '[2.1.static.algorithms] ES256 on a P-384 entry',
    ({ p384 }) => p384.sign(p384.claims(), { alg: 'ES256' }),
  ],
];

const UNSUPPORTED_HEADER: [string, Make][] = [
  ['[D37] an unknown crit', header({ crit: ['exp'], exp: 1 })],
  ['[D37] an empty crit', header({ crit: [] })],
  ['[D37] a payload that is not encoded', header({ crit: ['b64'], b64: false })],
];

const OTHER_TYPE: [string, Make][] = [
  ['[D31] typ at+jwt', header({ typ: 'at+jwt' })],
  ['[D31] typ AT+JWT', header({ typ: 'AT+JWT' })],
  ['[D133] an identity assertion', header({ typ: 'oauth-id-jag+jwt' })],
  ['[D31] typ application/at+jwt', header({ typ: 'application/at+jwt' })],
];

const BAD_SIGNATURE: [string, Make][] = [
  ['[5.2.1] the key of another who uses the same kid', ({ main, namesake }) => namesake.sign(main.claims())],
  ['[5.2.1] a key of the attacker', ({ impostor }) => impostor.sign()],
  ['[5.2.1] changed claims', (cast) => changedClaims(cast)],
  ['[5.2.1] a changed header', ({ main }) => withPart(main.sign(), HEADER, (part) => addMember(part))],
  ['[5.2.1] no signature', ({ main }) => withPart(main.sign(), SIGNATURE, () => '')],
  ['[5.2.1] half a signature', ({ main }) => withPart(main.sign(), SIGNATURE, (part) => part.slice(0, 44))],
  ['[5.2.1] a signature in DER', ({ main }) => withPart(main.sign(), SIGNATURE, derShaped)],
  ['[5.2.1] zeros for ES256', ({ main }) => zeroSignature(main, 64)],
  ['[5.2.1] zeros for ES384', ({ p384 }) => zeroSignature(p384, 96)],
  ['[5.2.1] zeros for ES512', ({ p521 }) => zeroSignature(p521, 132)],
  ['[D37] a key in the header', ({ impostor }) => impostor.sign(impostor.claims(), headerKey(impostor))],
  [
    '[D37] jku in the header',
    ({ impostor }) => impostor.sign(impostor.claims(), { jku: 'https://main.example/k' }),
  ],
  // Nobody without a key may learn what is wrong with claims (D15).
  [
    '[D15] a key of the attacker and no sub',
    ({ impostor }) => impostor.sign(impostor.claims({ sub: undefined })),
  ],
  [
    '[D15] a key of the attacker and exp as text',
    ({ impostor }) => impostor.sign(impostor.claims({ exp: 'x' })),
  ],
];

function changedClaims({ main }: Cast): string {
  const other = Buffer.from(JSON.stringify(main.claims({ sub: 'customer-2' }))).toString('base64url');
  return withPart(main.sign(), PAYLOAD, () => other);
}

function addMember(part: string): string {
  const members = JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...members, added: true })).toString('base64url');
}

function derShaped(part: string): string {
  const raw = Buffer.from(part, 'base64url');
  const integer = (bytes: Buffer) => Buffer.concat([Buffer.from([2, bytes.length + 1, 0]), bytes]);
  const body = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]).toString('base64url');
}

function headerKey(impostor: Partner): Members {
  return { jwk: impostor.jwks().keys[0] };
}

const BAD_CLAIMS: [string, Make][] = [
  ...['sub', 'iss', 'aud', 'iat', 'exp', 'jti'].map((name): [string, Make] => [
    `[5.2.3] no ${name}`,
    claims({ [name]: undefined }),
  ]),
  ...['sub', 'iss', 'jti'].flatMap((name): [string, Make][] => [
    [`[5.2.3] a numeric ${name}`, claims({ [name]: 1 })],
    [`[5.2.3] ${name} as null`, claims({ [name]: null })],
    [`[5.2.3] ${name} as a list`, claims({ [name]: ['https://main.example'] })],
    [`[D42] an empty ${name}`, claims({ [name]: '' })],
  ]),
  // An unsigned token without `iss` gets the claims answer too, since no key can be chosen (D15).
  [
    '[D15] no iss and a key of the attacker',
    ({ impostor }) => impostor.sign(impostor.claims({ iss: undefined })),
  ],
  ['[5.2.3] a numeric aud', claims({ aud: 1 })],
  ['[5.2.3] aud as an object', claims({ aud: { 0: AUDIENCE } })],
  ['[5.2.3] a number in the list of aud', claims({ aud: [AUDIENCE, 1] })],
  ...['iat', 'exp', 'nbf'].flatMap((name): [string, Make][] => [
    [`[D12] ${name} as text`, claims({ [name]: String(now() + 30) })],
    [`[D12] ${name} as null`, claims({ [name]: null })],
    [`[D12] a negative ${name}`, claims({ [name]: -1 })],
    [`[D12] ${name} of 1e300`, claims({ [name]: 1e300 })],
    [`[D12] ${name} of 2^53`, claims({ [name]: 2 ** 53 })],
    [`[D12] ${name} a second past the year 9999`, claims({ [name]: 253_402_300_800 })],
    [`[D12] infinite ${name}`, (cast) => infinite(cast, name)],
  ]),
  ['[2.2.7] email that is no address', claims({ email: 'nobody' })],
  ['[2.2.7] email with a soft hyphen in its domain', claims({ email: 'ada@ma\u00adin.example' })],
  ['[2.2.7] a numeric email', claims({ email: 1 })],
  ['[2.2.7] given_name as an object', claims({ given_name: {} })],
  ['[2.2.7] a numeric family_name', claims({ family_name: 1 })],
  ['[2.2.7] role as a list', claims({ role: ['global:admin'] })],
  ['[P.priorActors] act as text', claims({ act: 'robot' })],
  ['[P.priorActors] act without sub', claims({ act: { iss: 'https://main.example' } })],
  ['[P.priorActors] act of six parties', claims({ act: nestedActors(6) })],
];

function nestedActors(count: number): Members {
  return { sub: `robot-${count}`, ...(count > 1 ? { act: nestedActors(count - 1) } : {}) };
}

/** JSON.stringify knows no infinity, but a number too large for a double is one when it is read. */
function infinite(cast: Cast, name: string): string {
  const members = cast.main.claims({ [name]: undefined });
  return cast.main.signRaw(JSON.stringify(headerOf(cast)), `${open(members)},"${name}":1e999}`);
}

const WRONG_AUDIENCE: [string, Make][] = [
  ['[5.2.4] another audience', claims({ aud: 'https://elsewhere.example' })],
  ['[5.2.4] an audience that begins with ours', claims({ aud: `${AUDIENCE}.evil.example` })],
  ['[5.2.4] a beginning of an own audience', claims({ aud: 'https://instance' })],
  ['[5.2.4] ours with a slash', claims({ aud: `${AUDIENCE}/` })],
  ['[5.2.4] one that begins with ours, in a list', claims({ aud: [`${AUDIENCE}.evil`] })],
  ['[5.2.4] several others', claims({ aud: ['https://a.example', 'https://b.example'] })],
];

const UNSTORABLE: [string, Make][] = [
  ...['sub', 'jti', 'given_name', 'family_name', 'role', 'unknown_claim'].flatMap(
    (name): [string, Make][] => [
      [`[D42] NUL in ${name}`, claims({ [name]: 'a\0b' })],
      [`[D42] a lone surrogate in ${name}`, claims({ [name]: 'a\ud800b' })],
    ],
  ),
  ['[D42] a sub of 256 characters', claims({ sub: 's'.repeat(256) })],
];

const EXPIRED: [string, Make][] = [
  ['[5.2.6] expired an hour ago', claims({ iat: now() - 3630, exp: now() - 3600 })],
  ['[5.2.6] expired a second ago', ({ main }) => main.sign(main.claims({ iat: now() - 30, exp: now() - 1 }))],
  ['[5.2.6] exp of zero', claims({ iat: 0, exp: 0 })],
];

const hour = (): Members => ({ iat: now() + 3600, exp: now() + 3660 });

export const ATTACKS: readonly Attack[] = [
  ...refused('token_malformed', [...MALFORMED, ...NOT_A_CLAIMS_SET]),
  ...refused('kid_missing', WITHOUT_KID),
  ...refused('kid_unknown', UNKNOWN_KID),
  ...refused('issuer_unknown', UNKNOWN_ISSUER),
  ...refused('algorithm_not_allowed', WRONG_ALGORITHM),
  ...refused('header_not_allowed', UNSUPPORTED_HEADER),
  ...refused('token_type_not_allowed', OTHER_TYPE),
  ...refused('signature_invalid', BAD_SIGNATURE),
  ...refused('claims_invalid', BAD_CLAIMS).map((attack) => ({
    ...attack,
    verdict: 'claims-invalid' as const,
  })),
  ...refused('audience_mismatch', WRONG_AUDIENCE),
  ...refused('claims_not_storable', UNSTORABLE),
  ...refused('token_expired', EXPIRED),
  ...refused('token_not_yet_valid', [
    ['[2.2.11] nbf in an hour', ({ main }) => main.sign(main.claims({ nbf: now() + 3600 }))],
    ['[D10] nbf beyond the tolerance', ({ main }) => main.sign(main.claims({ nbf: now() + 20 }))],
  ]),
  ...refused('token_issued_in_future', [
    ['[D11] issued in an hour', ({ main }) => main.sign(main.claims(hour()))],
    ['[D11] issued in an hour, after its end', ({ main }) => main.sign(main.claims({ iat: now() + 3600 }))],
    ['[D11] issued beyond the tolerance', ({ main }) => main.sign(main.claims({ iat: now() + 20 }))],
  ]),
  ...refused('token_lifetime_exceeded', [
    [
      '[5.2.7] a life of 61 seconds',
      ({ main }) => main.sign(main.claims({ iat: now() - 1, exp: now() + 60 })),
    ],
    ['[5.2.7] a life of an hour', ({ main }) => main.sign(main.claims({ exp: now() + 3600 }))],
  ]).map((attack) => ({ ...attack, flow: 'embed' as const })),
  ...refused('remaining_lifetime_too_short', [
    ['[4.2.5] 3 seconds left', ({ main }) => main.sign(main.claims({ iat: now() - 30, exp: now() + 3 }))],
  ]).map((attack) => ({ ...attack, flow: 'exchange' as const })),
];

/** A sub that no other test uses. */
let subjects = 0;
const newSub = () => `late-${++subjects}`;
const ofStranger =
  (change: Members): LateRefusal['make'] =>
  ({ main }) =>
    main.sign(main.claims({ sub: newSub(), ...change }));

/** What is found out after the token id is used up (D3). */
export const LATE_REFUSALS: readonly LateRefusal[] = [
  {
    name: '[4.4.3] an unknown user without e-mail',
    reason: 'email_missing',
    make: ofStranger({ email: undefined }),
  },
  {
    name: '[D5] an unverified e-mail',
    reason: 'email_not_verified',
    make: ofStranger({ email_verified: false }),
  },
  {
    name: '[5.2.8] a role that the entry does not allow',
    reason: 'role_not_allowed',
    make: ofStranger({ role: 'global:admin' }),
  },
  {
    name: '[4.4.role.2] a new user as owner',
    reason: 'role_not_assignable',
    make: ofStranger({ role: 'global:owner' }),
  },
  {
    name: '[4.4.role.2] a new user with an unknown role',
    reason: 'role_not_recognized',
    make: ofStranger({ role: 'global:king' }),
  },
  {
    name: '[D7] a disabled user who is known',
    reason: 'user_disabled',
    make: async ({ main }, service) => {
      const sub = newSub();
      await service.accessToken({ subject_token: main.sign(main.claims({ sub })) });
      const user = await linkedUser(service, main.issuer, sub);
      await changeUser(service, user?.id ?? '', { enabled: false });
      return main.sign(main.claims({ sub }));
    },
  },
  {
    name: '[D7] a disabled user who would be linked by e-mail',
    reason: 'user_disabled',
    make: async ({ main }, service) => {
      const sub = newSub();
      const id = await createUser(service, { email: `${sub}@main.example` });
      await changeUser(service, id, { enabled: false });
      return main.sign(main.claims({ sub }));
    },
  },
];

const USED_UP: LateRefusal = {
  name: '[5.2.5] a used token',
  reason: 'token_replayed',
  make: async ({ main }, service) => {
    const token = main.sign();
    await service.sessionCookie(token);
    return token;
  },
};

const OF_REVOKED_KEY: LateRefusal = {
  name: '[D59] a token of a revoked key',
  reason: 'trust_revoked',
  make: async ({ revoked }, service) => {
    const { issuer, kid } = revoked;
    await service.part(RevocationService).revoke({ issuer, kid }, 'test-of-revoked-key');
    return revoked.sign();
  },
};

const OF_SIGNED_OUT_USER: LateRefusal = {
  name: '[D132] a token of a user whom the provider has signed out',
  reason: 'signed_out_by_provider',
  make: async ({ main }, service) => {
    const sub = `signed-out-${randomUUID()}`;
    const logout = { logout_token: logoutToken(main, { sub }) };
    const answer = await service.post(LOGOUT_PATH, logout);
    if (answer.status !== 200) throw new Error(`the logout answered ${answer.status}`);
    return main.sign(main.claims({ sub, iat: Math.floor(Date.now() / 1000) - 1 }));
  },
};

/** For each reason a token that both flows refuse for it, but for those whose claims are invalid. */
export const ONE_OF_EACH_REASON: readonly LateRefusal[] = [
  ...ATTACKS.filter(({ flow, verdict }) => flow === undefined && verdict === 'refused'),
  USED_UP,
  OF_REVOKED_KEY,
  OF_SIGNED_OUT_USER,
  ...LATE_REFUSALS,
].filter(({ reason }, index, all) => all.findIndex((other) => other.reason === reason) === index);

export const OF_INVALID_CLAIMS: readonly Attack[] = ATTACKS.filter(
  ({ verdict }) => verdict === 'claims-invalid',
);
