// The user of a token, as claims.
import { requireKnown } from './own-copy.js';
import { invalidOption } from './partner-error.js';

/** A user at an issuer, with the users who have acted before. */
export interface Party {
  readonly sub: string;
  readonly iss?: string;
  readonly act?: Party;
}

/** The claims about one of your users, named as in the token. The instance's docs/partner/tokens.md describes them. */
export interface Person {
  /** Your id of the user, 1 to 255 characters. Never give it to another user. */
  readonly sub: string;
  /** Finds or creates the instance's user if `sub` is unknown. */
  readonly email?: string;
  /** Set it to `true` only if the user has proved to own the address. */
  readonly email_verified?: boolean;
  readonly given_name?: string;
  readonly family_name?: string;
  /** The role on the instance, such as `global:member`, if the trusted key entry allows it. */
  readonly role?: string;
  /** The session at your identity provider, as in its ID token. A logout that names it ends what the token opens. */
  readonly sid?: string;
  /**
   * The user's projects, at most 50, if the trusted key entry has `projects`: `key:role`, such as
   * `acme:project:editor`. Send all of them each time. `[]` removes the user from all. Without the claim nothing changes.
   */
  readonly projects?: readonly (string | { readonly key: string; readonly role: string })[];
  /** The only party that may act for this subject. */
  readonly may_act?: { readonly sub: string; readonly iss?: string };
  /** The parties that have acted before, at most five. They are recorded and grant nothing. */
  readonly act?: Party;
}

const LONGEST_SUB = 255;
/** `sub` comes first, because only it is required. */
const MEMBERS = [
  'sub',
  'email',
  'email_verified',
  'given_name',
  'family_name',
  'role',
  'sid',
  'projects',
  'may_act',
  'act',
];

/**
 * Returns the claims without undefined ones. A string is a `sub`.
 * @throws PartnerError `invalid_option` if there are no claims, no `sub`, or an unknown claim
 */
export function claimsOf(person: Person | string, name: string): Record<string, unknown> {
  if (typeof person !== 'string' && (typeof person !== 'object' || person === null || Array.isArray(person)))
    throw invalidOption(`${name} must be claims, or their sub as a text`);
  const claims = Object.entries(typeof person === 'string' ? { sub: person } : person);
  // A caller who passes a whole user object would otherwise send private data.
  requireKnown(
    claims.map(([member]) => member),
    name,
    MEMBERS,
  );
  const present = Object.fromEntries(claims.filter(([, value]) => value !== undefined));
  const { sub } = present as { sub?: unknown };
  if (typeof sub !== 'string' || sub === '' || sub.length > LONGEST_SUB)
    throw invalidOption(`${name} needs a sub of 1 to ${LONGEST_SUB} characters`);
  return present;
}
