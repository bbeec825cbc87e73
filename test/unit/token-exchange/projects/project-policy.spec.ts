// What a claim of projects does to memberships, row by row.
import type { HostProject } from '../../../../src/token-exchange/host/projects.js';
import type { StoredProjects } from '../../../../src/token-exchange/projects/project-policy.js';
import { decideOnProjects } from '../../../../src/token-exchange/projects/project-policy.js';
import type { ClaimedProject } from '../../../../src/token-exchange/projects/projects-claim.js';
import { digestOf } from '../../../../src/token-exchange/projects/projects-claim.js';
import type { ProjectsPolicy } from '../../../../src/token-exchange/projects/projects-policy.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const [A, B] = ['https://a.example', 'https://b.example'];
const [VIEWER, EDITOR, ADMIN] = ['viewer', 'editor', 'admin'] as const;
const ROLES = { assignable: [], owner: 'owner', initial: 'member', inProject: [VIEWER, EDITOR, ADMIN] };
const CLAIMED = [{ key: 'k', role: EDITOR }];
const IS_LAST = { isLastAdministrator: true };

/** In the project with the key `k`. */
const inProject = (member: HostProject['member']) => ({ id: 'id', key: 'k', member });
const member = (role: string, members: Partial<HostProject['member']> = {}) =>
  inProject({ role, ownRole: null, issuer: A, isLastAdministrator: false, ...members });
const byHand = (role: string, members = {}) => member(role, { ownRole: role, issuer: null, ...members });
const LAST_BY_BOTH = member(ADMIN, { ownRole: ADMIN, ...IS_LAST });

function decide(
  claimed: readonly ClaimedProject[],
  stored: StoredProjects = {},
  policy: Partial<ProjectsPolicy> | null = {},
) {
  const rules = policy === null ? {} : { projects: { claim: 'projects', create: false, ...policy } };
  const token = { claims: { iss: A }, key: { policy: { issuer: A, ...rules } } } as VerifiedToken;
  return decideOnProjects(claimed, token, stored, ROLES);
}

it.each<[string, typeof CLAIMED, HostProject, object | undefined]>([
  ['no member', CLAIMED, inProject(null), { to: EDITOR }],
  ['member by it, with a lower role', CLAIMED, member(VIEWER), { from: VIEWER, to: EDITOR }],
  ['member by it, with this role', CLAIMED, member(EDITOR), undefined],
  ['member by that of another issuer', CLAIMED, member(VIEWER, { issuer: B }), undefined],
  ['member by hand, with a lower role', CLAIMED, byHand(VIEWER), { from: VIEWER, to: EDITOR }],
  ['member by hand, with a higher role', CLAIMED, byHand(ADMIN), { from: ADMIN, to: ADMIN }],
  ['member by both, by hand with a higher role', CLAIMED, member(ADMIN, { ownRole: ADMIN }), undefined],
  ['no member', [], inProject(null), undefined],
  ['member by it', [], member(EDITOR), { from: EDITOR }],
  ['member by both', [], member(EDITOR, { ownRole: VIEWER }), { from: EDITOR, to: VIEWER }],
  ['the last administrator by both', [], LAST_BY_BOTH, { from: ADMIN, to: ADMIN }],
])('[D134] a user who is %s: the claim %j of %j leads to %j', (_, claimed, project, change) => {
  const isClaimed = claimed.length > 0;
  const changes = change === undefined ? [] : [{ id: 'id', key: 'k', isClaimed, ...change }];
  expect(decide(claimed, { projects: [project] })).toEqual({
    digest: digestOf(claimed, {}),
    changes,
    keptIds: [],
  });
});

it.each<[string, string, Partial<ProjectsPolicy>, object[], typeof CLAIMED | [], HostProject]>([
  ['leaves', 'whose key it may not name', { mayAssign: new Set(['a-*']) }, [], [], member(EDITOR)],
  ['leaves', 'whose role it may not give', { roles: new Set([EDITOR]) }, [], [], member(ADMIN)],
  [
    'leaves',
    'whose role it may not give, and names',
    { roles: new Set([EDITOR]) },
    [],
    CLAIMED,
    member(ADMIN),
  ],
  [
    'ends its part of',
    'whose role people gave too',
    { roles: new Set([VIEWER]) },
    [{ id: 'id', key: 'k', from: ADMIN, to: ADMIN, isClaimed: false }],
    [],
    member(ADMIN, { ownRole: ADMIN }),
  ],
  [
    'takes away',
    'whose project has lost its key',
    { mayAssign: new Set(['a-*']), roles: new Set([EDITOR]) },
    [{ id: 'id', key: null, from: EDITOR, to: undefined, isClaimed: false }],
    [],
    { ...member(EDITOR), key: null },
  ],
])('[P.projects] an entry %s a membership %s', (_, _of, policy, changes, claimed, project) => {
  expect(decide(claimed, { projects: [project] }, policy)).toEqual({
    digest: digestOf(claimed, policy),
    changes,
    keptIds: [],
  });
});

