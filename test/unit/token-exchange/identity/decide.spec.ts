// Which user a token identifies, and what it changes.
import type { Candidates, LinkedUsers } from '../../../../src/token-exchange/identity/decide.js';
import {
  decide,
  decideOnUser,
  decideRequest,
  newUserOf,
} from '../../../../src/token-exchange/identity/decide.js';
import type { TrustPolicy } from '../../../../src/token-exchange/trust/trusted-key.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const [MEMBER, ADMIN] = ['global:member', 'global:admin'] as const;
const ROLES = { assignable: [MEMBER, ADMIN], owner: 'global:owner', initial: MEMBER, inProject: ['viewer'] };
const EMAIL = { email: 'ada@a.example', emailVerified: true };
const [LONG, CUT] = ['x'.repeat(33), 'x'.repeat(32)] as const;
const USER = { id: 'u', role: MEMBER, enabled: true, givenName: 'Ada', familyName: 'Byron' };
const DISABLED = { ...USER, enabled: false };

/** Builds a token from its content. In production only the verifier does. */
const token = (claims: object, policy: Partial<TrustPolicy> = {}) =>
  ({ claims: { iss: 'https://a.example', sub: 's', ...claims }, key: { policy } }) as VerifiedToken;
const found = (by: string, update = {}, ignores = false) => ({
  ...{ by, user: USER, update, ignoresRoleClaim: ignores },
});
const made = (members: object) => ({
  by: 'provisioning',
  newUser: { email: EMAIL.email, role: MEMBER, givenName: '', familyName: '', ...members },
});

const LINK = { projectsDigest: null, byAdministrator: false };

/** Whether a request of the token needs no transaction. */
const isUnchanged = (subject: VerifiedToken, { linked }: Candidates) =>
  decideRequest({ subject }, { subject: linked && { ...linked, ...LINK } }, ROLES) !== undefined;

it.each<[string, object, Candidates, object, boolean]>([
  ['[4.4.1]', EMAIL, { linked: USER, withEmail: DISABLED }, found('link'), true],
  ['[2.5.3]', { givenName: 'Ada', familyName: 'Byron' }, { linked: USER }, found('link'), true],
  ['[2.5.3]', { givenName: LONG }, { linked: USER }, found('link', { givenName: CUT }), false],
  ['[2.5.3]', { familyName: '' }, { linked: USER }, found('link', { familyName: '' }), false],
  ['[4.4.4]', { role: ADMIN }, { linked: USER }, found('link', { role: ADMIN }), false],
  ['[4.4.role.5]', { role: 'x' }, { linked: USER }, found('link', {}, true), true],
  ['[4.4.2]', EMAIL, { withEmail: USER }, found('email'), false],
  ['[4.4.3]', EMAIL, {}, made({}), false],
  ['[4.4.3]', { ...EMAIL, role: ADMIN, givenName: LONG }, {}, made({ role: ADMIN, givenName: CUT }), false],
])(
  '%s the claims %j with the stored user %j lead to %j; nothing changes: %s',
  (_, claims, stored, end, isSame) => {
    const decision = decide(token(claims), stored, ROLES);
    expect(decision).toEqual(end);
    expect(isUnchanged(token(claims), stored)).toBe(isSame);
  },
);

it.each<[string, boolean, object, Partial<TrustPolicy>, LinkedUsers]>([
  ['an unknown identity', true, EMAIL, {}, {}],
  ['a linked identity', false, EMAIL, {}, { subject: { ...USER, ...LINK } }],
  ['a claim of projects', false, { ...EMAIL, projects: [] }, {}, {}],
  ['an entry that names its user', false, EMAIL, { signInAs: USER.id }, {}],
  ['an entry that links users and creates none', false, EMAIL, { provisionUsers: false }, {}],
  ['a role that is ignored for known users', false, { ...EMAIL, role: 'x' }, {}, {}],
  ['no e-mail address', false, {}, {}, {}],
])('[4.4.3] for %s the user is created without a transaction: %s', (_, isMade, claims, policy, linked) => {
  const newUser = newUserOf({ subject: token(claims, policy) }, linked, ROLES);
  expect(newUser).toEqual(isMade ? made({}).newUser : undefined);
});

