// Why the user of a token is refused, or the role that it names.
import type { Explanation, TokenRefusal } from '../refusals/refusal.js';

export const USER_REFUSALS = {
  email_missing: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token has no `email`',
    remedy: 'add `email`',
    embed: 'Token has no e-mail address for a new user',
  },
  email_not_verified: {
    check: 'e-mail',
    cause: 'the user is unknown, and the token lacks `email_verified: true`',
    remedy:
      'send `email_verified: true` for verified addresses, or set `requireVerifiedEmail: false` and list `emailDomains`',
    embed: 'The e-mail address is not verified',
  },
  email_domain_not_allowed: {
    check: 'e-mail',
    cause: 'the user is unknown, and `emailDomains` does not list this domain',
    remedy: 'add it, or use another address',
    embed: 'The e-mail domain is not allowed',
  },
  linking_not_allowed: {
    check: 'admission',
    cause: 'the entry may not link the existing user with this e-mail address',
    remedy: 'set `linkExistingUsers`',
    embed: 'The user exists, and may not be linked',
  },
  privileged_linking_not_allowed: {
    check: 'admission',
    cause: 'the entry may not link the owner or an administrator, who has this e-mail address',
    remedy: 'set `linkPrivileged`, if the partner may sign in as this user',
    embed: 'The user is an administrator, and may not be linked',
  },
  provisioning_not_allowed: {
    check: 'admission',
    cause: 'the user is unknown, and the entry may not create users',
    remedy: 'create the user (`svc-admin users create`), or set `provisionUsers`',
    embed: 'The user is not known',
  },
  seats_exhausted: {
    check: 'admission',
    cause: 'the issuer has no free seat (`maxUsers`) for a new user',
    remedy: 'raise `maxUsers`, or disable, delete or unlink users',
    embed: 'No further user is allowed',
  },
  stored_role_not_allowed: {
    check: 'user',
    cause: "the entry does not allow the user's present role",
    remedy: "change the user's role, `allowedRoles` or `roleCeiling`",
    embed: "The user's role is not allowed",
  },
  owner_excluded: {
    check: 'user',
    cause: 'the entry excludes the owner',
    remedy: 'remove `excludeOwner`, or name another user in `signInAs`',
    embed: 'The owner is not allowed',
  },
  named_user_unknown: {
    check: 'user',
    cause: 'the user in `signInAs` does not exist',
    remedy: 'name another user',
  },
  privileged_user_not_allowed: {
    check: 'user',
    cause:
      'the user is the owner or an administrator, but an administrator stored this entry or the one that linked the user',
    remedy: 'as the owner, save the entry again, and remove an old link (`svc-admin users unlink`)',
    embed: 'The user is an administrator, and may not sign in this way',
  },
  user_disabled: {
    check: 'user',
    cause: 'the user is disabled',
    remedy: 'enable the user (`svc-admin users enable`)',
    embed: 'User is disabled',
  },
  user_mismatch: {
    check: 'user',
    cause: "the assertion's `aud_sub` names another user than its `iss` and `sub`",
    remedy: 'correct it (`svc-admin users list`), or omit it',
  },
  role_not_allowed: {
    check: 'role',
    cause: 'the entry does not allow the requested role',
    remedy: 'request an allowed role or none, or extend `allowedRoles`',
    embed: 'Role is not allowed',
  },
  role_not_recognized: {
    check: 'role',
    cause: 'no role has the requested name, or `roleMap` has none of the values',
    remedy: 'correct or omit the role claim, or extend `roleMap`',
    embed: 'Role is not recognized',
  },
  role_not_assignable: {
    check: 'role',
    cause: "no token can assign the owner's role",
    remedy: 'request another role or none',
    embed: 'Role cannot be assigned',
  },
} satisfies Record<string, TokenRefusal>;

export const USER_NOTICES = {
  role_ignored: {
    cause: 'the role claim was ignored: it names no role that tokens can assign',
    remedy: 'correct or omit the claim `role`',
  },
} as const satisfies Record<string, Explanation>;
