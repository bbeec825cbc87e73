// The checks of an external token, from its header to its lifetime, and which of several errors is reported.
import { createHmac, createPublicKey } from 'node:crypto';
import type { Members, PartnerOptions } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../../../demo/signing-key.js';
import type { AccessFlow } from '../../../../src/token-exchange/endpoint/flows.js';
import { isTokenRefusal, OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { TokenRefusalReason } from '../../../../src/token-exchange/refusals/token-refusals.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  issuerAndKid,
} from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { FLOW_CHECKS } from '../../../../src/token-exchange/verify/flow-checks.js';
import { LOGOUT_EVENT } from '../../../support/logout-tokens.js';
import { TestClock } from '../../../support/test-clock.js';
import { trustedKeysOf } from '../../../support/trusted-keys.js';

const NOW = 1_800_000_000;
const TOLERANCE = 5;
const A = 'https://a.example';
const B = 'https://b.example';
const US = 'https://us.example';

function verifierOf(
  entries: readonly object[],
  toleranceSeconds = TOLERANCE,
  now = NOW,
  policy: Partial<TrustPolicy> = {},
  isUnfetched = false,
): ExternalTokenVerifier {
  const clock = new TestClock(now * 1000);
  const keys = trustedKeysOf(entries, clock, {}, policy);
  const state = { state: 'never_held', servesUntil: undefined, reason: undefined } as const;
  if (isUnfetched) jest.spyOn(keys, 'unusableKeySet').mockReturnValue(state);
  return new ExternalTokenVerifier(keys, clock, {
    clockToleranceSeconds: toleranceSeconds,
    strict: true,
    idAssertion: { enabled: false, maxLifetimeSeconds: 300 },
  });
}

/** `accepted`, or the reason of the refusal. Any other error fails the test. */
async function outcomeOf(
  verifier: ExternalTokenVerifier,
  token: string,
  flow: AccessFlow = 'exchange',
): Promise<string> {
  try {
    await verifier.verify(token, flow);
    return 'accepted';
  } catch (error) {
    if (isTokenRefusal(error)) return error.reason;
    throw error;
  }
}

const partnerOf = (options: Partial<PartnerOptions> = {}) =>
  Partner.create({ issuer: A, kid: 'k1', ...options });
const claimsOf = (signer: Partner, overrides: Members = {}) => signer.claims({ iat: NOW - 5, ...overrides });
const tokenOf = (signer: Partner, claims: Members = {}, header: Members = {}) =>
  signer.sign(claimsOf(signer, claims), header);

const partner = partnerOf();
const verifier = verifierOf([partner.staticEntry()]);
const judged = (claims: Members = {}, header: Members = {}, flow?: AccessFlow) =>
  outcomeOf(verifier, tokenOf(partner, claims, header), flow);
const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** Replaces the first 20 characters of a token's signature. */
const withOtherSignature = (token: string) => token.replace(/\.[^.]{20}([^.]*)$/, `.${'A'.repeat(20)}$1`);

describe('a valid token', () => {
  it.each<AccessFlow>(['exchange', 'embed'])(
    '[5.2.1] is accepted in the flow %s, with its claims and its key',
    async (flow) => {
      const token: VerifiedToken = await verifier.verify(tokenOf(partner, { sub: 'ada' }), flow);
      expect(token.claims).toMatchObject({ iss: A, sub: 'ada', iat: NOW - 5, exp: NOW + 50 });
      expect(issuerAndKid(token)).toEqual({ issuer: A, kid: 'k1' });
    },
  );
});