it('[P.projects] the same claim is applied again if the entry may assign other projects', () => {
  const [acme, beta] = [{ mayAssign: new Set(['acme-*']) }, { mayAssign: new Set(['k']) }];
  const stored = { digest: decide([], { projects: [] }, acme)?.digest, projects: [member(EDITOR)] };
  expect(decide([], stored, acme)).toBeUndefined();
  expect(decide([], stored, beta)?.changes).toHaveLength(1);
});

it.each([[CLAIMED], [[]]])(
  '[D134] the last administrator by a claim keeps the role with the claim %j',
  (claimed) => {
    const projects = [member(ADMIN, IS_LAST)];
    expect(decide(claimed, { projects })).toEqual({ digest: undefined, changes: [], keptIds: ['id'] });
  },
);

it('a missing project is created only if the entry allows it', () => {
  const changes = [{ key: 'k', to: EDITOR, isClaimed: true }];
  const none = { projects: [] };
  expect(decide(CLAIMED, none, { create: true })).toEqual({
    digest: digestOf(CLAIMED, {}),
    changes,
    keptIds: [],
  });
  const context = { expected: 'the key of a project', found: 'k' };
  expect(() => decide(CLAIMED, none)).toThrow(
    expect.objectContaining({ reason: 'project_unknown', context }),
  );
});

describe('[D134] a claim that would lead to more than 100 memberships by claims', () => {
  const held = (count: number, members: object = {}) =>
    Array.from({ length: count }, (_, index) => ({
      ...member(EDITOR, members),
      id: `held-${index}`,
      key: `held-${index}`,
    }));
  const ofHeld = (count: number) => held(count).map(({ key }) => ({ key, role: EDITOR }));
  const adding = (projects: readonly HostProject[], claimed: readonly { key: string; role: string }[]) =>
    decide(claimed, { projects }, { create: true });
  const refusal = (found: string) => ({
    reason: 'too_many_projects',
    context: { expected: 'at most 100 memberships by claims', found },
  });

  it.each<[string, HostProject[], string[]]>([
    [
      'of an issuer whose memberships stay for their last administrators',
      held(100, { role: ADMIN, ...IS_LAST }),
      ['k'],
    ],
    ['of another issuer', held(100, { issuer: B }), ['k']],
    [
      'of a project in which people have made the user a member',
      [...held(100, { issuer: B }), byHand(VIEWER)],
      ['k'],
    ],
  ])('is rejected: %s', (_, projects, keys) => {
    const claimed = keys.map((key) => ({ key, role: EDITOR }));
    expect(() => adding(projects, claimed)).toThrow(expect.objectContaining(refusal('101')));
  });

  it.each<[string, HostProject[], { key: string; role: string }[]]>([
    ['the hundredth', held(99, { issuer: B }), CLAIMED],
    ['one in the place of another', held(100), [...ofHeld(99), ...CLAIMED]],
    ['a role in a project of people', [...held(99, { issuer: B }), byHand(VIEWER)], CLAIMED],
    ['what is held already', held(100), ofHeld(100)],
  ])('is not rejected for %s', (_, projects, claimed) => {
    expect(adding(projects, claimed)?.digest).toBe(digestOf(claimed, {}));
  });

  it('is always rejected if more are stored, since not all were read', () => {
    expect(() => adding(held(101), [])).toThrow(expect.objectContaining(refusal('more')));
  });
});

it('[D134] a changed claim is detected before any project is read, and its rejection is not', () => {
  expect(decide(CLAIMED, { digest: 'other' })).toEqual({ changes: [], keptIds: [] });
  expect(decide(CLAIMED, { digest: digestOf(CLAIMED, {}) })).toBeUndefined();
  const decideOnAnother = () => decide(CLAIMED, { digest: 'other' }, { mayAssign: new Set() });
  expect(decideOnAnother).toThrow('project_not_allowed');
});

it.each<[Partial<ProjectsPolicy>, string, string, string, string]>([
  [{ mayAssign: new Set(['k', 'k1-*']) }, EDITOR, 'project_not_allowed', 'k, k1-*', 'k1'],
  [{ roles: new Set([VIEWER]) }, EDITOR, 'project_role_not_allowed', VIEWER, EDITOR],
  [{}, 'owner', 'project_role_not_allowed', 'viewer, editor, admin', 'owner'],
])(
  '[P.projects] if the entry says %j the role %s is rejected: %s',
  (policy, role, reason, expected, found) => {
    const claimed = [{ key: 'k1', role }];
    // This applies even if the claim is unchanged, because the entry may have changed since.
    for (const digest of [null, digestOf(claimed, policy)])
      expect(() => decide(claimed, { digest }, policy)).toThrow(
        expect.objectContaining({ reason, context: { expected, found } }),
      );
  },
);
