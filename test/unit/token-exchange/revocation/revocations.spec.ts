// What each revocation refuses, until which time, and how long revocations count as known.
import type { HttpException } from '@nestjs/common';
import type {
  RevocableToken,
  TrustRevocation,
} from '../../../../src/token-exchange/revocation/revocations.js';
import {
  externalLoginOf,
  keysOfLogout,
  readExternalLogins,
  readRecordedKeys,
  recordedKeys,
  Revocations,
} from '../../../../src/token-exchange/revocation/revocations.js';
import { knownRevocations } from '../../../support/known-revocations.js';

const A = 'https://a.example';
const B = 'https://b.example';
const NOW = Date.UTC(2026, 5, 1, 12);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const revoked = (issuer: string, kid: string | null, agoMs = 0, restoredAgoMs?: number): TrustRevocation => ({
  issuer,
  kid,
  revokedAt: new Date(NOW - agoMs),
  restoredAt: restoredAgoMs === undefined ? null : new Date(NOW - restoredAgoMs),
});
const token = (keys: RevocableToken['keys'], sinceMs = NOW - 60 * SECOND): RevocableToken => ({
  id: 'token',
  keys,
  sinceMs,
});
const key = (issuer: string, kid: string) => ({ issuer, kid });

describe('[D59] revoked trust', () => {
  it.each([
    ['its key', [key(A, '1')], true],
    ['another key of its issuer', [key(A, '2')], false],
    ['a key of that kid of another issuer', [key(B, '1')], false],
    ['unknown keys', undefined, true],
    ['no key at all', [], false],
  ])('for one key refuses tokens by %s: %s', (_, keys, isRefused) => {
    expect(knownRevocations({ trust: [revoked(A, '1')] }).refusesToken(token(keys))).toBe(isRefused);
  });

  it.each([
    ['one of its keys', [key(A, '2')], true],
    ['another issuer', [key(B, '2')], false],
  ])('for an issuer refuses tokens by %s: %s', (_, keys, isRefused) => {
    expect(knownRevocations({ trust: [revoked(A, null)] }).refusesToken(token(keys))).toBe(isRefused);
  });

  it('refuses everything issued while it is revoked, however clocks differ', () => {
    const revocations = knownRevocations({ trust: [revoked(A, '1', 60 * SECOND)] });
    for (const sinceMs of [NOW - 3_600 * SECOND, NOW - 60 * SECOND, NOW, NOW + 3_600 * SECOND])
      expect(revocations.refusesToken(token([key(A, '1')], sinceMs))).toBe(true);
    expect([revocations.isRevoked(key(A, '1')), revocations.isRevoked(key(A, '2'))]).toEqual([true, false]);
  });

  it.each([
    ['before the revocation', -100 * SECOND, true],
    ['between revocation and restoration', -30 * SECOND, true],
    ['in the last second before it', -10 * SECOND + 1, false],
    ['after it', -5 * SECOND, false],
  ])('still refuses, once restored, tokens issued %s: %s', (_, at, isRefused) => {
    const revocations = knownRevocations({ trust: [revoked(A, '1', 60 * SECOND, 9 * SECOND)] });
    expect(revocations.refusesToken(token([key(A, '1')], NOW + at))).toBe(isRefused);
    expect(revocations.isRevoked(key(A, '1'))).toBe(false);
  });

  it('that is restored in the second of its revocation still refuses that second', () => {
    const trust = [revoked(A, '1', 500, 100)];
    expect(knownRevocations({ trust }).refusesToken(token([key(A, '1')], NOW - 1_000))).toBe(true);
    expect(knownRevocations({ trust }).refusesToken(token([key(A, '1')], NOW))).toBe(false);
  });

  it('is the result of the read that started later, in any order of completion', () => {
    const revocations = new Revocations();
    const learn = (trust: TrustRevocation[], begunAtMs: number) =>
      revocations.learn({ trust, endedTokens: [], logouts: [] }, begunAtMs, NOW);
    const begunAtMs = performance.now();
    learn([revoked(A, '1')], begunAtMs);
    learn([], begunAtMs - 1);
    expect(revocations.isRevoked(key(A, '1'))).toBe(true);
    learn([], begunAtMs + 1);
    expect(revocations.isRevoked(key(A, '1'))).toBe(false);
  });
});

describe('single tokens', () => {
  const expiresAt = new Date(NOW + 60 * SECOND);

  it('[D61] an ended token is refused by its id', () => {
    const revocations = knownRevocations({ endedTokens: [{ id: 'token', expiresAt }] }, NOW);
    expect(revocations.refusesToken(token([]))).toBe(true);
    expect(revocations.refusesToken({ ...token([]), id: 'other' })).toBe(false);
  });

  it.each([
    [60 * SECOND, true],
    [60 * SECOND + 1, false],
  ])('[D61] are still remembered %d ms after they have expired: %s', (passedMs, isRefused) => {
    const revocations = knownRevocations({ endedTokens: [{ id: 'token', expiresAt }] }, NOW);
    const nowMs = expiresAt.getTime() + passedMs;
    revocations.learn({ trust: [], endedTokens: [], logouts: [] }, Number.POSITIVE_INFINITY, nowMs);
    expect(revocations.refusesToken(token([]))).toBe(isRefused);
  });
});

