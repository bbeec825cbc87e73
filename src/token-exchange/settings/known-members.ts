// Refuses members of settings and parts that are not known: a misspelt one would silently leave its default in force.
import { didYouMean } from '../../platform/text/wording.js';
import type { Members } from './settings.js';
import { isRow } from './settings.js';

/** @throws RangeError that lists the members which are not known, with the names that they may have meant */
export function refuseUnknownMembers(given: object, known: Members): void {
  const unknown = unknownMembers(given, known);
  if (unknown.length > 0) throw new RangeError(unknown.join('\n'));
}

function unknownMembers(given: object, known: Members, path = ''): string[] {
  return Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const member = Object.hasOwn(known, name) ? known[name] : undefined;
    if (member === undefined) return [`${path}${name}: is not known${didYouMean(name, Object.keys(known))}`];
    const members = member !== true && isRow(member) ? member.members : member;
    if (members === undefined || members === true || typeof value !== 'object' || value === null) return [];
    return unknownMembers(value, members, `${path}${name}.`);
  });
}
