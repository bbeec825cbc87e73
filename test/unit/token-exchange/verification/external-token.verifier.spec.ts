// How an external token is judged, from its header to its lifetime, and which of several faults is told.
import { createHook } from 'node:async_hooks';
import { createHmac, createPublicKey, sign } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { Members, PartnerOptions } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../../../demo/signing-key.js';
import { createLogger } from '../../../../src/logging/logger.js';
import { SoleLeader } from '../../../../src/token-exchange/coordination/leader.js';
import { SoleProcessNotifications } from '../../../../src/token-exchange/coordination/notifications.js';
import { Database } from '../../../../src/token-exchange/database/database.js';
import type { Flow } from '../../../../src/token-exchange/flow.js';
import { ExchangeTelemetry } from '../../../../src/token-exchange/host/telemetry.js';
import { JwksKeyProvider } from '../../../../src/token-exchange/keys/jwks/jwks-key.provider.js';
import { JwksSnapshotRepository } from '../../../../src/token-exchange/keys/jwks/jwks-snapshot.repository.js';
import { StaticKeyProvider } from '../../../../src/token-exchange/keys/static-key.provider.js';
import { readTrustedKeys } from '../../../../src/token-exchange/keys/trusted-key-entry.js';
import { TrustedKeyService } from '../../../../src/token-exchange/keys/trusted-key.service.js';
import { Rejection } from '../../../../src/token-exchange/rejection.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verification/external-token.verifier.js';
import {
  ExternalTokenVerifier,
  issuerAndKid,
} from '../../../../src/token-exchange/verification/external-token.verifier.js';
import { TestClock } from '../../../support/test-clock.js';

const NOW = 1_800_000_000;
const TOLERANCE = 5;
const A = 'https://a.example';
const B = 'https://b.example';

/** The host's metrics, of which nobody looks. */
class NoTelemetry extends ExchangeTelemetry {
  observeStage = () => undefined;
  countThrottled = () => undefined;
  countUnrecordedFailure = () => undefined;
  watchKeys = () => undefined;
}

/** A provider without any key set: it answers from memory and never reaches its database. */
function noFetchedKeys(clock: TestClock): JwksKeyProvider {
  const limits = { refreshIntervalSeconds: 300, maxStaleSeconds: 0, allowHttp: false, allowPrivate: [] };
  const database = new Database(new DataSource({ type: 'postgres' }));
  return new JwksKeyProvider(
    { ...limits, entries: [] },
    new JwksSnapshotRepository(database),
    new SoleProcessNotifications(),
    new SoleLeader(),
    clock,
    createLogger('silent'),
    new NoTelemetry(),
  );
}

function verifierOf(
  entries: readonly object[],
  toleranceSeconds = TOLERANCE,
  now = NOW,
): ExternalTokenVerifier {
  const clock = new TestClock(now * 1000);
  const rules = { assignableRoles: ['global:member'], allowHttp: false };
  const { entries: trustedKeys, problems } = readTrustedKeys(JSON.stringify(entries), rules);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const keys = new TrustedKeyService(
    new StaticKeyProvider({ trustedKeys }),
    noFetchedKeys(clock),
    new NoTelemetry(),
  );
  return new ExternalTokenVerifier(keys, clock, { clockToleranceSeconds: toleranceSeconds });
}

