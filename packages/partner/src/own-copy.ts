// Copies the caller's data, so that later changes do not affect what is signed.
import { invalidOption } from './partner-error.js';

const LONGEST_SHOWN = 64;

/**
 * Makes a deep copy of data.
 * @throws PartnerError `invalid_option` if it contains a function or anything else that JSON cannot express
 */
export function ownCopy<T>(given: T, name: string): T {
  try {
    const copy = structuredClone(given);
    // Finds values that JSON cannot express, such as Infinity or a cycle, before a token is signed.
    JSON.stringify(copy);
    return copy;
  } catch {
    throw invalidOption(`${name} has something in it that is no data, such as a function, or is no JSON`);
  }
}

/**
 * Refuses a misspelt property: without it, a token might have every scope, or be bound to no key.
 * @throws PartnerError `invalid_option`
 */
export function requireObject<T>(given: T, name: string, known: Readonly<Record<keyof T, true>>): void {
  if (typeof given !== 'object' || given === null) throw invalidOption(`${name} must be an object`);
  requireKnown(Object.keys(given), name, Object.keys(known));
}

/** @throws PartnerError `invalid_option`, which names the first unknown property */
export function requireKnown(members: readonly string[], name: string, known: readonly string[]): void {
  const unknown = members.find((member) => !known.includes(member));
  if (unknown === undefined) return;
  const shown = JSON.stringify(unknown.slice(0, LONGEST_SHOWN));
  throw invalidOption(`${name} has ${shown}, which is none of ${known.join(', ')}`);
}
