// Why the user of a token is refused, or the role that it names.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const USER_REFUSALS = {
  email_missing: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token has no `email` by which to find or create a user',
    remedy: 'the partner puts `email` into the token',
    embed: 'Token has no e-mail address for a new user',
  },
  email_not_verified: {
    check: 'e-mail',
    cause:
      'the user is unknown, and the token does not say that the e-mail address is verified (`email_verified`)',
    remedy:
      'the partner sets `email_verified` to true for addresses that it has verified (in Keycloak *Email verified* of the user, in Okta a claim), or the operator sets `requireVerifiedEmail` of the entry to false and lists its `emailDomains`',
    embed: 'The e-mail address is not verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is unknown, and the entry does not list the domain of the e-mail address',
    remedy: 'the operator adds the domain to `emailDomains` of the entry, or the user takes another address',
    embed: 'The e-mail domain is not allowed',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'a user with the e-mail address exists, and the entry may not link to existing users',
    remedy: 'the operator sets `linkExistingUsers` of the entry, or the user takes another address',
    embed: 'The user exists, and may not be linked',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause:
      'the user with the e-mail address is the owner or an administrator, to whom the entry may not link',
    remedy: 'the operator sets `linkPrivileged` of the entry, if this partner may sign in as that user',
    embed: 'The user is an administrator, and may not be linked',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is unknown, and the entry may not create users',
    remedy: 'the operator creates the user (`svc-admin users create`), or sets `provisionUsers` of the entry',
    embed: 'The user is not known',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: 'the entry does not allow the role that the user has here',
    remedy: 'the operator changes the role of the user, or `allowedRoles` or `roleCeiling` of the entry',
    embed: "The user's role is not allowed",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the user is the owner, and the entry excludes the owner, as every entry with `signInAs` does',
    remedy:
      'the owner signs in another way, or the operator removes `excludeOwner` from the entry; `signInAs` must name another user',
    embed: 'The owner is not allowed',
  },
  named_user_unknown: {
    check: 'user',
    cause: 'no user has the id that the entry names by `signInAs`, or no longer',
    remedy: 'the operator names another user in `signInAs` of the entry, or removes the entry',
  },
  privileged_user_not_allowed: {
    check: 'user',
    cause:
      'the user is the owner or an administrator, and an administrator stored the entry, or had stored the entry that linked the user',
    remedy:
      'the owner sets the entry again, by a command or on the operator page, and unlinks a user whom it had linked before (`svc-admin users unlink`); or the user signs in by another entry',
    embed: 'The user is an administrator, and may not sign in this way',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user of the token is disabled',
    remedy: 'the operator enables the user (`svc-admin users enable`), if the user may sign in again',
    embed: 'User is disabled',
  },
  user_mismatch: {
    check: 'user',
    cause:
      '`aud_sub` of the identity assertion names another user than the one whom `iss` and `sub` name here',
    remedy:
      'the identity provider writes the id that the user has here (`svc-admin users list`) into `aud_sub`, or leaves it out',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the role that the token asks for',
    remedy:
      'the partner asks for a role that is allowed, or for none, or the operator adds the role to `allowedRoles` of the entry',
    embed: 'Role is not allowed',
  },
  role_not_recognized: {
    check: 'role',
    cause: 'no role has the name that the token asks for, or `roleMap` of the entry has none of its values',
    remedy:
      'the partner corrects the claim `role`, or leaves it out; or the operator adds the value to `roleMap` of the entry',
    embed: 'Role is not recognized',
  },
  role_not_assignable: {
    check: 'role',
    cause: 'the token asks for the role of the owner, which no token can assign',
    remedy: 'the partner asks for another role, or for none',
    embed: 'Role cannot be assigned',
  },
} satisfies Record<string, TokenRefusal>;

export const USER_NOTICES = {
  role_ignored: {
    cause:
      'the service has ignored a role claim, which names no role that a token can assign; the user keeps the role that is stored',
    remedy: 'the partner corrects the claim `role`, or leaves it out',
  },
} as const satisfies Record<string, Explanation>;