/** `accepted`, or the reason of the refusal; anything but a refusal is a fault of the service. */
async function outcomeOf(
  verifier: ExternalTokenVerifier,
  token: string,
  flow: Flow = 'exchange',
): Promise<string> {
  try {
    await verifier.verify(token, flow);
    return 'accepted';
  } catch (error) {
    if (error instanceof Rejection) return error.reason;
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
const judged = (claims: Members = {}, header: Members = {}, flow?: Flow) =>
  outcomeOf(verifier, tokenOf(partner, claims, header), flow);
const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** A token whose first 20 characters of signature are others. */
const withOtherSignature = (token: string) => token.replace(/\.[^.]{20}([^.]*)$/, `.${'A'.repeat(20)}$1`);

describe('a good token', () => {
  it.each<Flow>(['exchange', 'embed'])(
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

  it('[D56] a header may say Ed25519, where the entry serves EdDSA and nowhere else', async () => {
    for (const signer of partners) {
      const expected = signer.algorithm === 'EdDSA' ? 'accepted' : 'algorithm_not_allowed';
      expect(await outcomeOf(all, tokenOf(signer, {}, { alg: 'Ed25519' }))).toBe(expected);
    }
  });

  it('[5.2.2] an entry serves its own algorithms only, also where the key could serve more', async () => {
    const rs = partnerOf({ algorithm: 'RS384' });
    const entry = rs.staticEntry({ algorithms: ['RS256', 'RS512'] });
    expect(await outcomeOf(verifierOf([entry]), tokenOf(rs))).toBe('algorithm_not_allowed');
    expect(await outcomeOf(verifierOf([{ ...entry, algorithms: ['RS256', 'RS384'] }]), tokenOf(rs))).toBe(
      'accepted',
    );
  });

  it.each([
    'none',
    'None',
    'NONE',
    'nOnE',
    'none ',
    ' none',
    'no\u0000ne',
    '',
    undefined,
    null,
    0,
    true,
    [],
    ['ES256'],
    {},
  ])('[5.2.2] alg %j is refused, signed or not', async (alg) => {
    const signed = tokenOf(partner, {}, { alg });
    expect(await outcomeOf(verifier, signed)).toBe('algorithm_not_allowed');
    expect(await outcomeOf(verifier, signed.replace(/[^.]*$/, ''))).toBe('algorithm_not_allowed');
  });

  it.each([
    'es256',
    'Es256',
    'ES256 ',
    ' ES256',
    'ES256\n',
    'ES256\u0000',
    'ES-256',
    'ES256K',
    'ED25519',
    'Ed448',
    'toString',
  ])('[5.2.2] alg %j is no spelling of a known one', async (alg) =>
    expect(await judged({}, { alg })).toBe('algorithm_not_allowed'),
  );

  it.each(partners.map((signer): [string, Partner] => [signer.algorithm, signer]))(
    '[5.2.2][K9] HMAC over the public key of %s, in whatever form, is refused',
    async (_, signer) => {
      const pem = signer.publicKeyPem();
      const key = createPublicKey(pem);
      const der = key.export({ type: 'spki', format: 'der' });
      const jwk = JSON.stringify(key.export({ format: 'jwk' }));
      const texts = [
        pem,
        pem.trim(),
        ` \n${pem}`,
        `${pem}\n`,
        pem.replaceAll('\n', '\r\n'),
        pem.replaceAll('\n', '\\n'),
      ];
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
    '[5.2.1][K12] of %s: zeros, ones, cut, lengthened, of other claims, none',
    async (algorithm, size) => {
      const signer = partnerOf({ algorithm });
      const own = verifierOf([signer.staticEntry()]);
      const [header = '', payload = '', signature = ''] = tokenOf(signer).split('.');
      const bytes = Buffer.from(signature, 'base64url');
      expect(bytes).toHaveLength(size);
      const other = Buffer.from(tokenOf(signer, { sub: 'other' }).split('.')[2] ?? '', 'base64url');
      const wrong = [
        Buffer.alloc(size),
        Buffer.alloc(size, 0xff),
        bytes.subarray(1),
        bytes.subarray(0, -1),
        other,
      ];
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

  it('[5.2.1] of ECDSA in DER are refused', async () => {
    const input = tokenOf(partner).replace(/\.[^.]*$/, '');
    const der = sign('sha256', Buffer.from(input), partner.privateKeyPem()).toString('base64url');
    expect(await outcomeOf(verifier, `${input}.${der}`)).toBe('signature_invalid');
  });

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
    '[2.2.kid] a kid of %j is a missing one',
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

  it('[5.3.2] without its entry a key verifies nothing', async () => {
    const others = verifierOf([partnerOf({ kid: 'k2' }).staticEntry()]);
    expect(await outcomeOf(others, tokenOf(partner))).toBe('kid_unknown');
  });

  it('[D37][K10] keys in the header are not looked at', async () => {
    const stranger = partnerOf();
    const [jwk] = stranger.jwks().keys;
    const url = 'http://127.0.0.1:9/';
    for (const header of [
      { jwk },
      { jku: url },
      { x5u: url },
      { x5c: ['MIIB'] },
      { x5t: 'x' },
      { jwk: 7, x5c: null },
    ]) {
      expect(await outcomeOf(verifier, tokenOf(stranger, {}, header))).toBe('signature_invalid');
      expect(await outcomeOf(verifier, tokenOf(partner, {}, header))).toBe('accepted');
    }
  });

  it.each([
    { crit: ['x'], x: 1 },
    { crit: [] },
    { crit: null },
    { crit: 'exp' },
    { crit: ['exp'], exp: NOW + 50 },
    { crit: ['alg'] },
    { crit: ['b64'], b64: true },
    { crit: ['b64'], b64: false },
    { b64: false },
  ])('[D37][K13] the header member %j is refused', async (header) => {
    expect(await judged({}, header)).toBe('header_not_allowed');
  });
});

describe('other classes of token', () => {
  it.each([
    'at+jwt',
    'AT+JWT',
    'application/at+jwt',
    'dpop+jwt',
    'logout+jwt',
    'secevent+jwt',
    'token-introspection+jwt',
  ])('[D31][K7] typ %s is refused', async (typ) =>
    expect(await judged({}, { typ })).toBe('token_type_not_allowed'),
  );

  it.each(['JWT', 'jwt', 'application/jwt', undefined])('[2.2.kid] typ %j is accepted', async (typ) => {
    expect(await judged({}, { typ })).toBe('accepted');
  });
});

describe('what can be told before the signature', () => {
  it.each(['null', '[]', '"text"', '7', 'true', `[{"iss":"${A}"}]`])(
    '[D15] a payload of %s is no JWT',
    async (payload) => {
      // RFC 7519 §7.2: the claims set is a JSON object.
      const token = partner.signRaw('{"alg":"ES256","kid":"k1"}', payload);
      expect(await outcomeOf(verifier, token)).toBe('token_malformed');
    },
  );

  it.each([undefined, '', null, 7, [A]])(
    '[D15] an iss of %j is answered as invalid claims, signed or not',
    async (iss) => {
      const token = tokenOf(partner, { iss });
      expect(await outcomeOf(verifier, token)).toBe('claims_invalid');
      expect(await outcomeOf(verifier, withOtherSignature(token))).toBe('claims_invalid');
    },
  );

  it.each([
    ...[{ sub: undefined }, { sub: 7 }, { aud: undefined }, { iat: '1' }, { exp: 1e300 }, { jti: '' }],
    ...[{ email: 'none' }, { role: 7 }, { nbf: -1 }, { sub: 'a\0b' }, { sub: 'a'.repeat(300) }],
  ])('[D15] no other claim is answered for without a right signature: %.60j', async (claims) => {
    const token = tokenOf(partner, claims);
    expect(await outcomeOf(verifier, token)).toMatch(/^claims_(invalid|not_storable)$/);
    expect(await outcomeOf(verifier, withOtherSignature(token))).toBe('signature_invalid');
    expect(await outcomeOf(verifier, tokenOf(partner, claims, { kid: 'k2' }))).toBe('kid_unknown');
    expect(await outcomeOf(verifier, tokenOf(partner, claims, { kid: undefined }))).toBe('kid_missing');
  });

  it('[D21] a refusal names issuer and kid once they are those of a trusted key, never before', async () => {
    const contextOf = (token: string) =>
      verifier.verify(token, 'exchange').catch((error: Rejection) => error.context);
    expect(await contextOf(withOtherSignature(tokenOf(partner)))).toMatchObject({ issuer: A, kid: 'k1' });
    expect(await contextOf(tokenOf(partner, { exp: NOW }))).toMatchObject({ issuer: A, kid: 'k1' });
    expect(await contextOf(tokenOf(partner, { iss: 'https://marker.example' }, { kid: 'marker' }))).toEqual(
      {},
    );
  });
});

describe('audience', () => {
  const US = 'https://us.example';
  const bound = verifierOf([partner.staticEntry({ expectedAudience: US })]);
  const withAudience = (aud: unknown) => outcomeOf(bound, tokenOf(partner, { aud }));

  it.each([[US], [[US]], [['https://them.example', US]]])('[5.2.4] %j is for us', async (aud) => {
    expect(await withAudience(aud)).toBe('accepted');
  });

  it.each<unknown>([
    'https://them.example',
    `${US}/`,
    `${US}.evil.example`,
    US.slice(0, -1),
    US.toUpperCase(),
    ` ${US}`,
    `${US},x`,
    JSON.stringify([US]),
    [`${US}/`],
    ['https://them.example', 'https:'],
  ])('[5.2.4][K3] %j is not', async (aud) => expect(await withAudience(aud)).toBe('audience_mismatch'));

  it.each([undefined, null, 7, { [US]: 1 }, [[US]], [US, 7]])(
    '[5.2.3][K3] %j is no audience',
    async (aud) => {
      expect(await withAudience(aud)).toBe('claims_invalid');
      expect(await judged({ aud })).toBe('claims_invalid');
    },
  );

  it('[5.2.4] is not compared where none is expected', async () => {
    expect(await judged({ aud: 'https://them.example' })).toBe('accepted');
  });
});

describe('times', () => {
  it.each([
    [{ exp: NOW + 0.001 }, 'accepted'],
    [{ exp: NOW }, 'token_expired'],
    [{ exp: NOW - 0.001 }, 'token_expired'],
    [{ exp: NOW - TOLERANCE }, 'token_expired'],
    [{ exp: 0, iat: 0 }, 'token_expired'],
  ])('[5.2.6] at exp a token is expired, without tolerance: %j: %s', async (claims, outcome) => {
    expect(await judged(claims)).toBe(outcome);
  });

  it.each([
    [{ nbf: NOW + TOLERANCE }, 'accepted'],
    [{ nbf: NOW + TOLERANCE + 0.001 }, 'token_not_yet_valid'],
    [{ nbf: NOW + 3_600 }, 'token_not_yet_valid'],
    [{ nbf: 0 }, 'accepted'],
  ])('[2.2.11] nbf has the tolerance: %j: %s', async (claims, outcome) =>
    expect(await judged(claims)).toBe(outcome),
  );

  it.each([
    [{ iat: NOW + TOLERANCE }, 'accepted'],
    [{ iat: NOW + TOLERANCE + 0.001 }, 'token_issued_in_future'],
    [{ iat: NOW + 3_600, exp: NOW + 3_660 }, 'token_issued_in_future'],
    [{ iat: 0, exp: NOW + 1 }, 'accepted'],
  ])('[D11][K25] a future iat has the tolerance: %j: %s', async (claims, outcome) => {
    expect(await judged(claims)).toBe(outcome);
    if (outcome !== 'accepted') expect(await judged(claims, {}, 'embed')).toBe(outcome);
  });

  it.each([0, 1, 60])('[D10] a tolerance of %d seconds is used exactly', async (tolerance) => {
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
    ['1e300', 'claims_invalid'],
    ['1e999', 'claims_invalid'],
    ['9007199254740992', 'claims_invalid'],
    ['-1', 'claims_invalid'],
    ['"1800000050"', 'claims_invalid'],
    ['1800000050.25', 'accepted'],
    ['18000000505e-1', 'accepted'],
    ['253402300799', 'accepted'],
    ['253402300800', 'claims_invalid'],
    ['NaN', 'token_malformed'],
    ['0x6b49d232', 'token_malformed'],
  ])('[D12][K24] exp written as %s: %s', async (text, outcome) => {
    const claims = JSON.stringify(claimsOf(partner, { exp: 'EXP' })).replace('"EXP"', text);
    expect(await outcomeOf(verifier, partner.signRaw('{"alg":"ES256","kid":"k1"}', claims))).toBe(outcome);
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

  it('[4.2.1] token exchange takes a longer life', async () => {
    expect(await judged({ exp: NOW + 86_400 }, {}, 'exchange')).toBe('accepted');
  });
});

describe('strings that storage cannot hold', () => {
  it.each([
    { sub: 'a\0' },
    { jti: '\ud800' },
    { role: '\0' },
    { email: 'a\0@a.example' },
    { email: '\ud800@a.example' },
    { x: '\0' },
  ])('[D42] %j is refused in both flows, and not as invalid claims', async (claims) => {
    expect(await judged(claims)).toBe('claims_not_storable');
    expect(await judged(claims, {}, 'embed')).toBe('claims_not_storable');
  });

  it('[D42] an escaped lone surrogate is one too', async () => {
    const claims = JSON.stringify(claimsOf(partner, { sub: 'SUB' })).replace('SUB', '\\ud800');
    expect(await outcomeOf(verifier, partner.signRaw('{"alg":"ES256","kid":"k1"}', claims))).toBe(
      'claims_not_storable',
    );
  });

  it('[D42] a jti of 10,000 characters is taken, claims of 1 MB are not', async () => {
    expect(await judged({ jti: 'j'.repeat(10_000) })).toBe('accepted');
    expect(await judged({ x: 'x'.repeat(1_000_000) })).toBe('token_malformed');
  });
});

describe('of several faults the first is told', () => {
  interface Fault {
    reason: string;
    header?: Members;
    claims?: Members;
    forged?: true;
  }

  /** In the order of judgement; faults within one list are of the same step. */
  const STEPS: Fault[][] = [
    [
      { reason: 'kid_missing', header: { kid: undefined } },
      { reason: 'algorithm_not_allowed', header: { alg: 'none' } },
      { reason: 'header_not_allowed', header: { crit: ['x'] } },
      { reason: 'token_type_not_allowed', header: { typ: 'at+jwt' } },
    ],
    [{ reason: 'kid_unknown', header: { kid: 'k2' } }],
    [{ reason: 'signature_invalid', forged: true }],
    [
      { reason: 'claims_invalid', claims: { jti: undefined } },
      { reason: 'claims_not_storable', claims: { given_name: '\0' } },
    ],
    [{ reason: 'audience_mismatch', claims: { aud: 'https://them.example' } }],
    [
      { reason: 'token_expired', claims: { exp: NOW } },
      { reason: 'token_not_yet_valid', claims: { nbf: NOW + 60 } },
      { reason: 'token_issued_in_future', claims: { iat: NOW + 60, exp: NOW + 200 } },
    ],
    [{ reason: 'token_lifetime_exceeded', claims: { iat: NOW - 100, exp: NOW + 50 } }],
  ];

  const bound = verifierOf([partner.staticEntry({ expectedAudience: 'https://us.example' })]);
  const pairs = STEPS.flatMap((step, at) =>
    step.flatMap((first) =>
      STEPS.slice(at + 1).flatMap((later) =>
        later.map((second): [string, string, Fault[]] => [first.reason, second.reason, [second, first]]),
      ),
    ),
  );

  /** The first fault comes last, so that its members stand. */
  function tokenWith(faults: readonly Fault[]): string {
    const claims = Object.assign(
      { aud: 'https://us.example' },
      ...faults.map((fault) => fault.claims),
    ) as Members;
    const header = Object.assign({}, ...faults.map((fault) => fault.header)) as Members;
    const token = tokenOf(partner, claims, header);
    return faults.some(({ forged }) => forged) ? withOtherSignature(token) : token;
  }

  it.each(STEPS.flat())('[D3] $reason alone', async (fault) => {
    expect(await outcomeOf(bound, tokenWith([fault]), 'embed')).toBe(fault.reason);
  });

  it.each(pairs)('[D3] %s before %s', async (reason, _, faults) => {
    expect(await outcomeOf(bound, tokenWith(faults), 'embed')).toBe(reason);
  });

  it('[D3] with every fault from a step on, the first of that step is told', async () => {
    for (const [at, [first]] of STEPS.entries()) {
      const faults = STEPS.slice(at).flatMap(([fault]) => fault ?? []);
      expect(await outcomeOf(bound, tokenWith(faults.reverse()), 'embed')).toBe(first?.reason);
    }
  });
});

describe('[D101] what the time of a refusal tells', () => {
  const signers = SIGNING_ALGORITHMS.map((algorithm) => partnerOf({ algorithm }));

  /** How many signatures node:crypto verified meanwhile. */
  async function verificationsOf(work: () => Promise<unknown>): Promise<number> {
    let count = 0;
    // The job by which node:crypto signs and verifies on the thread pool.
    const hook = createHook({ init: (_id, type) => void (type === 'SIGNREQUEST' && count++) });
    hook.enable();
    await work().finally(() => hook.disable());
    return count;
  }

  it.each(signers.map((signer) => [signer.algorithm, signer] as const))(
    '[D101] %s: a wrong signature, an unknown kid and an unknown issuer take one verification each',
    async (_, signer) => {
      const other = partnerOf({ algorithm: signer.algorithm });
      const verifier = verifierOf([signer.staticEntry()]);
      const refused = async (token: string) => {
        const reasons: string[] = [];
        const count = await verificationsOf(async () => reasons.push(await outcomeOf(verifier, token)));
        return [...reasons, count];
      };
      expect(await refused(tokenOf(other))).toEqual(['signature_invalid', 1]);
      expect(await refused(tokenOf(signer, {}, { kid: 'k2' }))).toEqual(['kid_unknown', 1]);
      expect(await refused(tokenOf(signer, { iss: B }))).toEqual(['issuer_unknown', 1]);
    },
  );

  it('[D101] so does an algorithm that is not the key’s, and a signature of no possible length none', async () => {
    const [rsa, curve] = [partnerOf({ algorithm: 'RS256' }), partnerOf({ algorithm: 'ES256' })];
    const verifier = verifierOf([curve.staticEntry()]);
    const count = (token: string) => verificationsOf(() => outcomeOf(verifier, token));
    expect(await count(tokenOf(rsa))).toBe(1);
    const [header, payload] = tokenOf(rsa).split('.');
    expect(await count(`${header}.${payload}.AAAA`)).toBe(0);
  });
});
