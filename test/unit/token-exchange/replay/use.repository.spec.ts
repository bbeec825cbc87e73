// What a replay is called.
import { replayRefusal } from '../../../../src/token-exchange/replay/use.repository.js';
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
