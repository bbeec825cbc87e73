// How many transactions of requests run at a time, when those that wait for their turn are refused, and what a replay is called.
import { TransactionQueue, replayRejection } from '../../../../src/token-exchange/flows/commit.service.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { DatabaseWaitError } from '../../../../src/platform/database/unavailable.js';

const AT_ONCE = 8;
const HANGS = new DatabaseWaitError('time_limit');

describe('[D49][D102] the turns of transactions', () => {
  let turns: TransactionQueue;
  let begun: number;
  let outcomes: Map<number, unknown>;
  let ends: ((error?: Error) => void)[];

  beforeEach(() => {
    turns = new TransactionQueue();
    begun = 0;
    outcomes = new Map();
    ends = [];
  });

  const take = (count: number) => {
    for (let place = 0; place < count; place++) {
      const number = outcomes.size + place;
      const work = () => {
        begun += 1;
        return new Promise<string>((resolve, reject) =>
          ends.push((error) => (error === undefined ? resolve('served') : reject(error))),
        );
      };
      turns.take(work).then(
        (result) => outcomes.set(number, result),
        (error: unknown) => outcomes.set(number, error),
      );
    }
  };
  /** Promises that are settled have been heard of by then. */
  const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

  it('run so many at a time, and the others in their order, however each ends', async () => {
    take(AT_ONCE + 2);
    await settled();
    expect(begun).toBe(AT_ONCE);
    ends[0]?.();
    ends[1]?.(new Error('refused'));
    await settled();
    expect([begun, outcomes.get(0), outcomes.get(1)]).toEqual([AT_ONCE + 2, 'served', new Error('refused')]);
    ends.splice(0).forEach((end) => end());
    await settled();
    take(AT_ONCE + 1);
    await settled();
    expect(begun).toBe(2 * AT_ONCE + 2);
  });

  it('give all up who wait when the database has served none since the one that it does not serve began', async () => {
    take(AT_ONCE + 3);
    await settled();
    ends[0]?.(HANGS);
    await settled();
    expect([begun, [...outcomes.values()]]).toEqual([AT_ONCE, [HANGS, HANGS, HANGS, HANGS]]);
    take(1);
    await settled();
    expect(begun).toBe(AT_ONCE + 1);
  });

  it.each([undefined, new Error('refused')])(
    'give up only the one that it does not serve while it serves others (%p)',
    async (error) => {
      take(AT_ONCE + 3);
      await settled();
      ends[0]?.(error);
      await settled();
      ends[1]?.(HANGS);
      await settled();
      expect([begun, outcomes.size]).toEqual([AT_ONCE + 2, 2]);
    },
  );
});

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['it was the subject token, the actor token, or both', true],
])('[5.2.5] a request with a used token is refused: %s', (detail, hasActor) => {
  /** Only the verifier makes such a token; here what it has read is given. */
  const tokenOf = (kid: string) => ({ key: { kid, policy: { issuer: 'i' } } }) as VerifiedToken;
  const actor = hasActor ? tokenOf('a') : undefined;
  const refusal = replayRejection({ subject: tokenOf('s'), actor });
  expect([refusal.reason, refusal.context]).toEqual(['token_replayed', { issuer: 'i', kid: 's', detail }]);
});
