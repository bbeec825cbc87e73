// How long a process remembers the proofs of calls, and how many.
import { SeenProofs } from '../../../../src/token-exchange/dpop/dpop-proofs.js';

const NOW = 1_800_000_000;
const use = (jti: string, exp = NOW + 60) => ({ jti, exp });

it('[D142] a proof is accepted once before it expires', () => {
  const seen = new SeenProofs(() => undefined);
  expect([seen.take(use('a'), NOW), seen.take(use('a'), NOW), seen.take(use('b'), NOW)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(seen.take(use('a'), NOW + 60)).toBe(false);
  // The expired proof is forgotten, but still refused, even if the clock is set back.
  expect(seen.take(use('c', NOW + 121), NOW + 61)).toBe(true);
  expect([seen.take(use('a'), NOW + 61), seen.take(use('a'), NOW)]).toEqual([false, false]);
});

it('[D142] above the limit the oldest proof is forgotten, and counted unless it had expired', () => {
  let forgotten = 0;
  const seen = new SeenProofs(() => (forgotten += 1), 2);
  for (const jti of ['a', 'b', 'c']) expect(seen.take(use(jti), NOW)).toBe(true);
  expect(forgotten).toBe(1);
  expect([seen.take(use('b'), NOW), seen.take(use('c'), NOW), seen.take(use('a'), NOW)]).toEqual([
    false,
    false,
    true,
  ]);
  expect(seen.take(use('d', NOW + 122), NOW + 62)).toBe(true);
  expect(forgotten).toBe(2);
});
