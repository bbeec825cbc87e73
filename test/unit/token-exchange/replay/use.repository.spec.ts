// What a replay is called, and how requests that want the same ids share them out.
import { replayRefusal, shareOut } from '../../../../src/token-exchange/replay/use.repository.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['it was the subject token, the actor token, or both', true],
])('[5.2.5] a request with a used token is rejected: %s', (detail, hasActor) => {
  /** Builds a token from its content. In production only the verifier does. */
  const tokenOf = (kid: string) => ({ key: { kid, policy: { issuer: 'i' } } }) as VerifiedToken;
  const actor = hasActor ? tokenOf('a') : undefined;
  const refusal = replayRefusal({ subject: tokenOf('s'), actor });
  expect([refusal.reason, refusal.context]).toEqual(['token_replayed', { issuer: 'i', kid: 's', detail }]);
});

it('[D2][D3] the first request for an id uses it; a later one is a replay, and its other ids are used up', () => {
  const use = (jti: string, exp: number) => ({ jti, exp });
  const requests = [[use('a', 1)], [use('a', 2), use('b', 3)], [use('c', 4), use('c', 5)], [use('d', 6)]];
  const { asked, replayed } = shareOut(requests);
  expect(asked.map(({ hash, exp, request }) => [hash.slice(0, 8), exp, request])).toEqual([
    ['18ac3e73', 6, 3],
    ['2e7d2c03', 4, 2],
    ['3e23e816', 3, 1],
    ['ca978112', 1, 0],
  ]);
  expect(replayed).toEqual(new Set([1, 2]));
});
