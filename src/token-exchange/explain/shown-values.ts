// How values of tokens and entries are shown in an explanation: in part where they are of people.
import { told, toldList } from '../foundation/told-value.js';
import type { TrustPolicy } from '../keys/trust-policy.js';
import type { ClaimSet } from '../verification/external-claims.js';
import type { RequestFacts } from './check-kinds.js';
import { masked, maskedEmail } from './masked.js';

export function textOf(members: ClaimSet | undefined, name: string): string {
  const value = members?.[name];
  return typeof value === 'string' ? value : '';
}

export function namesIn(members: ClaimSet | undefined, names: readonly string[]): string {
  return names.filter((name) => members?.[name] !== undefined).join(', ') || 'neither';
}

/** Seconds since the Unix epoch as a moment, where it is one. */
export function momentOf(seconds: unknown): string {
  if (typeof seconds !== 'number') return told(seconds);
  const moment = new Date(seconds * 1000);
  return Number.isNaN(moment.getTime()) ? 'no moment' : moment.toISOString();
}

export function lifetimeOf(payload: ClaimSet | undefined): string {
  const [iat, exp] = [payload?.['iat'], payload?.['exp']];
  return typeof iat === 'number' && typeof exp === 'number' ? `${exp - iat} s` : 'none';
}

export function audienceOf(payload: ClaimSet | undefined): string {
  const aud = payload?.['aud'];
  return Array.isArray(aud) ? toldList(aud.map(String)) : told(aud);
}

export function mayActOf(payload: ClaimSet | undefined): string {
  const party = payload?.['may_act'] as ClaimSet | undefined;
  return party === undefined ? 'any actor' : maskedText(party['sub']);
}

export function maskedText(value: unknown): string {
  return typeof value === 'string' ? told(masked(value)) : told(value);
}

export function emailOf(payload: ClaimSet | undefined): string {
  const email = payload?.['email'];
  return typeof email === 'string' ? maskedEmail(email) : told(email);
}

export function listsOf(lists: readonly (ReadonlySet<string> | undefined)[], unlimited: string): string {
  const given = lists.filter((list) => list !== undefined);
  return given.length === 0 ? unlimited : given.map((list) => toldList(list)).join('; and ');
}

export function storedRolesOf(policy: TrustPolicy | undefined): string {
  const ceiling = policy?.roleCeiling === true ? toldList(policy.allowedRoles ?? []) : 'any role';
  return policy?.excludeOwner === true ? `${ceiling}, but not the owner` : ceiling;
}

export function remainingSeconds({ subject, actor, now, maxTokenLifetimeSeconds }: RequestFacts): number {
  const ends = [subject, actor]
    .map((token) => token?.payload?.['exp'])
    .filter((exp) => typeof exp === 'number');
  return Math.floor(Math.min(...ends.map((exp) => exp - now), maxTokenLifetimeSeconds));
}
