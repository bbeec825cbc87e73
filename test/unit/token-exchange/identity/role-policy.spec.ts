// The role table of the specification, row by row, and the entry's rules about stored roles.
import { printable } from '../../../../src/platform/text/printable.js';
import {
  checkStoredRole,
  isBarred,
  roleOfExistingUser,
  roleOfNewUser,
} from '../../../../src/token-exchange/identity/role-policy.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';

const [MEMBER, ADMIN, OWNER] = ['global:member', 'global:admin', 'global:owner'] as const;
const ROLES = { assignable: [MEMBER, ADMIN], owner: OWNER, initial: MEMBER };
const UNKNOWN = ['global:editor', 'Global:Admin', 'global:admin ', 'GLOBAL:OWNER', '', '__proto__'];

/** An entry that allows these roles; none given: no restriction. */
function entry(allowedRoles?: readonly string[]): TrustPolicy {
  const policy = { entryIndex: 0, label: 'entry-0', issuer: 'https://a.example' };
  return allowedRoles === undefined ? policy : { ...policy, allowedRoles: new Set(allowedRoles) };
}

/** The role, or the reason of the refusal. */
function newUser(claim: string | undefined, allowed?: readonly string[]): string {
  return reasonOf(() => roleOfNewUser(claim, entry(allowed), ROLES));
}

/** `keep`, `ignore-claim`, the new role, or the reason of the refusal. */
function existing(current: string, claim: string | undefined, allowed?: readonly string[]): string {
  return reasonOf(() => {
    const sync = roleOfExistingUser(current, claim, entry(allowed), ROLES);
    return sync.kind === 'change' ? sync.role : sync.kind;
  });
}

function reasonOf(work: () => string): string {
  try {
    return work();
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error);
  }
}

it.each([
  [MEMBER, [undefined, { byAdministrator: true }], false],
  [ADMIN, [{ byAdministrator: false }, {}], false],
  [ADMIN, [{}, { byAdministrator: true }], true],
  [OWNER, [{}, undefined], true],
])(
  "[D144] bars privileged users whom an administrator's or an unknown entry vouches for: %s %j",
  (role, by, is) => {
    expect(isBarred({ role }, by, ROLES)).toBe(is);
  },
);

describe('a new user', () => {
  it.each([undefined, [], [MEMBER], [ADMIN], [MEMBER, ADMIN], [OWNER], ['global:editor']])(
    '[4.4.role.1][D9] without a claim becomes a member if the entry allows %j',
    (allowed) => expect(newUser(undefined, allowed)).toBe(MEMBER),
  );

  it('[4.4.role.1][D9][P.roleCeiling] without a claim is refused by a ceiling below the initial role', () => {
    const under = (allowed: readonly string[]) => ({ ...entry(allowed), roleCeiling: true });
    expect(reasonOf(() => roleOfNewUser(undefined, under([ADMIN]), ROLES))).toBe('role_not_allowed');
    expect(roleOfNewUser(undefined, under([MEMBER]), ROLES)).toBe(MEMBER);
  });

  it.each([
    [MEMBER, undefined, MEMBER],
    [ADMIN, undefined, ADMIN],
    [ADMIN, [ADMIN], ADMIN],
    [MEMBER, [MEMBER, ADMIN], MEMBER],
    [ADMIN, [MEMBER], 'role_not_allowed'],
    [MEMBER, [ADMIN], 'role_not_allowed'],
    [MEMBER, [], 'role_not_allowed'],
  ])('[4.4.role.2] with the claim %s if the entry allows %j: %s', (claim, allowed, result) => {
    expect(newUser(claim, allowed)).toBe(result);
  });

  it.each(UNKNOWN)('[4.4.role.2] with the unknown role %j is refused, allowed or not', (claim) => {
    expect(newUser(claim)).toBe('role_not_recognized');
    expect(newUser(claim, [claim])).toBe('role_not_recognized');
    const roles = { ...ROLES, assignable: [MEMBER, ADMIN, OWNER] };
    const context = { expected: `${MEMBER}, ${ADMIN}`, found: printable(claim) };
    expect(() => roleOfNewUser(claim, entry(), roles)).toThrow(expect.objectContaining({ context }));
  });

  it.each([undefined, [], [OWNER], [MEMBER]])(
    '[2.5.4] never becomes owner if the entry allows %j',
    (allowed) => {
      expect(newUser(OWNER, allowed)).toBe('role_not_assignable');
    },
  );
});

