// Sizes of the series in test/long: a small round within `npm test`, the whole of it by `npm run test:long -- NAME`.

/** Set by `npm run test:long`. */
const isWhole = process.env['TEST_SERIES'] !== undefined;

export interface SeriesSize {
  /** Within `npm test`, where it may take a few seconds. */
  readonly small: number;
  readonly whole: number;
}

/** How many rounds, seconds or cases of a series are due. */
export function sizeOf({ small, whole }: SeriesSize): number {
  return isWhole ? whole : small;
}
