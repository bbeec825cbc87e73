// Which claims of a correctly signed token are accepted, and how the others are refused.
import { isTokenRefusal, OAuthRefusal } from '../../../../src/token-exchange/refusals/oauth-refusal.js';
import type { TokenRefusalReason } from '../../../../src/token-exchange/refusals/token-refusals.js';
import type { ClaimSet } from '../../../../src/token-exchange/trust/claim-names.js';
import { readExternalClaims, readIssuer } from '../../../../src/token-exchange/verify/external-claims.js';

const good = { iss: 'https://a.example', sub: 's', aud: 'us', iat: 1_000, exp: 1_050, jti: 'j' };
const LAST_SECOND = 253_402_300_799;
const REQUIRED = ['sub', 'iss', 'aud', 'iat', 'exp', 'jti'] as const;
const TEXTS = ['sub', 'iss', 'jti', 'email', 'given_name', 'family_name', 'role', 'sid'] as const;

/** Passes the claims through JSON, like a token's claims. */
const read = (overrides: object) => readExternalClaims(JSON.parse(JSON.stringify({ ...good, ...overrides })));

function reasonFor(overrides: object): TokenRefusalReason | 'accepted' {
  try {
    read(overrides);
    return 'accepted';
  } catch (error) {
    if (isTokenRefusal(error)) return error.reason;
    throw error;
  }
}

describe('claims', () => {
  it('[5.2.3] are accepted if only the required ones are given', () => {
    expect(read({ other: { nested: [1] } })).toEqual(good);
  });

  it('[2.2.7] the optional ones are read', () => {
    const texts = { email: 'ada@a.example', role: 'global:admin', sid: 'session' };
    const names = { given_name: 'Ada', family_name: 'Lovelace', may_act: { sub: 'm', iss: 'i' } };
    expect(read({ ...texts, ...names, nbf: 1_000, email_verified: true })).toEqual({
      ...{ ...good, ...texts, givenName: 'Ada', familyName: 'Lovelace', mayAct: { sub: 'm', iss: 'i' } },
      ...{ nbf: 1_000, emailVerified: true },
    });
  });

  it.each(['a string', 7, null, {}, { sub: 7 }, { sub: 'robot', iss: 7 }])(
    '[P.mayAct] %j is not a valid may_act',
    (actor) => expect(reasonFor({ may_act: actor })).toBe('claims_invalid'),
  );

  it.each(REQUIRED)('[5.2.3] %s is required', (name) => {
    for (const value of [undefined, null, true, {}, [[]], [5], [null]]) {
      expect([value, reasonFor({ [name]: value })]).toEqual([value, 'claims_invalid']);
    }
  });

  it.each(['sub', 'iss', 'jti'])('[D42] an empty %s is treated as missing', (name) => {
    expect(reasonFor({ [name]: '' })).toBe('claims_invalid');
  });

  it.each(TEXTS)('[2.2.7] %s must be a string if present', (name) => {
    for (const value of [null, 7, true, ['a'], { a: 1 }]) {
      expect([value, reasonFor({ [name]: value })]).toEqual([value, 'claims_invalid']);
    }
  });

  it.each([[['us', 'them']], [['us']], ['us']])('[5.2.3] aud may be %j', (aud) =>
    expect(read({ aud }).aud).toEqual(aud),
  );

  it.each([7, true, { us: 1 }, ['us', 7], ['us', null], [['us']], null])(
    '[5.2.3] aud may not be %j',
    (aud) => {
      expect(reasonFor({ aud })).toBe('claims_invalid');
    },
  );
});

describe('times', () => {
  it.each(['iat', 'exp', 'nbf'])('[D10] %s is a number from 0 to the end of the year 9999', (name) => {
    for (const value of [0, 0.5, 1_000.123, 1e3, 2 ** 31, LAST_SECOND]) {
      expect([value, reasonFor({ [name]: value })]).toEqual([value, 'accepted']);
    }
    for (const value of [-1, -0.001, LAST_SECOND + 1, 2 ** 53, 1e300, '1000', '', null, true, [1_000], {}]) {
      expect([value, reasonFor({ [name]: value })]).toEqual([value, 'claims_invalid']);
    }
  });

  it.each(['iat', 'exp', 'nbf'])(
    '[D10][K24] %s is refused if its number is infinite in any notation',
    (name) => {
      const payload = JSON.parse(
        JSON.stringify({ ...good, [name]: 'X' }).replace('"X"', '1e999'),
      ) as ClaimSet;
      expect(() => readExternalClaims(payload)).toThrow(OAuthRefusal);
      expect(() => readExternalClaims({ ...good, [name]: Number.NaN })).toThrow(OAuthRefusal);
    },
  );
});

