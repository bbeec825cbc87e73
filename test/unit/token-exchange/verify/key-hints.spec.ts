// What is told of a key that a token names before anything of the token is believed.
import type { TrustedKey } from '../../../../src/token-exchange/trust/trusted-key.js';
import type { CompactJws } from '../../../../src/token-exchange/verify/compact-jws.js';
import {
  claimedKey,
  heldKids,
  likeness,
  usableAlgorithms,
} from '../../../../src/token-exchange/verify/key-hints.js';

const ISSUER = 'https://main.example/Tenant';

/** Two keys of one issuer, and an issuer whose keys could not be fetched yet. */
const KEYS = {
  issuers: () => new Set([ISSUER, 'https://empty.example']),
  keysOf: (issuer: string) =>
    issuer === ISSUER
      ? [
          { kid: 'k1', algorithms: new Set(['RS256', 'PS256']) } as unknown as TrustedKey,
          { kid: 'k2', algorithms: new Set(['ES256']) } as unknown as TrustedKey,
        ]
      : [],
};

const jws = (header: object, payload: object) =>
  ({ header, payload, signingInput: Buffer.of(), signature: Buffer.of() }) as CompactJws;

describe('[D77] an unknown issuer', () => {
  it.each([
    [`${ISSUER}/`, 'a slash at its end'],
    [ISSUER.toUpperCase(), 'its letter case'],
    ['http://main.example/Tenant', 'its scheme'],
    ['main.example/Tenant', 'its scheme'],
    ['http://MAIN.example/tenant/', 'scheme, letter case or a slash at its end'],
  ])('%j is reported by the trusted issuer that it resembles', (issuer, difference) => {
    expect(likeness(issuer, KEYS.issuers())).toEqual({
      expected: ISSUER,
      found: `the same except ${difference}`,
    });
  });

  it.each(['https://stranger.example', `${ISSUER}x`, `${ISSUER}/x`, '', '/'.repeat(60_000), '__proto__'])(
    '%.40j is not reported at all',
    (issuer) => {
      expect(likeness(issuer, KEYS.issuers())).toEqual({});
    },
  );
});

it.each([
  [ISSUER, 'k1, k2'],
  ['https://empty.example', 'a key of the issuer, which has none'],
])('[D77] an unknown kid for %s is reported with the known ones', (issuer, kids) => {
  expect(heldKids(issuer, KEYS)).toBe(kids);
});

describe('[D77] a rejected header', () => {
  it.each<[string, object, object, object]>([
    ['trusted issuer', { kid: 'k9' }, { iss: ISSUER }, { issuer: ISSUER, kid: 'k9' }],
    ['no kid', {}, { iss: ISSUER }, { issuer: ISSUER }],
    [
      'an address as kid',
      { kid: 'a@b.example' },
      { iss: ISSUER },
      { issuer: ISSUER, kid: expect.stringContaining('not shown') },
    ],
    ['unknown issuer', { kid: 'k1' }, { iss: `${ISSUER}/` }, {}],
    ['no issuer', { kid: 'k1' }, {}, {}],
  ])('is reported with issuer and kid of trusted issuers only: %s', (_, header, payload, told) => {
    expect(claimedKey(jws(header, payload), KEYS)).toEqual(told);
  });

  it('is reported with the algorithms of a known key, or else with all', () => {
    const served = (kid: unknown, iss: unknown) => usableAlgorithms(jws({ kid }, { iss }), KEYS);
    expect(served('k1', ISSUER)).toBe('RS256, PS256');
    expect(served('k9', ISSUER)).toMatch(/^RS256, .*EdDSA$/);
    expect(served('k1', 'https://stranger.example')).toMatch(/^RS256, .*EdDSA$/);
    expect(served('k1', undefined)).toMatch(/EdDSA$/);
  });
});