describe('algorithms', () => {
  const partners = SIGNING_ALGORITHMS.map((algorithm) => partnerOf({ algorithm, kid: algorithm }));
  const all = verifierOf(partners.map((signer) => signer.staticEntry()));
  const pairs = partners.flatMap((holder) =>
    partners.map((signer): [string, string, Partner, Partner] => [
      signer.algorithm,
      holder.algorithm,
      signer,
      holder,
    ]),
  );

  it.each(partners.map((signer): [string, Partner] => [signer.algorithm, signer]))(
    '[2.1.supported] %s is accepted',
    async (_, signer) => expect(await outcomeOf(all, tokenOf(signer))).toBe('accepted'),
  );

  it.each(pairs.filter(([signed, held]) => signed !== held))(
    '[5.2.2][K9] %s is not accepted under the kid of a key for %s',
    async (signed, held, signer, holder) => {
      expect(await outcomeOf(all, tokenOf(signer, {}, { kid: holder.kid }))).toBe('algorithm_not_allowed');
      expect(await outcomeOf(all, tokenOf(signer, {}, { kid: holder.kid, alg: held }))).toBe(
        'signature_invalid',
      );
      expect(await outcomeOf(all, tokenOf(holder, {}, { alg: signed }))).toBe('algorithm_not_allowed');
    },
  );

  it('[D35] alg Ed25519 is accepted only if the entry has EdDSA', async () => {
    for (const signer of partners) {
      const expected = signer.algorithm === 'EdDSA' ? 'accepted' : 'algorithm_not_allowed';
      expect(await outcomeOf(all, tokenOf(signer, {}, { alg: 'Ed25519' }))).toBe(expected);
    }
  });

  it('[5.2.2] an entry allows only its own algorithms, even if the key supports more', async () => {
    const rs = partnerOf({ algorithm: 'RS384' });
    const entry = rs.staticEntry({ algorithms: ['RS256', 'RS512'] });
    expect(await outcomeOf(verifierOf([entry]), tokenOf(rs))).toBe('algorithm_not_allowed');
    expect(await outcomeOf(verifierOf([{ ...entry, algorithms: ['RS256', 'RS384'] }]), tokenOf(rs))).toBe(
      'accepted',
    );
  });

  it.each(['none', 'nOnE', undefined, ['ES256'], 'es256', 'ES256\n'])(
    '[5.2.2] alg %j is rejected, signed or not',
    async (alg) => {
      const signed = tokenOf(partner, {}, { alg });
      expect(await outcomeOf(verifier, signed)).toBe('algorithm_not_allowed');
      expect(await outcomeOf(verifier, signed.replace(/[^.]*$/, ''))).toBe('algorithm_not_allowed');
    },
  );

  it.each(partners.map((signer): [string, Partner] => [signer.algorithm, signer]))(
    '[5.2.2][K9] HMAC over the public key of %s in any form is rejected',
    async (_, signer) => {
      const pem = signer.publicKeyPem();
      const key = createPublicKey(pem);
      const der = key.export({ type: 'spki', format: 'der' });
      const jwk = JSON.stringify(key.export({ format: 'jwk' }));
      const texts = [pem, pem.trim(), ` \n${pem}`, pem.replaceAll('\n', '\r\n'), pem.replaceAll('\n', '\\n')];
      const secrets = [...texts, pem.replace(/-----.*-----|\n/g, ''), der, jwk, jwk.slice(1, -1), ''];
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS384', 'sha384'],
        ['HS512', 'sha512'],
      ] as const) {
        for (const secret of secrets) {
          const input = `${base64url(JSON.stringify({ alg, kid: signer.kid }))}.${base64url(JSON.stringify(claimsOf(signer)))}`;
          const token = `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
          expect(await outcomeOf(all, token)).toBe('algorithm_not_allowed');
          const disguised = token.replace(
            /^[^.]*/,
            base64url(JSON.stringify({ alg: signer.algorithm, kid: signer.kid })),
          );
          expect(await outcomeOf(all, disguised)).toBe('signature_invalid');
        }
      }
    },
  );
});

describe('signatures', () => {
  const sizes = { ES256: 64, ES384: 96, ES512: 132, EdDSA: 64, RS256: 256, PS256: 256 } as const;

  it.each(Object.entries(sizes) as [keyof typeof sizes, number][])(
    '[5.2.1][K12] of %s: zeros, ones, truncated, extended, of other claims, missing',
    async (algorithm, size) => {
      const signer = partnerOf({ algorithm });
      const own = verifierOf([signer.staticEntry()]);
      const [header = '', payload = '', signature = ''] = tokenOf(signer).split('.');
      const bytes = Buffer.from(signature, 'base64url');
      expect(bytes).toHaveLength(size);
      const other = Buffer.from(tokenOf(signer, { sub: 'other' }).split('.')[2] ?? '', 'base64url');
      const wrong = [Buffer.alloc(size), Buffer.alloc(size, 0xff), bytes.subarray(0, -1), other];
      wrong.push(
        Buffer.concat([bytes, Buffer.alloc(1)]),
        Buffer.concat([Buffer.alloc(1), bytes]),
        Buffer.alloc(0),
      );
      wrong.push(Buffer.alloc(1), Buffer.alloc(10_000), Buffer.alloc(size / 2), Buffer.alloc(size - 1, 1));
      for (const forged of wrong) {
        const token = `${header}.${payload}.${forged.toString('base64url')}`;
        expect(await outcomeOf(own, token)).toBe('signature_invalid');
      }
    },
  );

  it('[5.2.1] cover every character of header and claims', async () => {
    const token = tokenOf(partner, { email: undefined, given_name: undefined, family_name: undefined });
    for (let at = 0; at < token.lastIndexOf('.'); at++) {
      const changed = token.slice(0, at) + (token[at] === 'Q' ? 'R' : 'Q') + token.slice(at + 1);
      expect(await outcomeOf(verifier, changed)).not.toBe('accepted');
    }
  });
});

describe('keys', () => {
  it.each([undefined, '', null, 7, ['k1'], { k: 1 }, true])(
    '[2.2.kid] a kid of %j is treated as missing',
    async (kid) => {
      expect(await judged({}, { kid })).toBe('kid_missing');
    },
  );

  it.each(['k2', 'K1', 'k1 ', ' k1', 'k', 'k1\u0000', '__proto__', '*', 'k'.repeat(10_000)])(
    '[5.2.1] the kid %j is unknown',
    async (kid) => expect(await judged({}, { kid })).toBe('kid_unknown'),
  );

  it.each([B, `${A}/`, 'HTTPS://a.example', `${A}:443`, `${A} `, A.slice(0, -1), '__proto__', `${A}\u0000`])(
    '[5.2.1] the issuer %j is unknown',
    async (iss) => expect(await judged({ iss })).toBe('issuer_unknown'),
  );

  it.each(['k1', 'a:b', 'a/b', 'https://b.example k1', '../k1', 'a"b', 'ключ'])(
    '[D37][K8] two issuers with the kid %j do not sign for each other',
    async (kid) => {
      const [first, second] = [partnerOf({ kid }), partnerOf({ kid, issuer: B })];
      const both = verifierOf([first.staticEntry(), second.staticEntry()]);
      for (const [signer, other] of [
        [first, second],
        [second, first],
      ] as const) {
        expect(await outcomeOf(both, tokenOf(signer))).toBe('accepted');
        expect(await outcomeOf(both, tokenOf(signer, { iss: other.issuer }))).toBe('signature_invalid');
        expect(await outcomeOf(both, tokenOf(signer))).toBe('accepted');
      }
    },
  );

  it('[D37][K10] keys in the header are ignored', async () => {
    const stranger = partnerOf();
    const [jwk] = stranger.jwks().keys;
    const url = 'http://127.0.0.1:9/';
    for (const header of [{ jwk }, { jku: url }, { x5u: url }, { x5c: ['MIIB'] }, { jwk: 7, x5c: null }]) {
      expect(await outcomeOf(verifier, tokenOf(stranger, {}, header))).toBe('signature_invalid');
      expect(await outcomeOf(verifier, tokenOf(partner, {}, header))).toBe('accepted');
    }
  });

  it.each([
    { crit: ['x'], x: 1 },
    { crit: [] },
    { crit: null },
    { crit: 'exp' },
    { crit: ['b64'], b64: false },
    { b64: false },
  ])('[D37][K13] the header property %j is rejected', async (header) => {
    expect(await judged({}, header)).toBe('header_not_allowed');
  });
});

describe('other classes of token', () => {
  it.each(['at+jwt', 'AT+JWT', 'application/at+jwt', 'dpop+jwt', 'JWT;x=y', 'at+jwt ', 'JWT/', ''])(
    '[D31][K7] typ %s is rejected',
    async (typ) => expect(await judged({}, { typ })).toBe('token_type_not_allowed'),
  );

  it.each(['JWT', 'jwt', 'application/jwt', 'Application/JWT', 'text/plain', undefined])(
    '[2.2.kid] typ %j is accepted',
    async (typ) => {
      expect(await judged({}, { typ })).toBe('accepted');
    },
  );
});

const THUMBPRINT = 'k'.repeat(43);

it.each([{ jkt: 'x' }, { jkt: THUMBPRINT, kid: 'x' }, { jkt: [THUMBPRINT] }, { 'x5t#S256': 'x' }, {}, null])(
  '[D127] a token with cnf %j is rejected in both flows',
  async (cnf) => {
    for (const flow of ['exchange', 'embed'] as const)
      expect(await judged({ cnf }, {}, flow)).toBe('confirmation_not_supported');
  },
);

it('[D127] a token bound only by cnf.jkt is accepted in both flows, since the proof is checked later', async () => {
  const cnf = { jkt: THUMBPRINT };
  for (const flow of ['exchange', 'embed'] as const) expect(await judged({ cnf }, {}, flow)).toBe('accepted');
});

describe('errors before the signature is verified', () => {
  it.each<[Members, object | undefined]>([
    [{ exp: NOW }, { issuer: A, subject: 'customer-1', email: 'customer-1@a.example' }],
    [
      { exp: NOW, email: undefined },
      { issuer: A, subject: 'customer-1' },
    ],
    [{ email: 'a\0@a.example' }, { issuer: A, subject: 'customer-1' }],
    [{ sub: 'a\0' }, undefined],
    [{ sub: 7 }, undefined],
  ])(
    '[D21] an error for a signed token with %j contains the person if it names one',
    async (claims, person) => {
      const token = tokenOf(partner, claims);
      const personOf = (text: string) =>
        verifier.verify(text, 'exchange').catch((error: OAuthRefusal) => error.person);
      expect(await personOf(token)).toEqual(person);
      expect(await personOf(withOtherSignature(token))).toBeUndefined();
    },
  );
});

describe('audience', () => {
  const bound = verifierOf([partner.staticEntry({ expectedAudience: US })]);
  const withAudience = (aud: unknown) => outcomeOf(bound, tokenOf(partner, { aud }));

  it.each([[US], [[US]], [['https://them.example', US]]])('[5.2.4] %j is accepted', async (aud) => {
    expect(await withAudience(aud)).toBe('accepted');
  });

  it.each<unknown>([`${US}.evil.example`, US.slice(0, -1), US.toUpperCase(), ` ${US}`, [`${US}/`]])(
    '[5.2.4][K3] %j is rejected',
    async (aud) => expect(await withAudience(aud)).toBe('audience_mismatch'),
  );

  it('[5.2.4] is not checked if none is expected', async () => {
    expect(await judged({ aud: 'https://them.example' })).toBe('accepted');
    const results = await verifier.explain(tokenOf(partner, { aud: 'https://them.example' }), 'exchange');
    expect(results.find(({ about }) => about === 'aud')).toMatchObject({
      ...{ expected: 'any', found: 'https://them.example' },
    });
  });
});

describe('times', () => {
  it.each([
    [{ exp: NOW + 0.001 }, 'accepted'],
    [{ exp: NOW }, 'token_expired'],
    [{ exp: NOW - 0.001 }, 'token_expired'],
  ])('[5.2.6] at exp a token is expired, without tolerance: %j: %s', async (claims, outcome) => {
    expect(await judged(claims)).toBe(outcome);
  });

  it.each([
    [{ nbf: NOW + TOLERANCE }, 'accepted'],
    [{ nbf: NOW + TOLERANCE + 0.001 }, 'token_not_yet_valid'],
  ])('[2.2.11] nbf has the tolerance: %j: %s', async (claims, outcome) =>
    expect(await judged(claims)).toBe(outcome),
  );

  it.each([
    [{ iat: NOW + TOLERANCE }, 'accepted'],
    [{ iat: NOW + TOLERANCE + 0.001 }, 'token_issued_in_future'],
    [{ iat: 0, exp: NOW + 1 }, 'accepted'],
  ])('[D10][K25] a future iat has the tolerance: %j: %s', async (claims, outcome) => {
    expect(await judged(claims)).toBe(outcome);
    if (outcome !== 'accepted') expect(await judged(claims, {}, 'embed')).toBe(outcome);
  });

  it.each([0, 1, 60])('[D10] a tolerance of %d seconds is applied exactly', async (tolerance) => {
    const own = verifierOf([partner.staticEntry()], tolerance);
    const outcomes = [tolerance, tolerance + 0.5].flatMap((ahead) => [
      outcomeOf(own, tokenOf(partner, { nbf: NOW + ahead, exp: NOW + 100 })),
      outcomeOf(own, tokenOf(partner, { iat: NOW + ahead, exp: NOW + 100 })),
      outcomeOf(own, tokenOf(partner, { exp: NOW - ahead })),
    ]);
    const refused = ['token_not_yet_valid', 'token_issued_in_future', 'token_expired'];
    expect(await Promise.all(outcomes)).toEqual(['accepted', 'accepted', 'token_expired', ...refused]);
  });

  it.each([
    [NOW - 10, NOW + 50, 'accepted'],
    [NOW - 10, NOW + 50.001, 'token_lifetime_exceeded'],
    [NOW - 10.25, NOW + 49.75, 'accepted'],
    [NOW - 10.25, NOW + 50, 'token_lifetime_exceeded'],
    [NOW, NOW + 61, 'token_lifetime_exceeded'],
    [NOW + TOLERANCE, NOW + TOLERANCE + 60, 'accepted'],
    [0, NOW + 1, 'token_lifetime_exceeded'],
  ])('[5.2.7] from %d to %d at embedded login: %s', async (iat, exp, outcome) => {
    expect(await judged({ iat, exp }, {}, 'embed')).toBe(outcome);
  });

  it('[4.2.1] token exchange accepts a longer lifetime', async () => {
    expect(await judged({ exp: NOW + 86_400 }, {}, 'exchange')).toBe('accepted');
  });
});

/** A token that fails one check, and its details in log and answer. */
interface Fault {
  readonly of: string;
  readonly reason: TokenRefusalReason;
  readonly text?: string;
  readonly header?: Members;
  readonly claims?: Members;
  readonly isForged?: true;
  readonly entry?: Members;
  readonly suspended?: true;
  /** Whether a key set of the issuer was not fetched yet. */
  readonly isUnfetched?: true;
  /** Whether later checks are impossible. */
  readonly isLast?: true;
  /** Expected and found, as an explanation shows them. */
  readonly shown: readonly [expected: string, found: string];
  /** The details in log and trail, if they differ. */
  readonly logged?: object;
}

const KEY = { issuer: A, kid: 'k1' };
const before = (seconds: number) => new Date((NOW - seconds) * 1000).toISOString();

/** One for each check, in the order of D3. */
const FAULTS: readonly Fault[] = [
  {
    ...{ of: 'token its form', reason: 'token_malformed', text: 'no-token', isLast: true },
    ...{ shown: ['a JWT in compact form', 'not three parts'], logged: { detail: 'not three parts' } },
  },
  {
    ...{ of: 'header kid', reason: 'kid_missing', header: { kid: undefined }, isLast: true },
    shown: ['a text as kid', 'nothing'],
    logged: { issuer: A, expected: 'a text as kid', found: 'nothing' },
  },
  {
    ...{ of: 'header alg', reason: 'algorithm_not_allowed', header: { alg: 'none' }, isLast: true },
    shown: ['ES256', 'none'],
  },
  {
    ...{ of: 'header crit', reason: 'header_not_allowed', header: { crit: ['x'] } },
    ...{ shown: ['nothing', 'crit'], logged: { ...KEY, detail: 'crit' } },
  },
  {
    ...{ of: 'header b64', reason: 'header_not_allowed', header: { b64: false } },
    ...{ shown: ['nothing', 'b64'], logged: { ...KEY, detail: 'b64' } },
  },
  {
    ...{ of: 'header typ', reason: 'token_type_not_allowed', header: { typ: 'logout+jwt' } },
    shown: ['a media type that does not end in +jwt, without parameters, or no typ', 'logout+jwt'],
  },
  {
    ...{ of: 'key iss', reason: 'claims_invalid', claims: { iss: undefined }, isLast: true },
    shown: ['a text as iss', 'iss must be a non-empty string: found nothing'],
    logged: { detail: 'iss must be a non-empty string: found nothing' },
  },
  {
    ...{ of: 'key iss', reason: 'issuer_unknown', claims: { iss: B }, isLast: true },
    ...{ shown: [A, B], logged: {} },
  },
  {
    ...{ of: 'key its key set', reason: 'key_set_unavailable', header: { kid: 'k2' }, isUnfetched: true },
    ...{ isLast: true, shown: ['usable', 'not fetched yet'] },
    logged: { issuer: A, kid: 'k2', expected: 'usable', found: 'not fetched yet' },
  },
  {
    ...{ of: 'key kid', reason: 'kid_unknown', header: { kid: 'k2' }, isLast: true },
    ...{ shown: ['k1', 'k2'], logged: { issuer: A, kid: 'k2', expected: 'k1', found: 'k2' } },
  },
  {
    ...{ of: 'key alg', reason: 'algorithm_not_allowed', header: { alg: 'ES384' }, isLast: true },
    shown: ['ES256', 'ES384'],
  },
  {
    ...{ of: 'signature its signature', reason: 'signature_invalid', isForged: true, isLast: true },
    shown: [
      expect.stringMatching(/by the key with the thumbprint [\w-]{43}$/),
      'by another key, or of another text',
    ],
    logged: { ...KEY, expected: expect.stringContaining('thumbprint') },
  },
  {
    ...{ of: 'trust suspended', reason: 'entry_suspended', suspended: true },
    ...{ shown: ['an entry that is not suspended', 'a suspended one'], logged: KEY },
  },
  {
    ...{ of: 'trust notAfter', reason: 'trust_ended', entry: { notAfter: before(0) } },
    shown: [`before ${before(0)}`, 'ended 0 s ago'],
  },
  {
    ...{ of: 'trust flows', reason: 'flow_not_allowed', entry: { flows: ['exchange'] } },
    shown: ['exchange', 'embed'],
  },
  {
    ...{ of: 'trust typ', reason: 'token_type_not_allowed', header: { typ: 'at+jwt' } },
    shown: ['another typ than at+jwt, which typ of the entry allows', 'at+jwt'],
  },
  {
    ...{ of: 'claims its claims', reason: 'claims_invalid', claims: { jti: undefined }, isLast: true },
    shown: [
      'iss, sub, aud, iat, exp and jti, each of its type',
      'jti must be a non-empty string: found nothing',
    ],
    logged: { ...KEY, detail: 'jti must be a non-empty string: found nothing' },
  },
  {
    ...{
      of: 'claims roleMap',
      reason: 'role_not_recognized',
      claims: { role: ['Guests'] },
      entry: { roleMap: { Staff: 'global:member' } },
    },
    shown: ['one of Staff', 'Guests'],
  },
  {
    ...{
      of: 'claims events',
      reason: 'token_type_not_allowed',
      claims: { events: { [LOGOUT_EVENT]: {} } },
    },
    shown: ['no event of a logout', 'a logout token'],
  },
  {
    ...{ of: 'claims cnf', reason: 'confirmation_not_supported', claims: { cnf: { jkt: 'thumb' } } },
    shown: ['no cnf, or one with jkt alone', 'cnf with jkt'],
  },
  {
    ...{ of: 'claims subjects', reason: 'subject_not_allowed', entry: { subjects: ['staff:*'] } },
    shown: ['staff:*', 'the sub of a person'],
  },
  {
    ...{ of: 'claims claims', reason: 'claim_not_allowed', claims: { tenant_id: 8 } },
    ...{ entry: { claims: { tenant_id: 7 } }, shown: ['tenant_id 7', 'a number'] },
  },
  {
    ...{ of: 'audience aud', reason: 'audience_mismatch', claims: { aud: ['https://them.example', A] } },
    shown: [US, `https://them.example, ${A}`],
  },
  {
    ...{ of: 'times exp', reason: 'token_expired', claims: { iat: NOW - 301, exp: NOW - 246 } },
    shown: [
      'exp in the future',
      'expired 246 s ago; issued 301 s ago for 55 s: sent late, or by a slow clock',
    ],
  },
  {
    ...{ of: 'times nbf', reason: 'token_not_yet_valid', claims: { nbf: NOW + 60 } },
    shown: ['nbf at most 5 s ahead', 'not valid for 60 s yet'],
  },
  {
    ...{ of: 'times iat', reason: 'token_issued_in_future', claims: { iat: NOW + 60, exp: NOW + 100 } },
    shown: ['iat at most 5 s ahead', 'issued 60 s ahead'],
  },
  {
    ...{
      of: 'lifetime exp - iat',
      reason: 'token_lifetime_exceeded',
      claims: { iat: NOW - 100, exp: NOW + 50 },
    },
    shown: ['60 s at most', '150 s'],
  },
  {
    ...{ of: 'parties requireActor', reason: 'actor_required', entry: { requireActor: true } },
    shown: ['an actor', 'a subject alone'],
  },
];

describe('the list of checks', () => {
  /** A token with several faults, and its verifier. If faults conflict, the first one wins. */
  function madeOf(faults: readonly Fault[]): { token: string; verifier: ExternalTokenVerifier } {
    const [first, ...others] = faults;
    const all = [...others, ...(first === undefined ? [] : [first])];
    const merged = (name: 'header' | 'claims' | 'entry') =>
      Object.assign({}, ...all.map((fault) => fault[name])) as Members;
    const token = tokenOf(partner, { aud: US, ...merged('claims') }, merged('header'));
    const entry = partner.staticEntry({ expectedAudience: US, ...merged('entry') });
    const policy = all.some(({ suspended }) => suspended) ? { suspended: true } : {};
    return {
      token: first?.text ?? (all.some(({ isForged }) => isForged) ? withOtherSignature(token) : token),
      verifier: verifierOf(
        [entry],
        TOLERANCE,
        NOW,
        policy,
        all.some(({ isUnfetched }) => isUnfetched),
      ),
    };
  }

  /** The verifier's error and the explanation of the same token. */
  async function judgedAs(faults: readonly Fault[]) {
    const { token, verifier } = madeOf(faults);
    const refusal = await verifier.verify(token, 'embed').catch((error: OAuthRefusal) => error);
    const results = await verifier.explain(token, 'embed');
    const failed = results.findIndex(({ state }) => state === 'failed');
    return { refusal, results, failed };
  }

  it('[D3] has an error for each of its checks', () => {
    expect(FAULTS.map(({ reason }) => reason)).toEqual(FLOW_CHECKS.embed.map(({ reason }) => reason));
  });

  it('[D80] a valid token passes all checks, as the explanation shows', async () => {
    const { refusal, results } = await judgedAs([]);
    expect(refusal).toMatchObject({ claims: { iss: A } });
    expect(results.map(({ check, about }) => `${check} ${about}`)).toEqual(FAULTS.map((fault) => fault.of));
    expect(results.filter(({ state }) => state !== 'passed')).toEqual([]);
    expect(
      results.filter(({ about }) => ['exp', 'notAfter', 'its signature', 'iat'].includes(about)),
    ).toMatchObject([
      { expected: 'by the key k1', found: 'by that key' },
      { expected: 'any time', found: 'never ends' },
      { found: 'expires in 50 s' },
      { found: 'issued 5 s ago' },
    ]);
  });

  it.each(FAULTS.map((fault, place) => ({ ...fault, place })))(
    '[D3][D77][D80] $of: $reason, with its details in log and explanation',
    async ({ place, ...fault }) => {
      const { refusal, results, failed } = await judgedAs([fault]);
      const [expected, found] = fault.shown;
      const logged = fault.logged ?? { ...KEY, expected, found };
      expect(refusal).toBeInstanceOf(OAuthRefusal);
      expect(refusal).toMatchObject({ reason: fault.reason, context: {} });
      expect((refusal as OAuthRefusal).context).toEqual(logged);
      expect(failed).toBe(place);
      expect(results[place]).toMatchObject({ expected, found });
      const after = results.slice(place + 1).map(({ state }) => state);
      expect(new Set(after)).toEqual(
        new Set(after.length === 0 ? [] : [fault.isLast === true ? 'not-reached' : 'passed']),
      );
    },
  );

  it.each(FAULTS.map((fault, place) => ({ ...fault, place })))(
    '[D3] $of: $reason before all later checks',
    async ({ place, ...first }) => {
      for (const later of FAULTS.slice(place + 1)) {
        const { refusal, failed } = await judgedAs([first, later]);
        expect([later.of, (refusal as OAuthRefusal).reason, failed]).toEqual([later.of, first.reason, place]);
      }
    },
  );

  it('[D80] an explanation shows all errors of a token whose checks are possible', async () => {
    const other = ['token_type_not_allowed', 'token_issued_in_future', 'token_lifetime_exceeded'];
    const faults = FAULTS.filter(({ isLast, reason }) => isLast !== true && !other.includes(reason));
    const { results } = await judgedAs(faults);
    const failed = results.filter(({ state }) => state === 'failed');
    expect(failed.map(({ check, about }) => `${check} ${about}`)).toEqual(faults.map(({ of }) => of));
  });
});

it.each<[string, string, Members]>([
  ['nbf', 'valid already', { nbf: NOW }],
  ['iat', 'issued 0 s ago', { iat: NOW }],
  ['exp', 'expired 0 s ago; issued 5 s ago for 5 s: sent late, or by a slow clock', { exp: NOW }],
  ['exp', 'expired 5 s ago; issued 5 s ago for 0 s: sent late, or by a slow clock', { exp: NOW - 5 }],
  ['exp', 'expired 6 s ago', { exp: NOW - 6 }],
  ['exp - iat', '55.123 s', { exp: NOW + 50.12345 }],
])('[D80] an explanation for %s shows %j', async (name, found, claims) => {
  const results = await verifier.explain(tokenOf(partner, claims), 'embed');
  expect(results.find(({ about }) => about === name)).toMatchObject({ found });
});
