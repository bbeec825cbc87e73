// Whether an entry lets an unknown identity in: its address, its link or new user, and its seat.
import { domainOfAddress } from '../../platform/text/email-address.js';
import { printableList } from '../../platform/text/printable.js';
import { counted } from '../../platform/text/wording.js';
import type { HostUser } from '../host/users.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { RoleNames } from '../settings/token-exchange.options.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { domainsOf } from '../trust/trusted-key.js';
import type { ExternalClaims } from '../verify/external-claims.js';
import { isPrivileged } from './role-policy.js';

/**
 * The address by which an unknown identity may be linked or provisioned.
 * @rule D5 An address that its issuer does not call verified does neither: a deviation from the contract, for safety.
 * @rule P.requireVerifiedEmail If the entry requires it, a token that says nothing about it is refused too.
 * @rule P.emailDomains Addresses of domains that are not listed do neither; a subdomain is another domain.
 * @throws OAuthRefusal `email_missing`, `email_not_verified`, `email_domain_not_allowed`
 */
export function linkableEmail({ email, emailVerified }: ExternalClaims, policy: TrustPolicy): string {
  if (email === undefined)
    throw new OAuthRefusal('email_missing', { expected: 'a claim email', found: 'none' });
  if (!(emailVerified ?? policy.requireVerifiedEmail !== true)) {
    const found = emailVerified === undefined ? 'no email_verified' : 'another email_verified';
    throw new OAuthRefusal('email_not_verified', { expected: 'email_verified true', found });
  }
  const domains = domainsOf(policy);
  if (domains?.has(domainOfAddress(email) ?? '') === false)
    throw new OAuthRefusal('email_domain_not_allowed', {
      expected: printableList(domains),
      found: 'another domain',
    });
  return email;
}

/**
 * Checks the link of an unknown identity to the user who has its address.
 * @rule P.linkExistingUsers An entry may forbid links to existing users.
 * @rule P.linkPrivileged An entry may forbid links to the owner and to administrators.
 * @throws OAuthRefusal `linking_not_allowed`, `privileged_linking_not_allowed`
 */
export function checkLink({ role, id: userId }: HostUser, policy: TrustPolicy, roles: RoleNames): void {
  if (policy.linkExistingUsers === false) throw new OAuthRefusal('linking_not_allowed', { userId });
  if (policy.linkPrivileged === false && isPrivileged(role, roles))
    throw new OAuthRefusal('privileged_linking_not_allowed', {
      userId,
      expected: 'a user without privileges',
      found: role,
    });
}

/**
 * Checks whether an entry may create a user.
 * @rule P.provisionUsers An entry may forbid that its tokens create users.
 * @throws OAuthRefusal `provisioning_not_allowed`
 */
export function checkProvisioning({ provisionUsers }: TrustPolicy): void {
  if (provisionUsers === false) throw new OAuthRefusal('provisioning_not_allowed');
}

/** The seats of an issuer. */
export interface Seats {
  readonly most: number;
  readonly taken: number;
}

/**
 * Checks whether a user who is new to an issuer gets a seat.
 * @param seats undefined: any number of users may have one, or the user has one
 * @rule P.maxUsers An issuer may have at most so many users.
 * @throws OAuthRefusal `seats_exhausted`
 */
export function checkSeats(seats: Seats | undefined): void {
  if (seats === undefined || seats.taken < seats.most) return;
  const { most, taken } = seats;
  throw new OAuthRefusal('seats_exhausted', {
    expected: `at most ${counted(most, 'user')}`,
    found: `${counted(taken, 'user')}, and a new one`,
  });
}