describe('e-mail', () => {
  const long = (length: number) => {
    const domain = [63, 63, 58].map((size) => 'd'.repeat(size)).join('.');
    return `${'a'.repeat(length - domain.length - 9)}@${domain}.example`;
  };

  it('[2.2.7] is an address', () => {
    expect(read({ email: "o'neill+x@sub.a.example" }).email).toBe("o'neill+x@sub.a.example");
    expect(reasonFor({ email: 'ada a.example' })).toBe('claims_invalid');
  });

  it('[D42] has at most 254 characters', () => {
    expect([long(254).length, reasonFor({ email: long(254) })]).toEqual([254, 'accepted']);
    expect([long(255).length, reasonFor({ email: long(255) })]).toEqual([255, 'claims_not_storable']);
    expect(reasonFor({ email: `${'a'.repeat(60_000)}@a.example` })).toBe('claims_not_storable');
  });

  it.each([
    [undefined, undefined],
    [true, true],
    ['true', true],
    ...[false, 'false', 'FALSE', 'True', ' true', 'yes', '', '1', 0, null, [true]].map(
      (value) => [value, false] as const,
    ),
  ] as const)('[D5][K31] with email_verified %j has emailVerified %s', (value, verified) => {
    expect(read({ email: 'ada@a.example', email_verified: value }).emailVerified).toBe(verified);
  });
});

describe('strings that storage cannot hold', () => {
  const BAD = ['a\0b', '\0', 'a\ud800', '\udc00b', '\udc00\ud800'];

  it.each([...TEXTS, 'aud', 'other'])('[5.2.3][D42] include NUL or a lone surrogate in %s', (name) => {
    for (const text of BAD)
      expect([text, reasonFor({ [name]: text })]).toEqual([text, 'claims_not_storable']);
  });

  it.each(BAD)('[D42] include nested values and names: %j', (text) => {
    for (const other of [[text], { a: [{ b: text }] }, { [text]: 1 }]) {
      expect(reasonFor({ other })).toBe('claims_not_storable');
    }
    expect(() => read({ aud: ['us', text] })).toThrow('claims_not_storable: aud has');
    expect(() => read({ [text]: 1 })).toThrow('claims_not_storable: the name of a claim has');
  });

  it.each([
    ['a', 255, 'accepted'],
    ['a', 256, 'claims_not_storable'],
    ['😀', 255, 'accepted'],
    ['😀', 256, 'claims_not_storable'],
  ])('[5.2.3][D42] a sub of %s × %d is %s', (character, length, outcome) => {
    expect(reasonFor({ sub: character.repeat(length) })).toBe(outcome);
  });

  it('[D42] do not include a jti of 10,000 characters or names of 10,000', () => {
    const long = 'x'.repeat(10_000);
    expect(reasonFor({ jti: long, given_name: long, family_name: long, role: long })).toBe('accepted');
  });

  it('[D42] do not include surrogate pairs, controls or U+FFFD', () => {
    expect(reasonFor({ sub: '😀\u0001\ufffd', given_name: '\u007f\u2028' })).toBe('accepted');
  });
});

describe('the issuer before the key is known', () => {
  it.each([{}, { iss: '' }, { iss: null }, { iss: 7 }, { iss: ['https://a.example'] }, { iss: { a: 1 } }])(
    '[D14] %j is refused as invalid claims',
    (payload) =>
      expect(() => readIssuer(payload)).toThrow(expect.objectContaining({ reason: 'claims_invalid' })),
  );

  it('[D14] is read unchanged', () =>
    expect(readIssuer({ iss: ' HTTPS://a.example/ ' })).toBe(' HTTPS://a.example/ '));
});

