// Whom a token is about, as its claims say it.
import { requireKnown } from './own-copy.js';
import { invalidOption } from './partner-error.js';

/** Somebody at an issuer, with who has acted before them. */
export interface Party {
  readonly sub: string;
  readonly iss?: string;
  readonly act?: Party;
}

/** The claims about one of your users, named as in the token. What they do: docs/partner/tokens.md of the instance. */
export interface Person {
  /** Your id of the user, 1 to 255 characters; never given to another user. */
  readonly sub: string;
  /** Finds or makes the instance's user where `sub` is unknown there. */
  readonly email?: string;
  /** Say `true` only where the user has proved to hold the address. */
  readonly email_verified?: boolean;
  readonly given_name?: string;
  readonly family_name?: string;
  /** Role on the instance, `global:member` for example, if the trusted key entry allows it. */
  readonly role?: string;
  /** The session at your provider, as in its ID token: a logout with it ends what the token opens. */
  readonly sid?: string;
  /**
   * The projects of your customers that the user is in, 50 at most, if the trusted key entry has `projects`: `key:role`, such as
   * `acme:project:editor`. All of them each time; `[]` takes the user out of all. Left out, nothing changes.
   */
  readonly projects?: readonly (string | { readonly key: string; readonly role: string })[];
  /** The only party that may act for this subject. */
  readonly may_act?: { readonly sub: string; readonly iss?: string };
  /** Who has acted before, at most five parties; recorded, never a right. */
  readonly act?: Party;
}

const LONGEST_SUB = 255;
/** `sub` comes first: it alone has to be there. */
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
 * The claims, with members that are undefined left out. A string is a `sub`.
 * @throws PartnerError `invalid_option`: no claims, no `sub`, or a member that is no claim of a person
 */
export function claimsOf(person: Person | string, name: string): Record<string, unknown> {
  if (typeof person !== 'string' && (typeof person !== 'object' || person === null || Array.isArray(person)))
    throw invalidOption(`${name} must be claims, or their sub as a text`);
  const claims = Object.entries(typeof person === 'string' ? { sub: person } : person);
  // Whoever passes a whole user of their own would send along what is nobody else's business.
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
