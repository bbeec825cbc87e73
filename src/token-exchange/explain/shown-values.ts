// Shows of claims and people what an operator may see.
import { printable, printableList } from '../../platform/text/printable.js';
import type { TrustPolicy } from '../trust/trust-policy.js';
import type { ClaimSet } from '../verify/external-claims.js';
import type { RequestFacts } from './check-kinds.js';

export function mayActOf(payload: ClaimSet | undefined): string {
  const party = payload?.['may_act'] as ClaimSet | undefined;
  return party === undefined ? 'any actor' : maskedText(party['sub']);
}

export function maskedText(value: unknown): string {
  return typeof value === 'string' ? printable(masked(value)) : printable(value);
}

export function emailOf(payload: ClaimSet | undefined): string {
  const email = payload?.['email'];
  return typeof email === 'string' ? maskedEmail(email) : printable(email);
}

export function listsOf(lists: readonly (ReadonlySet<string> | undefined)[], unlimited: string): string {
  const given = lists.filter((list) => list !== undefined);
  return given.length === 0 ? unlimited : given.map((list) => printableList(list)).join('; and ');
}

export function storedRolesOf(policy: TrustPolicy | undefined): string {
  const ceiling = policy?.roleCeiling === true ? printableList(policy.allowedRoles ?? []) : 'any role';
  return policy?.excludeOwner === true ? `${ceiling}, but not the owner` : ceiling;
}

export function remainingSeconds({ subject, actor, now, maxTokenLifetimeSeconds }: RequestFacts): number {
  const ends = [subject, actor]
    .map((token) => token?.payload?.['exp'])
    .filter((exp) => typeof exp === 'number');
  return Math.floor(Math.min(...ends.map((exp) => exp - now), maxTokenLifetimeSeconds));
}

/** An e-mail address, as `a***@p***.example`. */
export function maskedEmail(address: string): string {
  const at = address.lastIndexOf('@');
  if (at < 0) return masked(address);
  const [domain = '', ...rest] = address.slice(at + 1).split('.');
  const suffix = rest.length === 0 ? '' : `.${rest.at(-1) ?? ''}`;
  return `${masked(address.slice(0, at))}@${masked(domain)}${suffix}`;
}

/** The first character, where there are others. */
export function masked(text: string): string {
  const [first = '', ...others] = text;
  return others.length === 0 ? '***' : `${first}***`;
}
