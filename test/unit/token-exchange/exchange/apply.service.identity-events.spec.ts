// Which events the trail has of what a token changed.
import { identityEvents } from '../../../../src/token-exchange/exchange/apply.service.js';
import type { IdentityChange } from '../../../../src/token-exchange/identity/decide.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

const issuer = 'https://a.example';
const userId = 'u';
const context = { occurredAt: new Date(), requestId: 'r', subjectUserId: userId, actorUserId: 'a' };

/** Builds a token from its content. In production only the verifier does. */
const token = { key: { policy: { issuer } } } as VerifiedToken;
const eventsOf = (...changes: IdentityChange[]) => identityEvents(context, token, { userId, changes });
const event = (name: string, payload: object) => ({
  ...{ ...context, name: `svc.audit.token-exchange.${name}` },
  payload: { issuer, userId, ...payload },
});

it('[6.5][6.7] each change causes an event with its details', () => {
  const changes = [
    { kind: 'user-provisioned', userId, role: 'member' },
    { kind: 'role-updated', userId, from: 'member', to: 'admin' },
    { kind: 'profile-updated', userId, fields: ['givenName'] },
    { kind: 'projects-updated', userId, added: ['p'], changed: [], removed: ['q'] },
  ] as const satisfies IdentityChange[];
  expect(eventsOf(...changes)).toEqual(changes.map(({ kind, ...members }) => event(kind, members)));
});

it('[6.6][D54] a link to an administrator causes one more event', () => {
  const link = { kind: 'identity-linked', userId, role: 'owner' } as const;
  const linked = event('identity-linked', {});
  expect(eventsOf({ ...link, isPrivileged: false }, { ...link, isPrivileged: true })).toEqual([
    ...[linked, linked, event('privileged-identity-linked', { role: 'owner' })],
  ]);
});