describe('[5.2.3] the projects claim', () => {
  const projectsOf = (groups: unknown, name?: string) => {
    const payload = { ...good, groups };
    return readExternalClaims(payload, undefined, name).projects;
  };
  const many = (count: number) => Array.from({ length: count }, (_, index) => `${index + 100}:r`);

  it('is read by its name alone, in the order of the keys', () => {
    const claim = ['b:project:viewer', { key: 'c', role: 'r', other: 1 }, `${'a'.repeat(128)}:r`];
    const projects = [
      { key: 'a'.repeat(128), role: 'r' },
      { key: 'b', role: 'project:viewer' },
      { key: 'c', role: 'r' },
    ];
    expect([claim, undefined, []].map((groups) => projectsOf(groups, 'groups'))).toEqual([
      projects,
      undefined,
      [],
    ]);
    expect([projectsOf(claim), projectsOf(claim, 'other')]).toEqual([undefined, undefined]);
    expect(projectsOf(many(50), 'groups')).toHaveLength(50);
  });

  it.each([
    ...[null, 'a:r', { key: 'a', role: 'r' }, many(51), ['a'], [':r'], ['a:'], [null], [['a', 'r']]],
    ...[[{ key: 'a' }], [{ role: 'r' }], [{ key: 1, role: 'r' }], [{ key: 'a', role: 1 }]],
    ...[[{ key: '', role: 'r' }], ['a:r', 'a:s'], [`${'a'.repeat(129)}:r`]],
  ])('is invalid: %.40j', (groups) => {
    expect(() => projectsOf(groups, 'groups')).toThrow(expect.objectContaining({ reason: 'claims_invalid' }));
  });
});

it.each([
  [{ iat: 1_795_700_000_123 }, /: found a number of 13 digits: milliseconds\?$/],
  [{ exp: -1 }, /: found a negative number$/],
  [{ exp: 1e300 }, /: found a number of over 21 digits$/],
  [{ nbf: '1795700000' }, /: found a string$/],
  [{ sub: 5150 }, /^claims_invalid: sub must be a non-empty string: found a number$/],
  [{ jti: undefined }, /: found nothing$/],
  [{ sub: '' }, /: found an empty text$/],
  [{ aud: [7] }, /: found a list$/],
  [{ role: null }, /: found null$/],
])('[D23] an error reports only the kind of a value: %j', (overrides, message) => {
  expect(() => read(overrides)).toThrow(message);
});

describe('act', () => {
  const chain = (length: number): object =>
    Array.from({ length }).reduce<object>((act, _, index) => ({ sub: `actor-${index}`, act }), {
      sub: 'first',
    });

  it("[P.priorActors] is a chain of actors, the latest first, with the token's issuer by default", () => {
    const act = {
      sub: 'c',
      iss: 'https://c.example',
      exp: 7,
      act: { sub: 'b', act: { sub: 'a', iss: 'x' } },
    };
    expect(read({ act }).priorActors).toEqual([
      { iss: 'https://c.example', sub: 'c' },
      { iss: 'https://a.example', sub: 'b' },
      { iss: 'x', sub: 'a' },
    ]);
    expect(read({}).priorActors).toBeUndefined();
  });

  it('[P.priorActors] has at most five actors', () => {
    expect(read({ act: chain(4) }).priorActors).toHaveLength(5);
    expect(reasonFor({ act: chain(5) })).toBe('claims_invalid');
  });

  it.each([
    null,
    [{ sub: 'a' }],
    {},
    { sub: '' },
    { iss: 'x' },
    { sub: 'a', iss: '' },
    { sub: 'a', act: null },
  ])('[P.priorActors] is not a valid chain: %j', (act) => expect(reasonFor({ act })).toBe('claims_invalid'));

  it("[5.2.3][D126] is invalid with the instance's own issuer, if that is known", () => {
    const own = 'https://us.example';
    const claimed = (act: object) => () => readExternalClaims({ ...good, act }, own);
    for (const iss of [own, `${own}/`, 'HTTPS://US.example:443'])
      for (const act of [
        { sub: 'a', iss },
        { sub: 'b', act: { sub: 'a', iss } },
      ])
        expect(claimed(act)).toThrow(expect.objectContaining({ reason: 'claims_invalid' }));
    for (const iss of [`${own}/tenant`, 'https://us.example.org', 'us.example'])
      expect(claimed({ sub: 'a', iss })().priorActors).toEqual([{ iss, sub: 'a' }]);
  });

  it('[D42] contains only names that can be stored', () => {
    expect(reasonFor({ act: { sub: 's'.repeat(255), iss: 'i'.repeat(512) } })).toBe('accepted');
    expect(reasonFor({ act: { sub: 's'.repeat(256) } })).toBe('claims_not_storable');
    expect(reasonFor({ act: { sub: 's', iss: 'i'.repeat(513) } })).toBe('claims_not_storable');
    expect(reasonFor({ act: { sub: 'a\0' } })).toBe('claims_not_storable');
  });
});