it('[4.4.3] a request with an actor needs a transaction to create a user', () => {
  const tokens = { subject: token(EMAIL), actor: token({ ...EMAIL, sub: 'a' }) };
  expect(newUserOf(tokens, {}, ROLES)).toBeUndefined();
});

it('[4.4][D7] a disabled user is refused', () => {
  const decideOnIt = () => decide(token(EMAIL), { linked: DISABLED }, ROLES);
  const context = { userId: 'u', expected: 'a user who is enabled', found: 'a disabled one' };
  expect(decideOnIt).toThrow(expect.objectContaining({ reason: 'user_disabled', context }));
});

it.each<[Candidates, string, string | undefined]>([
  [{ linked: USER }, USER.id, undefined],
  [{ linked: USER }, 'v', 'user_mismatch'],
  [{ withEmail: USER }, USER.id, undefined],
  [{ withEmail: USER }, 'v', 'user_mismatch'],
  [{}, USER.id, 'user_mismatch'],
])('[4.4][D133] with the stored %j, an assertion for the user %s leads to %s', (stored, localUserId, end) => {
  const assertion = { clientId: 'c', localUserId };
  const decideOnIt = () => decide({ ...token(EMAIL), assertion }, stored, ROLES);
  if (end === undefined) expect(decideOnIt()).toMatchObject({ user: USER });
  else expect(decideOnIt).toThrow(expect.objectContaining({ reason: end }));
});

it.each<[Candidates['named'], string]>([
  [undefined, 'named_user_unknown'],
  [DISABLED, 'user_disabled'],
  [{ ...USER, role: ROLES.owner }, 'owner_excluded'],
  [{ ...USER, role: ADMIN }, 'privileged_user_not_allowed'],
])(
  '[4.4][P.signInAs][D144] if the entry names %j its token is rejected, also under lock: %s',
  (named, reason) => {
    const refused = expect.objectContaining({ reason }) as Error;
    const job = token(EMAIL, { signInAs: USER.id, byAdministrator: true });
    expect(() => decide(job, { named, linked: USER, withEmail: USER }, ROLES)).toThrow(refused);
    if (named !== undefined) expect(() => decideOnUser('entry', job, named, ROLES)).toThrow(refused);
  },
);

describe('[4.4][D144] a privileged user', () => {
  const context = {
    userId: 'u',
    expected: "a user without privileges, or an entry and a link of the owner's",
    found: expect.stringMatching(/^global:(admin|owner)$/),
  };
  const refused = expect.objectContaining({ reason: 'privileged_user_not_allowed', context }) as Error;
  const ofAdministrator = token(EMAIL, { byAdministrator: true });

  it.each([ADMIN, ROLES.owner])("with the role %s cannot use an administrator's entry or link", (role) => {
    const user = { ...USER, role };
    const decideOnLink = (one: VerifiedToken, byAdministrator: boolean) => () => [
      decide(one, { linked: user, byAdministrator }, ROLES),
      decideRequest({ subject: one }, { subject: { ...user, ...LINK, byAdministrator } }, ROLES),
      decideOnUser('link', one, user, ROLES, { byAdministrator }),
    ];
    expect(decideOnLink(ofAdministrator, false)).toThrow(refused);
    expect(decideOnLink(token(EMAIL), true)).toThrow(refused);
    expect(decideOnLink(token(EMAIL), false)).not.toThrow();
    expect(() => decide(ofAdministrator, { withEmail: user }, ROLES)).toThrow(refused);
  });

  it('is every user without the initial role', () => {
    expect(decide(ofAdministrator, { linked: USER, byAdministrator: true }, ROLES)).toMatchObject({
      user: USER,
    });
    expect(decide(ofAdministrator, { withEmail: USER }, ROLES)).toMatchObject({ user: USER });
  });
});

it('[D134] a new projects claim is a change for any user', () => {
  const changes = [{ key: 'k', to: 'viewer', isClaimed: true }];
  const claims = { ...EMAIL, projects: [{ key: 'k', role: 'viewer' }] };
  const claiming = token(claims, { projects: { claim: 'projects', create: true } });
  for (const stored of [{ linked: USER }, { withEmail: USER }, {}]) {
    const decision = decide(claiming, { ...stored, projects: { projects: [] } }, ROLES);
    expect(decision).toMatchObject({ projects: { changes, keptIds: [] } });
  }
  expect(isUnchanged(claiming, { linked: USER })).toBe(false);
});
