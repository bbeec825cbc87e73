// Who takes turns, and who is sent away.
import { WorkQueue } from '../../../../src/operator/api/work-queue.js';
import { TooManyRequestsError } from '../../../../src/platform/http/throttle/rate-limit.js';

it('a trail query waits for the previous one, and is refused if four are waiting', async () => {
  const turns = new WorkQueue();
  let atWork = 0;
  let most = 0;
  const look = async () => {
    most = Math.max(most, ++atWork);
    await Promise.resolve();
    atWork -= 1;
    return 'seen';
  };
  const looks = await Promise.allSettled(Array.from({ length: 7 }, () => turns.take(look)));
  expect(looks.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => 'fulfilled'),
    ...Array.from({ length: 2 }, () => 'rejected'),
  ]);
  expect(most).toBe(1);
  expect(looks.at(-1)).toMatchObject({ reason: new TooManyRequestsError(1) });
  await expect(turns.take(look)).resolves.toBe('seen');
});

it('a failed trail query lets the next one run', async () => {
  const turns = new WorkQueue();
  const failing = turns.take(() => Promise.reject(new Error('away')));
  const next = turns.take(() => Promise.resolve('seen'));
  await expect(failing).rejects.toThrow('away');
  await expect(next).resolves.toBe('seen');
});
