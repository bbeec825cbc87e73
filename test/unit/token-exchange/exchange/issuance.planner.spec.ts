// How long an access token lives, by its tokens and the configured limit, and what token and trail say of it.
import type { AskedGrants } from '../../../../src/token-exchange/exchange/issuance.planner.js';
import {
  checkTerms,
  claimsOf,
  IssuancePlanner,
  successOf,
} from '../../../../src/token-exchange/exchange/issuance.planner.js';
import { AccessTokenService } from '../../../../src/token-exchange/tokens/access-token.service.js';
import type { SigningKeyService } from '../../../../src/token-exchange/tokens/signing-key.service.js';
import type { Tokens, VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { knownRevocations } from '../../../support/known-revocations.js';
import { TestClock } from '../../../support/test-clock.js';

const NOW = 1_800_000_000;
/** Builds a token from its content. In production only the verifier does. */
const ending = (seconds: number, kid: string) =>
  ({
    claims: { exp: NOW + seconds },
    key: { kid, policy: { issuer: 'https://a.example' } },
  }) as VerifiedToken;

const termsOf = (now: number, subject: number, actor?: number) =>
  checkTerms(
    {},
    { subject: ending(subject, 's'), actor: actor === undefined ? undefined : ending(actor, 'a') },
    { now: NOW + now, maxTokenLifetimeSeconds: 900 },
  );

it.each<[number, number, number | undefined, number, number]>([
  [0, 40, 70, 40, 40],
  [0, 33, undefined, 33, 33],
  [0, 4000, 3000, 900, 900],
  [0, 5, undefined, 5, 5],
  [0, 70, 5.9, 5, 5],
  [0.75, 50, undefined, 50, 49],
  [0.75, 50.75, undefined, 50, 50],
])(
  '[4.2.5][8.1][8.8] the issued lifetime at %d with tokens that end at %j and %j',
  (now, subject, actor, end, lifetimeSeconds) =>
    expect(termsOf(now, subject, actor).validity).toEqual({
      issuedAt: NOW,
      expiresAt: NOW + end,
      lifetimeSeconds,
    }),
);

it.each<[number, number | undefined, string]>([
  [4.999, undefined, 'subject'],
  [4, 4, 'subject'],
  [4, 70, 'subject'],
  [70, 4, 'actor'],
])('[8.8] tokens that end at %j and %j leave too little time', (subject, actor, party) => {
  const context = { party, issuer: 'https://a.example', kid: party[0], expected: '5 s at least' };
  expect(() => termsOf(0, subject, actor)).toThrow(
    expect.objectContaining({
      reason: 'remaining_lifetime_too_short',
      context: expect.objectContaining(context),
    }),
  );
});

it('[P.maxTokenTtlSeconds] tokens last no longer than either entry or the configured limit allows', () => {
  const limited = (kid: string, maxTokenTtlSeconds: number) => {
    const token = ending(4000, kid);
    const policy = { ...token.key.policy, maxTokenTtlSeconds };
    return { ...token, key: { ...token.key, policy } };
  };
  const lifeOf = (subject: number, actor: number) =>
    checkTerms(
      {},
      { subject: limited('s', subject), actor: limited('a', actor) },
      { now: NOW, maxTokenLifetimeSeconds: 900 },
    ).validity.lifetimeSeconds;
  expect([lifeOf(60, 300), lifeOf(300, 60), lifeOf(1000, 1000)]).toEqual([60, 60, 900]);
});

it('[D133] the end of an identity assertion does not limit the issued token', () => {
  const subject = { ...ending(1, 's'), assertion: { clientId: 'c' } };
  const { validity } = checkTerms({}, { subject }, { now: NOW, maxTokenLifetimeSeconds: 900 });
  expect(validity).toEqual({ issuedAt: NOW, expiresAt: NOW + 900, lifetimeSeconds: 900 });
});

describe('an access token', () => {
  const clock = new TestClock(NOW * 1000);
  const host = 'https://host.example';
  const keys = { current: () => ({ kid: 'only' }) } as unknown as SigningKeyService;
  const service = new AccessTokenService(keys, knownRevocations(), clock, { issuer: host });
  const planner = new IssuancePlanner(keys, service, clock, {
    exchange: { enabled: true, perMinute: 1, maxTokenLifetimeSeconds: 900 },
  });
  const request = { flow: 'exchange' as const, requestId: 'r', clientAddress: '203.0.113.9' };
  const issuer = 'https://a.example';
  const before = { iss: issuer, sub: 'earlier' };
  const policy = {
    issuer,
    scopes: new Set(['read']),
    rights: 'both',
    resources: new Set(['https://api.example']),
  };
  const tokenOf = (kid: string, members: object = {}) =>
    ({
      claims: { exp: NOW + 50, priorActors: kid === 's' ? [before] : undefined },
      ...{ key: { kid, policy: { issuer, ...members } }, login: { sub: kid, iat: NOW } },
    }) as VerifiedToken;
  const userOf = (userId: string) => ({ userId, accessGeneration: `of ${userId}`, changes: [] });
  const users = { subject: userOf('s'), actor: userOf('a') };

  it('[4.2.2] without an actor contains the subject only, and the client that sent an assertion', () => {
    const tokens = { subject: tokenOf('s'), client: { id: 'c', issuers: new Set<string>() } };
    const { terms } = planner.plan({}, tokens);
    const alone = { subject: users.subject };
    const { payload } = successOf(terms, alone, { ...request, flow: 'id-jag' }, clock.now());
    const recorded = { flow: 'id-jag', clientId: 'c', scope: undefined, priorActors: [before] };
    expect(payload).toMatchObject(recorded);
    expect(claimsOf(terms, alone, host)).toMatchObject({ client_id: 'c', act: undefined });
  });

  it('[D133] contains the actors of an assertion, who grant no rights', () => {
    const subject = { ...tokenOf('s'), assertion: { clientId: 'c' } };
    const { terms } = planner.plan({}, { subject, client: { id: 'c', issuers: new Set<string>() } });
    expect(claimsOf(terms, { subject: users.subject }, host).act).toEqual(before);
  });

  it('[4.2.scope][4.2.resource] may have the longest ASCII scope and resource, and is refused above 12,288 characters', () => {
    const longest = {
      scopes: new Set(['s'.repeat(1_024)]),
      resources: new Set([`https://${'r'.repeat(2_040)}`]),
    };
    const plan = (tokens: Tokens, asked: AskedGrants) => planner.plan(asked, tokens).terms;
    const asked = { scope: [...longest.scopes].join(), resource: [...longest.resources] };
    const both = { subject: tokenOf('s', longest), actor: tokenOf('a', longest) };
    expect(plan(both, asked).grants).toMatchObject({
      grantedScopes: [asked.scope],
      audience: asked.resource[0],
    });
    const large = { scope: asked.scope, resource: ['😀'.repeat(2_048)] };
    expect(() => plan({ subject: tokenOf('s') }, large)).toThrow(
      expect.objectContaining({
        reason: 'access_token_too_large',
        context: expect.objectContaining({ expected: '12288 characters at most' }),
      }),
    );
  });

  it('[6.1][4.2.3] with an actor contains both, and the requested and granted values', () => {
    const asked = { scope: 'read \u0000', resource: ['https://api.example'] };
    const { terms } = planner.plan(asked, { subject: tokenOf('s', policy), actor: tokenOf('a') });
    const { accessTokenId: id } = terms;
    const granted = { grantedScopes: ['read'], audience: 'https://api.example', rights: 'both' };
    expect(successOf(terms, users, request, clock.now())).toEqual({
      ...{ name: 'svc.audit.token-exchange.succeeded', occurredAt: clock.now(), requestId: 'r' },
      ...{ subjectUserId: 's', actorUserId: 'a' },
      payload: {
        ...{ issuer, kid: 's', clientAddress: request.clientAddress, accessTokenId: id, lifetimeSeconds: 50 },
        ...{ scope: 'read \\u{0}', resource: asked.resource, ...granted, priorActors: [before] },
      },
    });
    expect(claimsOf(terms, users, host)).toEqual({
      ...{
        iss: host,
        aud: 'https://api.example',
        sub: 's',
        act: { sub: 'a', act: before },
        client_id: issuer,
      },
      ...{ jti: id, iat: NOW, exp: NOW + 50, scope: 'read', delegated_rights: 'both' },
      ...{ requested_scope: asked.scope, requested_resource: 'https://api.example' },
      vouched_by: ['s', 'a'].map((kid) => ({ iss: issuer, kid })),
      logins: ['s', 'a'].map((sub) => ({ sub, iat: NOW })),
      ...{ access_generation: 'of s', actor_access_generation: 'of a' },
    });
  });
});
