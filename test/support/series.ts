// Decides how much of each series runs: a small round in `npm run test:all`, all of it in `npm run test:long -- NAME`.

/** Whether this is `npm run test:long`, the only run that fetches packages from registries. */
export const isWholeSeries = process.env['TEST_SERIES'] !== undefined;

/** Whether this is `npm test`, which leaves slow tests to `npm run test:all`. */
export const isMainScope = process.env['TEST_SCOPE'] === 'main';

/** Declares a block that `npm test` leaves to `npm run test:all`; other blocks of the file show its rules. */
export function describeOutsideMain(title: string, block: () => void): void {
  if (!isMainScope) describe(title, block);
}

/** Checks durations, delays and memory. Only `npm run test:long -- NAME` does so, on a machine without other work. */
export function whenMeasured(check: () => void): void {
  if (isWholeSeries) check();
}

export interface SeriesSize {
  /** The size in `npm run test:all`, which allows a few seconds. */
  readonly small: number;
  readonly whole: number;
}

/** The number of rounds, seconds or cases of a series to run. */
export function sizeOf({ small, whole }: SeriesSize): number {
  return isWholeSeries ? whole : small;
}
