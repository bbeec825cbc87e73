// The table of bad external tokens: each fails one check, before or after it is used up, and is made for a service that
// trusts `Cast`.
import { createHmac, randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { changeUser, linkedUser } from './local-users.js';
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
    const { namesake, other, revoked } = this;
    return [this.mainEntry, ...[namesake, other, revoked].map((partner) => partner.staticEntry())];
  }
}

/** The kind of answer: invalid claims have an answer of their own (7.5, 7.6, 7.8). */
export type Verdict = 'refused' | 'claims-invalid';

export interface Attack {
  /** Begins with the rule. */
  readonly name: string;
  readonly make: (cast: Cast) => string;
  /** The stable word for the cause, which the audit row holds. */
  readonly reason: string;
  readonly verdict: Verdict;
  /** Set if the check applies to one flow only. */
  readonly flow?: 'embed' | 'exchange';
}

/** The reason that an embedded login answers. It does not reveal which issuers the instance trusts (D77). */
export function embedWordOf(reason: string): string {
  return ['issuer_unknown', 'key_set_unavailable', 'kid_unknown'].includes(reason) ? 'key_unknown' : reason;
}

/** A token that verifies, but is refused because of data in the database. */
export interface LateRefusal {
  /** Begins with the rule. */
  readonly name: string;
  readonly make: (cast: Cast, service: TestService) => string | Promise<string>;
  readonly reason: string;
}

type Make = Attack['make'];

/** A correctly signed token of `main` with other claims; `undefined` leaves a claim out. */
const claims =
  (change: Members): Make =>
  ({ main }: Cast) =>
    main.sign(main.claims(change));
/** The same with another header. */
const header =
  (change: Members): Make =>
  ({ main }: Cast) =>
    main.sign(main.claims(), change);
/** The same with times, in seconds from now. */
const times =
  (change: Readonly<Record<string, number>>): Make =>
  ({ main }: Cast) => {
    const now = Math.floor(Date.now() / 1000);
    const moments = Object.entries(change).map(([name, seconds]) => [name, now + seconds]);
    return main.sign(main.claims(Object.fromEntries(moments)));
  };

/** HMAC over the public key as the entry spells it: the oldest confusion of algorithms. */
function hmacToken({ main }: Cast): string {
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const input = `${encoded({ alg: 'HS256', typ: 'JWT', kid: main.kid })}.${encoded(main.claims())}`;
  return `${input}.${createHmac('sha256', main.publicKeyPem()).update(input).digest('base64url')}`;
}

/** One attack of each kind, by its reason. The unit tests of the verifier have all of them. */
const REFUSED: readonly (readonly [reason: string, name: string, make: Make, flow?: Attack['flow']])[] = [
  ['token_malformed', '[D14] text that is no JWT', () => 'not-a-token'],
  ['kid_missing', '[2.2.kid] no kid', header({ kid: undefined })],
  ['kid_unknown', '[5.2.1] the kid of another issuer', header({ kid: 'other-key' })],
  ['issuer_unknown', '[5.2.1] an issuer with a slash more', claims({ iss: 'https://main.example/' })],
  ['algorithm_not_allowed', '[2.1.supported] HS256 over the PEM', hmacToken],
  ['header_not_allowed', '[D37] an unknown crit', header({ crit: ['exp'], exp: 1 })],
  ['token_type_not_allowed', '[D31] typ at+jwt', header({ typ: 'at+jwt' })],
  [
    'signature_invalid',
    '[5.2.1] the key of another who uses the same kid',
    ({ main, namesake }) => namesake.sign(main.claims()),
  ],
  // A sender without a key must not learn which claim is invalid (D14).
  [
    'signature_invalid',
    '[D14] a key of the attacker and no sub',
    ({ impostor }) => impostor.sign(impostor.claims({ sub: undefined })),
  ],
  ['audience_mismatch', '[5.2.4] another audience', claims({ aud: 'https://elsewhere.example' })],
  ['claims_not_storable', '[D42] NUL in an unknown claim', claims({ unknown_claim: 'a\0b' })],
  ['confirmation_not_supported', '[D127] cnf.jkt', claims({ cnf: { jkt: 'x' } })],
  ['token_expired', '[5.2.6] expired a second ago', times({ iat: -30, exp: -1 })],
  ['token_not_yet_valid', '[D10] nbf beyond the tolerance', times({ nbf: 50 })],
  ['token_issued_in_future', '[D10] issued beyond the tolerance', times({ iat: 50, exp: 105 })],
  ['token_lifetime_exceeded', '[5.2.7] a life of 61 seconds', times({ iat: -1, exp: 60 }), 'embed'],
  ['remaining_lifetime_too_short', '[4.2.5] 4 seconds left', times({ iat: -30, exp: 4 }), 'exchange'],
];

const BAD_CLAIMS: readonly (readonly [name: string, make: Make])[] = [
  ['[5.2.3] no jti', claims({ jti: undefined })],
  // An unsigned token without `iss` gets the claims answer too, since no key can be chosen (D14).
  [
    '[D14] no iss and a key of the attacker',
    ({ impostor }) => impostor.sign(impostor.claims({ iss: undefined })),
  ],
  ['[2.2.7] email that is no address', claims({ email: 'nobody' })],
];

export const OF_INVALID_CLAIMS: readonly Attack[] = BAD_CLAIMS.map(([name, make]) => ({
  ...{ name, make, reason: 'claims_invalid' },
  verdict: 'claims-invalid',
}));

export const ATTACKS: readonly Attack[] = [
  ...REFUSED.map(([reason, name, make, flow]): Attack => {
    return { name, make, reason, verdict: 'refused', flow };
  }),
  ...OF_INVALID_CLAIMS,
];

/** A sub that no other test uses. */
let subjects = 0;
const newSub = () => `late-${++subjects}`;
const ofStranger =
  (change: Members): LateRefusal['make'] =>
  ({ main }) =>
    main.sign(main.claims({ sub: newSub(), ...change }));

/** The tokens that are refused after their id is used up (D3). */
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
    // The token must not be newer than the logout, which may take a while.
    const iat = Math.floor(Date.now() / 1000) - 1;
    const logout = { logout_token: logoutToken(main, { sub }) };
    const answer = await service.post(LOGOUT_PATH, logout);
    if (answer.status !== 200) throw new Error(`the logout answered ${answer.status}`);
    return main.sign(main.claims({ sub, iat }));
  },
};

/** One token that both flows refuse for each reason, except invalid claims. */
export const ONE_OF_EACH_REASON: readonly LateRefusal[] = [
  ...ATTACKS.filter(({ flow, verdict }) => flow === undefined && verdict === 'refused'),
  USED_UP,
  OF_REVOKED_KEY,
  OF_SIGNED_OUT_USER,
  ...LATE_REFUSALS,
].filter(({ reason }, index, all) => all.findIndex((other) => other.reason === reason) === index);
