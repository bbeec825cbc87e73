// Why the user of a token is refused, or the role that it names.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const USER_REFUSALS = {
  email_missing: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token has no `email`',
    remedy: 'the partner adds `email`',
    embed: 'Token has no e-mail address for a new user',
  },
  email_not_verified: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token does not say `email_verified`',
    remedy:
      'the partner sends `email_verified: true` for verified addresses, or the operator sets `requireVerifiedEmail: false` and lists `emailDomains`',
    embed: 'The e-mail address is not verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is unknown, and `emailDomains` does not list the e-mail domain',
    remedy: 'the operator adds it, or the user takes another address',
    embed: 'The e-mail domain is not allowed',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'a user with this e-mail address exists, and the entry may not link existing users',
    remedy: 'the operator sets `linkExistingUsers`, or the user takes another address',
    embed: 'The user exists, and may not be linked',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause: "the e-mail address is an administrator's or the owner's, to whom the entry may not link",
    remedy: 'the operator sets `linkPrivileged`, if this partner may sign in as that user',
    embed: 'The user is an administrator, and may not be linked',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is unknown, and the entry may not create users',
    remedy: 'the operator creates the user (`svc-admin users create`), or sets `provisionUsers`',
    embed: 'The user is not known',
  },
  seats_exhausted: {
    check: 'admission',
    cause: 'the user is new, and the issuer has no free seat (`maxUsers`)',
    remedy: 'the operator raises `maxUsers`, or disables, deletes or unlinks users',
    embed: 'No further user is allowed',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: "the entry does not allow the user's present role",
    remedy: "the operator changes the user's role, `allowedRoles` or `roleCeiling`",
    embed: "The user's role is not allowed",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the user is the owner, whom the entry excludes',
    remedy:
      'the owner signs in another way, or the operator removes `excludeOwner`; `signInAs` must name another user',
    embed: 'The owner is not allowed',
  },
  named_user_unknown: {
    check: 'user',
    cause: 'the user in `signInAs` does not exist',
    remedy: 'the operator names another user, or removes the entry',
  },
  privileged_user_not_allowed: {
    check: 'user',
    cause:
      "the user is the owner or an administrator, but the entry, or the one that linked the user, is an administrator's",
    remedy:
      'the owner saves the entry again and removes an old link (`svc-admin users unlink`), or the user signs in by another entry',
    embed: 'The user is an administrator, and may not sign in this way',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user is disabled',
    remedy: 'the operator enables the user (`svc-admin users enable`), if appropriate',
    embed: 'User is disabled',
  },
  user_mismatch: {
    check: 'user',
    cause: "the assertion's `aud_sub` names another user than its `iss` and `sub`",
    remedy: 'the provider corrects it (`svc-admin users list`), or omits it',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the requested role',
    remedy: 'the partner requests an allowed role or none, or the operator adds it to `allowedRoles`',
    embed: 'Role is not allowed',
  },
  role_not_recognized: {
    check: 'role',
    cause: 'no role has the requested name, or `roleMap` has none of the values',
    remedy: 'the partner corrects or omits the role claim, or the operator extends `roleMap`',
    embed: 'Role is not recognized',
  },
  role_not_assignable: {
    check: 'role',
    cause: "the token requests the owner's role, which no token can assign",
    remedy: 'the partner requests another role or none',
    embed: 'Role cannot be assigned',
  },
} satisfies Record<string, TokenRefusal>;

export const USER_NOTICES = {
  role_ignored: {
    cause: 'the role claim was ignored, because it names no role that a token can assign',
    remedy: 'the partner corrects or omits the claim `role`',
  },
} as const satisfies Record<string, Explanation>;
