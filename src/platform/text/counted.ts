// Counts things in words.

/** @param noun in the singular, with a regular plural: `1 problem`, `2 problems` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
