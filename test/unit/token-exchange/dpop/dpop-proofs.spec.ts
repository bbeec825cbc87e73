// Which nonces are accepted, for how long, and by which instances; how long a process remembers the proofs of calls.
import { KeyRing } from '../../../../src/platform/secrets/key-ring.js';
import { DpopNonces, SeenProofs } from '../../../../src/token-exchange/dpop/dpop-proofs.js';

/** The first second of a minute. */
const NOW = 1_800_000_000;
const [key, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const noncesOf = (...keys: Buffer[]) => new DpopNonces(new KeyRing(keys));

describe('[D143] a nonce', () => {
  const nonces = noncesOf(key);

  it('[D143] is accepted until the minute after its own ends', () => {
    const nonce = nonces.at(NOW);
    expect([nonces.at(NOW + 59), nonces.at(NOW + 60) === nonce]).toEqual([nonce, false]);
    const isGood = (now: number) => noncesOf(key).isGood(nonce, now);
    expect([NOW, NOW + 119, NOW + 120, NOW - 1, NOW - 61].map(isGood)).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
  });

  it('[D143] is accepted by instances that have its key at any position, and by no others', () => {
    const nonce = nonces.at(NOW);
    const rings = [[key], [newKey, key], [key, newKey], [newKey]];
    expect(rings.map((keys) => noncesOf(...keys).isGood(nonce, NOW))).toEqual([true, true, true, false]);
    expect(noncesOf(newKey, key).at(NOW)).toBe(noncesOf(newKey).at(NOW));
  });

  it.each([undefined, null, 7, '', 'x', ['x'], { nonce: 'x' }])('[D143] is refused if it is %j', (nonce) =>
    expect(nonces.isGood(nonce, NOW)).toBe(false),
  );

  it('[D143] is a base64url string, independent of anything sent', () => {
    expect(nonces.at(NOW)).toMatch(/^[\w-]{43}$/);
  });
});

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
