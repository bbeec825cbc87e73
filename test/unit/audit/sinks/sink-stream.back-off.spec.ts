// How long a sink is left alone after failures.
import { BackOff } from '../../../../src/audit/sinks/sink-stream.js';

/** How long one waits after each of some failures in a row. */
function waits(failures: number, random: () => number): number[] {
  const backOff = new BackOff(random);
  return Array.from({ length: failures }, () => {
    backOff.failed(0);
    let ms = 0;
    while (backOff.isWaiting(ms)) ms += 250;
    return ms;
  });
}

it('doubles from one second to one minute', () => {
  expect(waits(8, () => 0)).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1000));
});

it('is randomly reduced by up to half', () => {
  expect(waits(3, () => 0.999)).toEqual([750, 1250, 2250]);
});

it('is at least as long as the sink requests', () => {
  const backOff = new BackOff(() => 0);
  backOff.failed(0, 5_000);
  expect([backOff.isWaiting(4_999), backOff.isWaiting(5_000)]).toEqual([true, false]);
  backOff.failed(0, 500);
  expect([backOff.isWaiting(1_999), backOff.isWaiting(2_000)]).toEqual([true, false]);
});

it('starts again after a success', () => {
  const backOff = new BackOff(() => 0);
  for (let failure = 0; failure < 5; failure++) backOff.failed(0);
  backOff.succeeded();
  expect(backOff.isWaiting(0)).toBe(false);
  backOff.failed(0);
  expect([backOff.isWaiting(999), backOff.isWaiting(1000)]).toEqual([true, false]);
});