describe('an existing user', () => {
  it('[2.5.4] does not become owner, even if a host lists that role as assignable', () => {
    const roles = { ...ROLES, assignable: [...ROLES.assignable, OWNER] };
    expect(roleOfExistingUser(MEMBER, OWNER, entry(), roles)).toEqual({ kind: 'ignore-claim' });
  });

  it.each([MEMBER, ADMIN, OWNER])('[4.4.role.3] with the role %s keeps it without a claim', (current) => {
    for (const allowed of [undefined, [], [MEMBER], [ADMIN]])
      expect(existing(current, undefined, allowed)).toBe('keep');
  });

  it.each([
    [MEMBER, ADMIN, undefined, ADMIN],
    [ADMIN, MEMBER, undefined, MEMBER],
    [MEMBER, MEMBER, undefined, 'keep'],
    [ADMIN, ADMIN, undefined, 'keep'],
    [ADMIN, MEMBER, [MEMBER, ADMIN], MEMBER],
    [MEMBER, ADMIN, [MEMBER], 'role_not_allowed'],
    [MEMBER, MEMBER, [ADMIN], 'role_not_allowed'],
    [ADMIN, ADMIN, [], 'role_not_allowed'],
  ])(
    '[4.4.role.4] with the role %s and the claim %s if the entry allows %j: %s',
    (current, claim, allowed, result) => {
      expect(existing(current, claim, allowed)).toBe(result);
    },
  );

  it.each([...UNKNOWN, OWNER])(
    '[4.4.role.5] keeps the role and continues with the claim %j, allowed or not',
    (claim) => {
      for (const current of [MEMBER, ADMIN]) {
        for (const allowed of [undefined, [], [MEMBER], [claim]]) {
          expect(existing(current, claim, allowed)).toBe('ignore-claim');
        }
      }
    },
  );

  it.each([MEMBER, ADMIN, OWNER, 'global:editor'])(
    '[4.4.role.6] keeps the owner role with the claim %s',
    (claim) => {
      for (const allowed of [undefined, [], [MEMBER], [claim]])
        expect(existing(OWNER, claim, allowed)).toBe('keep');
    },
  );
});

it.each<[string, Partial<TrustPolicy>, string | undefined]>([
  [OWNER, {}, undefined],
  [OWNER, { excludeOwner: true }, 'owner_excluded'],
  [ADMIN, { excludeOwner: true }, undefined],
  [ADMIN, { roleCeiling: true, allowedRoles: new Set([MEMBER]) }, 'stored_role_not_allowed'],
  [MEMBER, { roleCeiling: true, allowedRoles: new Set([MEMBER]) }, undefined],
  [OWNER, { roleCeiling: true, allowedRoles: new Set([MEMBER, ADMIN]) }, 'stored_role_not_allowed'],
  [OWNER, { roleCeiling: true, allowedRoles: new Set([OWNER]) }, undefined],
])(
  '[P.roleCeiling][P.excludeOwner] a known user with the role %s is allowed under %j: %s',
  (role, members, reason) => {
    const user = { id: 'u', role, enabled: true, givenName: '', familyName: '' };
    const judge = () => checkStoredRole(user, { ...entry(), ...members }, ROLES);
    if (reason === undefined) return expect(judge).not.toThrow();
    const expected =
      reason === 'owner_excluded'
        ? 'another user than the owner'
        : [...(members.allowedRoles ?? [])].join(', ');
    expect(judge).toThrow(
      expect.objectContaining({ reason, context: { userId: 'u', expected, found: role } }),
    );
  },
);
