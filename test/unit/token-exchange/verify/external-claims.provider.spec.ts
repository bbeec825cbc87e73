// Ids and roles of tokens as an entry says that its identity provider writes them.
import type { Members } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import { isTokenRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { ExternalClaims } from '../../../../src/token-exchange/verify/external-claims.js';
import { ExternalTokenVerifier } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { TestClock } from '../../../support/test-clock.js';
import { trustedKeysOf } from '../../../support/trusted-keys.js';

const NOW = 1_800_000_000;
/** The order of the curve P-256 (FIPS 186-5, SP 800-186). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const ROLE_MAP = { Admins: 'global:admin', Staff: 'global:member' };

const partner = Partner.create({ issuer: 'https://id.example', kid: 'k1' });
const signed = (claims: Members = {}, header: Members = {}) =>
  partner.sign(partner.claims({ iat: NOW - 5, ...claims }), header);

/** The claims, or the reason of the refusal. */
async function read(
  entry: Members,
  token: string,
  { strict = false, flow = 'exchange' }: { strict?: boolean; flow?: 'embed' | 'exchange' } = {},
): Promise<ExternalClaims | string> {
  const clock = new TestClock(NOW * 1000);
  const rules = { assignableRoles: ['global:member', 'global:admin'] };
  const keys = trustedKeysOf([partner.staticEntry(entry)], clock, rules);
  const idAssertion = { enabled: false, maxLifetimeSeconds: 300 };
  const verifier = new ExternalTokenVerifier(keys, clock, { clockToleranceSeconds: 5, strict, idAssertion });
  try {
    return (await verifier.verify(token, flow)).claims;
  } catch (error) {
    if (isTokenRefusal(error)) return error.reason;
    throw error;
  }
}

/** The other signature of the same text that is valid: ECDSA accepts (r, s) and (r, n - s). */
function withOtherSignature(token: string): string {
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const bytes = Buffer.from(signature, 'base64url');
  const s = P256_ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const other = Buffer.concat([
    bytes.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex'),
  ]).toString('base64url');
  return `${header}.${payload}.${other}`;
}

describe('the id of a token', () => {
  const idOf = async (uniqueId: string | undefined, token: string) => {
    const claims = await read({ uniqueId }, token);
    return typeof claims === 'string' ? claims : claims.jti;
  };
  const kinds = [undefined, 'jti', 'uti', 'token-hash'];

  it('[P.uniqueId] is its jti, whatever the entry says, so that it stays used if the entry changes', async () => {
    const token = signed({ jti: 'a', uti: 'b' });
    for (const kind of kinds) expect([kind, await idOf(kind, token)]).toEqual([kind, 'a']);
  });

  it('[P.uniqueId] is its uti if there is no jti, and the entry says uti or token-hash', async () => {
    const token = signed({ jti: undefined, uti: 'b' });
    expect(await Promise.all(kinds.map((kind) => idOf(kind, token)))).toEqual([
      ...['claims_invalid', 'claims_invalid'],
      ...['b', 'b'],
    ]);
  });

  it('[P.uniqueId] is its hash if there is neither, and the entry says so', async () => {
    const token = signed({ jti: undefined });
    const ids = await Promise.all(kinds.map((kind) => idOf(kind, token)));
    expect(ids.slice(0, 3)).toEqual(['claims_invalid', 'claims_invalid', 'claims_invalid']);
    expect(ids[3]).toMatch(/^[\w-]{43}$/);
    expect(await idOf('token-hash', signed({ jti: undefined, sub: 'another' }))).not.toBe(ids[3]);
  });

  it('[P.uniqueId] is the same for the other valid signature of an ECDSA token', async () => {
    const token = signed({ jti: undefined });
    const other = withOtherSignature(token);
    expect(other).not.toBe(token);
    expect(await idOf('token-hash', other)).toBe(await idOf('token-hash', token));
  });

  it.each([5, null, '', ['a']])(
    '[P.uniqueId] is invalid with the jti %j, which is not treated as missing',
    async (jti) => {
      expect(await idOf('token-hash', signed({ jti, uti: 'b' }))).toBe('claims_invalid');
      expect(await idOf('uti', signed({ jti: undefined, uti: jti }))).toBe('claims_invalid');
    },
  );

  it('[5.2.7] is a hash, with 60 seconds for an embedded login too', async () => {
    const lives = async (seconds: number) =>
      read({ uniqueId: 'token-hash' }, signed({ jti: undefined, exp: NOW - 5 + seconds }), { flow: 'embed' });
    expect(await lives(60)).toMatchObject({ exp: NOW + 55 });
    expect(await lives(61)).toBe('token_lifetime_exceeded');
  });
});

describe('the role of a token', () => {
  const roleOf = async (entry: Members, claims: Members, strict = false) => {
    const result = await read(entry, signed(claims), { strict });
    return typeof result === 'string' ? result : result.role;
  };

  it.each<[string, Members, Members, string | undefined]>([
    ['a claim of another name', { roleClaim: 'r' }, { r: 'global:admin' }, 'global:admin'],
    ['an array of one', { roleClaim: 'r' }, { r: ['global:admin'] }, 'global:admin'],
    ['no such claim', { roleClaim: 'r' }, { role: 'global:admin' }, undefined],
    ['an empty array', { roleClaim: 'r' }, { r: [] }, undefined],
    ['an array of two without a map', { roleClaim: 'r' }, { r: ['a', 'b'] }, 'claims_invalid'],
    ['a number', { roleClaim: 'r' }, { r: 5 }, 'claims_invalid'],
    ['null', { roleClaim: 'r' }, { r: null }, 'claims_invalid'],
    ['an array with a number', { roleClaim: 'r', roleMap: ROLE_MAP }, { r: ['Staff', 5] }, 'claims_invalid'],
    ['a mapped value', { roleMap: ROLE_MAP }, { role: 'Staff' }, 'global:member'],
    ['several, in any order', { roleMap: ROLE_MAP }, { role: ['x', 'Staff', 'Admins'] }, 'global:admin'],
    ['a value that is no own member of the map', { roleMap: ROLE_MAP }, { role: 'toString' }, undefined],
    ['one of our names that is not mapped', { roleMap: ROLE_MAP }, { role: 'global:admin' }, undefined],
    ['an array under the default name', {}, { role: ['global:admin'] }, 'claims_invalid'],
  ])('[P.roleClaim][P.roleMap] %s', async (_, entry, claims, expected) => {
    expect(await roleOf(entry, claims)).toBe(expected);
  });

  it('[P.roleMap] is an error under the strict policy if it is not mapped, but not if it is missing', async () => {
    const strictly = (role: unknown) => roleOf({ roleMap: ROLE_MAP }, { role }, true);
    expect(await strictly(['x', 'y'])).toBe('role_not_recognized');
    expect(await strictly(['x', 'Staff'])).toBe('global:member');
    expect(await strictly(undefined)).toBeUndefined();
  });
});

it.each<[string | undefined, string | undefined, boolean]>([
  ['at+jwt', 'at+jwt', true],
  ['at+jwt', 'application/AT+JWT', true],
  ['at+jwt', 'JWT', false],
  ['at+jwt', undefined, false],
  [undefined, 'at+jwt', false],
  [undefined, 'JWT', true],
])('[P.typ] an entry with typ %j and a token with %j: accepted is %s', async (typ, ofToken, isAccepted) => {
  for (const flow of ['exchange', 'embed'] as const) {
    const result = await read({ typ }, signed({}, { typ: ofToken }), { flow });
    expect([flow, typeof result === 'string' ? result : true]).toEqual([
      flow,
      isAccepted || 'token_type_not_allowed',
    ]);
  }
});
