// Copies what a caller gives, so that nothing that is done to it later changes what is signed.
import { invalidOption } from './partner-error.js';

const LONGEST_SHOWN = 64;

/**
 * A copy of data, with all that is nested in it.
 * @throws PartnerError `invalid_option`: it has a function or the like, or what JSON cannot say
 */
export function ownCopy<T>(given: T, name: string): T {
  try {
    const copy = structuredClone(given);
    // What goes into a token has to be JSON: a number without end or a circle would fail only there.
    JSON.stringify(copy);
    return copy;
  } catch {
    throw invalidOption(`${name} has something in it that is no data, such as a function, or is no JSON`);
  }
}

/**
 * A misspelt member is refused: without it, a token might have every scope, or be bound to no key.
 * @throws PartnerError `invalid_option`
 */
export function requireObject<T>(given: T, name: string, known: Readonly<Record<keyof T, true>>): void {
  if (typeof given !== 'object' || given === null) throw invalidOption(`${name} must be an object`);
  requireKnown(Object.keys(given), name, Object.keys(known));
}

/** @throws PartnerError `invalid_option`, which names the first unknown member */
export function requireKnown(members: readonly string[], name: string, known: readonly string[]): void {
  const unknown = members.find((member) => !known.includes(member));
  if (unknown === undefined) return;
  const shown = JSON.stringify(unknown.slice(0, LONGEST_SHOWN));
  throw invalidOption(`${name} has ${shown}, which is none of ${known.join(', ')}`);
}
