// How long an access token lives, by its tokens and the configured limit.
import { checkTerms } from '../../../../src/token-exchange/flows/issuance.planner.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const NOW = 1_800_000_000;
/** Only the verifier makes such a token; here what it has read is given. */
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
  [0, 70, 40, 40, 40],
  [0, 33, undefined, 33, 33],
  [0, 4000, 3000, 900, 900],
  [0, 5, undefined, 5, 5],
  [0, 70, 5.9, 5, 5],
  [0.75, 50, undefined, 50, 49],
  [0.75, 50.75, undefined, 50, 50],
  [0.75, 4000, undefined, 900, 900],
])('[4.2.5][8.1][D13] at %d of tokens that end at %j and %j', (now, subject, actor, end, lifetimeSeconds) =>
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
])('[D13] of tokens that end at %j and %j there is too little left', (subject, actor, party) => {
  const context = { party, issuer: 'https://a.example', kid: party[0], expected: '5 s at least' };
  expect(() => termsOf(0, subject, actor)).toThrow(
    expect.objectContaining({
      reason: 'remaining_lifetime_too_short',
      context: expect.objectContaining(context),
    }),
  );
});
