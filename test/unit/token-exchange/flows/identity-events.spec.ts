// Which events the trail has of what a token changed.
import { identityEvents } from '../../../../src/token-exchange/flows/identity-events.js';
import type { IdentityChange } from '../../../../src/token-exchange/users/apply.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const issuer = 'https://a.example';
const userId = 'u';
const projects = { added: ['p'], changed: [], removed: ['q'] };
const context = { occurredAt: new Date(), requestId: 'r', subjectUserId: userId, actorUserId: 'a' };

it.each<[string, IdentityChange, [name: string, payload: object][]]>([
  ['[6.5]', { kind: 'user-provisioned', userId, role: 'member' }, [['user-provisioned', { role: 'member' }]]],
  [
    '[6.6]',
    { kind: 'identity-linked', userId, role: 'member', isPrivileged: false },
    [['identity-linked', {}]],
  ],
  [
    '[6.6][D54]',
    { kind: 'identity-linked', userId, role: 'owner', isPrivileged: true },
    [
      ['identity-linked', {}],
      ['privileged-identity-linked', { role: 'owner' }],
    ],
  ],
  [
    '[6.7]',
    { kind: 'role-updated', userId, from: 'member', to: 'admin' },
    [['role-updated', { from: 'member', to: 'admin' }]],
  ],
  [
    '[D21]',
    { kind: 'profile-updated', userId, fields: ['givenName'] },
    [['profile-updated', { fields: ['givenName'] }]],
  ],
  ['[D136]', { kind: 'projects-updated', userId, ...projects }, [['projects-updated', projects]]],
])('%s %j', (_, change, events) => {
  /** Only the verifier makes such a token; here what it has read is given. */
  const token = { key: { policy: { issuer } } } as VerifiedToken;
  expect(identityEvents(context, token, { userId, changes: [change, change] })).toEqual(
    [...events, ...events].map(([name, payload]) => ({
      ...context,
      name: `svc.audit.token-exchange.${name}`,
      payload: { issuer, userId, ...payload },
    })),
  );
});
