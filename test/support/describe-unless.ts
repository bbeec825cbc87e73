// Blocks of tests that need something of the machine.

/** Declares a block of tests. Where something is missing, a skipped test in its place says what. */
export function describeUnless(missing: string | undefined, title: string, block: () => void): void {
  if (missing === undefined) describe(title, block);
  else describe(title, () => it.skip(`skipped: ${missing}`, () => undefined));
}
