// How many transactions of requests run at a time, and which events the trail has of what a token changed.
import { DatabaseWaitError } from '../../../../src/platform/database/database-error.js';
import { LONGEST_TURN_MS, MAX_WAITING, SharedWait } from '../../../../src/platform/database/wait-limit.js';
import { identityEvents, Turns } from '../../../../src/token-exchange/exchange/apply.service.js';
import type { IdentityChange } from '../../../../src/token-exchange/identity/decide.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const AT_ONCE = 3;
const WAIT_MS = 1_800;
const LATE = new DatabaseWaitError('time_limit');

describe('[D102] the transaction queue', () => {
  let turns: Turns;
  let begun: number;
  let outcomes: unknown[];
  let ends: ((error?: Error) => void)[];

  beforeEach(() => {
    turns = new Turns(AT_ONCE, WAIT_MS);
    begun = 0;
    outcomes = [];
    ends = [];
  });

  const take = (count: number, leftMs = Number.POSITIVE_INFINITY) => {
    // Work of one test may end during the next one.
    const own = outcomes;
    for (let taken = 0; taken < count; taken++) {
      const place = own.push(undefined) - 1;
      const work = () => {
        begun += 1;
        return new Promise<string>((resolve, reject) =>
          ends.push((error) => (error === undefined ? resolve('served') : reject(error))),
        );
      };
      const wait = new SharedWait(leftMs);
      wait.deadlineMs = performance.now() + leftMs;
      turns.take(wait, work).then(
        (result) => (own[place] = result),
        (error: unknown) => (own[place] = error),
      );
    }
  };
  /** Promises that are settled have been heard of by then. */
  const settled = () => new Promise((resolve) => setTimeout(resolve, 2));

  it('runs a limited number at once and the others in order, however each ends', async () => {
    take(AT_ONCE + 2);
    await settled();
    expect(begun).toBe(AT_ONCE);
    ends[0]?.();
    ends[1]?.(new Error('refused'));
    await settled();
    expect([begun, outcomes[0], outcomes[1]]).toEqual([AT_ONCE + 2, 'served', new Error('refused')]);
    ends.splice(0).forEach((end) => end());
    await settled();
    take(AT_ONCE + 1);
    await settled();
    expect(begun).toBe(2 * AT_ONCE + 2);
  });

  it('[D49] drops items that are too late, and continues with the next', async () => {
    take(AT_ONCE);
    take(2, -1);
    take(1);
    await settled();
    ends[0]?.();
    await settled();
    expect([begun, outcomes.slice(AT_ONCE)]).toEqual([AT_ONCE + 1, [LATE, LATE, undefined]]);
  });

  it('[D49] refuses items if too many wait already', async () => {
    take(AT_ONCE + MAX_WAITING + 1);
    await settled();
    expect(outcomes.slice(-2)).toEqual([undefined, new DatabaseWaitError('pool_exhausted')]);
  });

  describe('over time', () => {
    beforeEach(() => jest.useFakeTimers());
    afterEach(() => jest.useRealTimers());

    const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

    it('[D49] ends the wait if the database answers no one', async () => {
      take(AT_ONCE + 1);
      await pass(WAIT_MS - 1);
      expect(outcomes.at(-1)).toBeUndefined();
      await pass(1);
      expect(outcomes.at(-1)).toEqual(LATE);
      ends[0]?.();
      await pass(0);
      expect(begun).toBe(AT_ONCE);
    });

    it('[D49] does not treat a database failure as an answer', async () => {
      take(AT_ONCE + 2);
      await pass(WAIT_MS - 100);
      ends[0]?.(LATE);
      await pass(100);
      expect(outcomes.slice(AT_ONCE)).toEqual([undefined, LATE]);
    });

    it("waits for up to five seconds as long as others are answered, without using up the request's time", async () => {
      take(AT_ONCE);
      take(4, WAIT_MS);
      for (let ms = 0; ms < LONGEST_TURN_MS - 1_000; ms += 1_000) {
        await pass(1_000);
        ends.shift()?.();
      }
      await pass(0);
      expect([begun, outcomes.includes(LATE)]).toEqual([AT_ONCE + 4, false]);
      ends.splice(0).forEach((end) => end());
      await pass(0);
      expect(new Set(outcomes)).toEqual(new Set(['served']));
    });

    it('ends a wait after five seconds', async () => {
      take(AT_ONCE + 9);
      for (let ms = 0; ms < LONGEST_TURN_MS; ms += 1_000) {
        await pass(1_000);
        ends.shift()?.();
      }
      await pass(0);
      expect(outcomes.at(-1)).toEqual(LATE);
    });
  });
});

const issuer = 'https://a.example';
const userId = 'u';
const context = { occurredAt: new Date(), requestId: 'r', subjectUserId: userId, actorUserId: 'a' };

/** Builds a token from its content. In production only the verifier does. */
const token = { key: { policy: { issuer } } } as VerifiedToken;
const eventsOf = (...changes: IdentityChange[]) => identityEvents(context, token, { userId, changes });
const event = (name: string, payload: object) => ({
  ...{ ...context, name: `svc.audit.token-exchange.${name}` },
  payload: { issuer, userId, ...payload },
});

it('[6.5][6.7] each change causes an event with its details', () => {
  const changes = [
    { kind: 'user-provisioned', userId, role: 'member' },
    { kind: 'role-updated', userId, from: 'member', to: 'admin' },
    { kind: 'profile-updated', userId, fields: ['givenName'] },
    { kind: 'projects-updated', userId, added: ['p'], changed: [], removed: ['q'] },
  ] as const satisfies IdentityChange[];
  expect(eventsOf(...changes)).toEqual(changes.map(({ kind, ...members }) => event(kind, members)));
});

it('[6.6][D54] a link to an administrator causes one more event', () => {
  const link = { kind: 'identity-linked', userId, role: 'owner' } as const;
  const linked = event('identity-linked', {});
  expect(eventsOf({ ...link, isPrivileged: false }, { ...link, isPrivileged: true })).toEqual([
    ...[linked, linked, event('privileged-identity-linked', { role: 'owner' })],
  ]);
});