describe('[D131][D132] logouts', () => {
  const UNTIL = 1_000;
  const none = { trust: [], endedTokens: [], logouts: [] };
  const loginOf = (claims: object) => externalLoginOf({ iss: A, sub: 'ada', iat: UNTIL, ...claims });
  const logoutOf = (claims: object, until = UNTIL, atMs = NOW) => ({
    issuer: A,
    keys: keysOfLogout(A, claims),
    until,
    at: new Date(atMs),
  });

  it.each([
    [{ sub: 'ada' }, {}, true],
    [{ sub: 'ada' }, { sub: 'bob' }, false],
    [{ sub: 'ada' }, { iss: B }, false],
    [{ sid: 'one' }, { sid: 'two' }, false],
    [{ sid: 'one' }, { iss: B, sid: 'one' }, false],
    [{ sub: 'ada', sid: 'one' }, {}, true],
    [{ sub: 'ada', sid: 'one' }, { sid: 'two' }, false],
    [{ sub: 'ada', sid: 'one' }, { sub: 'bob', sid: 'one' }, true],
    [{ sub: 'ada', sid: 'one' }, { sub: 'bob' }, false],
  ])('for %j end a login of %j: %s', (logout, login, isEnded) => {
    const revocations = knownRevocations({ logouts: [logoutOf(logout)] }, NOW);
    expect(revocations.isLoggedOut(loginOf(login))).toBe(isEnded);
    const session = { keys: [], sinceMs: NOW - SECOND, logins: [loginOf(login)] };
    expect(revocations.refuses(session)).toBe(isEnded);
  });

  it('end earlier sessions and access tokens, and logins by earlier external tokens', () => {
    const revocations = knownRevocations({ logouts: [logoutOf({ sub: 'ada' })] }, NOW);
    const isEnded = (iat: number, sinceMs?: number) => revocations.isLoggedOut(loginOf({ iat }), [], sinceMs);
    expect([isEnded(UNTIL, NOW), isEnded(UNTIL + 1), isEnded(UNTIL + 1, NOW - SECOND)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(isEnded(UNTIL + 1, NOW - SECOND + 1)).toBe(false);
  });

  it('apply the later of two, and are forgotten after 25 hours', () => {
    const logouts = [logoutOf({ sub: 'ada' }, UNTIL - 1), logoutOf({ sub: 'ada' }, UNTIL, NOW - 5 * SECOND)];
    for (const inOrder of [logouts, logouts.toReversed()]) {
      const revocations = knownRevocations({ logouts: inOrder }, NOW);
      const isEnded = (iat = UNTIL) => revocations.isLoggedOut(loginOf({ iat }), [], NOW - SECOND);
      expect([isEnded(), isEnded(UNTIL + 9)]).toEqual([true, true]);
      revocations.learn(none, Number.POSITIVE_INFINITY, NOW + 25 * HOUR);
      expect(isEnded()).toBe(true);
      revocations.learn(none, Number.POSITIVE_INFINITY, NOW + 25 * HOUR + 60 * SECOND);
      expect(isEnded()).toBe(false);
    }
  });
});

describe('[D131][D132] a logout of a whole issuer', () => {
  const UNTIL = 1_000;
  const loginOf = (sub: string, iat = UNTIL, iss = A) => externalLoginOf({ iss, sub, iat });
  const byKey = (sub: string, until: number, atMs: number) => ({
    issuer: A,
    keys: keysOfLogout(A, { sub }),
    until,
    at: new Date(atMs),
  });
  const ofAll = { issuer: A, keys: [], until: UNTIL, at: new Date(NOW) };
  const ends = (revocations: Revocations, iat: number, sinceMs?: number, by = A, sub = 'ada') =>
    revocations.isLoggedOut(loginOf(sub, iat, by), [key(by, '1')], sinceMs);

  it('ends earlier logins by its tokens, and no later login', () => {
    const revocations = knownRevocations({ logouts: [ofAll] }, NOW);
    expect([ends(revocations, UNTIL, NOW), ends(revocations, UNTIL + 9, NOW - SECOND)]).toEqual([true, true]);
    expect([ends(revocations, UNTIL + 1), ends(revocations, UNTIL + 1, NOW)]).toEqual([false, false]);
  });

  it('leaves other issuers alone; without recorded keys, any issuer may match', () => {
    const revocations = knownRevocations({ logouts: [ofAll] }, NOW);
    expect(ends(revocations, UNTIL, NOW - SECOND, B)).toBe(false);
    const session = { sinceMs: NOW - SECOND, logins: [loginOf('ada')] };
    expect(revocations.refuses({ ...session, keys: [key(B, '1')] })).toBe(false);
    expect(revocations.refuses({ ...session, keys: [key(B, '1'), key(A, '1')] })).toBe(true);
    expect(revocations.refuses({ ...session, keys: undefined })).toBe(true);
  });

  it('replaces the earlier logouts by key, in any order, and keeps the later ones', () => {
    const logouts = [byKey('ada', UNTIL, NOW), byKey('bob', UNTIL + 5, NOW + 5 * SECOND), ofAll];
    for (const inOrder of [logouts, logouts.toReversed()]) {
      const revocations = knownRevocations({ logouts: inOrder }, NOW);
      expect([ends(revocations, UNTIL), ends(revocations, UNTIL + 5)]).toEqual([true, false]);
      expect(ends(revocations, UNTIL + 5, undefined, A, 'bob')).toBe(true);
    }
  });

  it('is forgotten after 25 hours', () => {
    const revocations = knownRevocations({ logouts: [ofAll] }, NOW);
    for (const [passedMs, isEnded] of [
      [25 * HOUR, true],
      [25 * HOUR + 60 * SECOND, false],
    ] as const) {
      const none = { trust: [], endedTokens: [], logouts: [] };
      revocations.learn(none, Number.POSITIVE_INFINITY, NOW + passedMs);
      expect(ends(revocations, UNTIL)).toBe(isEnded);
    }
  });
});

describe('the record of a session or token', () => {
  const login = externalLoginOf({ iss: A, sub: 'ada', iat: 1 });

  it('returns logins as written', () => {
    expect(login).toEqual({ sub: expect.stringMatching(/^[\w-]{22}$/), iat: 1 });
    const logins = [login, { ...login, sid: 'x' }];
    expect(readExternalLogins(logins)).toEqual(logins);
    for (const bad of [undefined, login, [null], [{ iat: 1 }], [{ sub: 's' }], [login, { ...login, sid: 7 }]])
      expect(readExternalLogins(bad)).toBeUndefined();
  });

  it('returns keys as written, each once', () => {
    const keys = [key(A, '1'), key(A, '2'), key(B, '1')];
    expect(readRecordedKeys(recordedKeys([...keys, key(A, '1')]))).toEqual(keys);
    for (const bad of [undefined, {}, [null], [{ iss: A }], [{ kid: '1' }]])
      expect(readRecordedKeys(bad)).toBeUndefined();
  });
});

describe('[D60] known revocations', () => {
  const none = { trust: [], endedTokens: [], logouts: [] };
  let monotonicMs: number;

  beforeEach(() => {
    monotonicMs = 1_000_000;
    jest.spyOn(performance, 'now').mockImplementation(() => monotonicMs);
  });
  afterEach(() => jest.restoreAllMocks());

  const questions = (revocations: Revocations) => [
    () => revocations.ensureKnown(),
    () => revocations.refusesToken(token([])),
    () => revocations.refuses(token([])),
  ];

  it('are missing before the first read', () => {
    for (const ask of questions(new Revocations())) expect(ask).toThrow();
  });

  it('are valid for ten seconds from the start of the latest read, and again after the next one', () => {
    const revocations = new Revocations();
    revocations.learn(none, monotonicMs, NOW);
    monotonicMs += 10_000;
    for (const ask of questions(revocations)) expect(ask).not.toThrow();
    monotonicMs += 1;
    for (const ask of questions(revocations)) expect(ask).toThrow();
    revocations.learn(none, monotonicMs - 5, NOW);
    for (const ask of questions(revocations)) expect(ask).not.toThrow();
  });

  it('are sufficient for a request that has already used up a token', () => {
    const revocations = new Revocations();
    const trust = [{ issuer: A, kid: '1', revokedAt: new Date(NOW), restoredAt: null }];
    revocations.learn({ ...none, trust }, monotonicMs, NOW);
    monotonicMs += 10_001;
    expect([
      revocations.isKnown,
      revocations.isRevoked(key(A, '1')),
      revocations.isRevoked(key(A, '2')),
    ]).toEqual([false, true, false]);
    expect(revocations.hasRefused(token([key(A, '1')]))).toBe(true);
  });

  it('cause a fixed 503 if they are missing', () => {
    const error = (() => {
      try {
        return new Revocations().ensureKnown();
      } catch (thrown) {
        return thrown as HttpException;
      }
    })();
    expect([error?.getStatus(), error?.getResponse()]).toEqual([
      503,
      { error: 'temporarily_unavailable', message: 'Revocations cannot be read at present' },
    ]);
  });
});
