// What is logged of claims that do not count.
import { Notices } from '../../../../src/token-exchange/flows/notices.js';
import type { Flow } from '../../../../src/token-exchange/host/flow.js';
import type { ResolvedUser } from '../../../../src/token-exchange/users/apply.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';
import { createLogger } from '../../../../src/platform/log/logger.js';

/** Only the verifier makes such a token; here what it has read is given. */
const tokenOf = (kid: string) =>
  ({ key: { kid, policy: { issuer: 'https://a.example', label: `entry-${kid}` } } }) as VerifiedToken;
const user = (userId: string, more: Partial<ResolvedUser> = {}) => ({ userId, changes: [], ...more });
const ofRole = { ignoredRole: { expected: 'member' } };
const ofKept = { reason: 'project_administrator_kept', expected: 'another administrator of the project' };

interface Warning {
  readonly reason: string;
  readonly party?: string;
  readonly userId: string;
  readonly expected: string;
  readonly found?: string;
}

it.each<[string, Flow, ResolvedUser, ResolvedUser | undefined, Warning[]]>([
  ['nothing', 'exchange', user('s', { keptProjects: [] }), user('a'), []],
  [
    'the role of a login',
    'embed',
    user('s', ofRole),
    undefined,
    [{ reason: 'role_ignored', userId: 's', expected: 'member' }],
  ],
  [
    'a project of the actor',
    'exchange',
    user('s'),
    user('a', { keptProjects: ['p'] }),
    [{ ...ofKept, party: 'actor', userId: 'a', found: 'none in p' }],
  ],
  [
    'role and projects of the subject',
    'exchange',
    user('s', { ...ofRole, keptProjects: ['p', 'q'] }),
    user('a'),
    [
      { reason: 'role_ignored', party: 'subject', userId: 's', expected: 'member' },
      { ...ofKept, party: 'subject', userId: 's', found: 'none in p, q' },
    ],
  ],
])('[4.4.role.5][D52] %s', (_, flow, subject, actor, expected) => {
  const lines: unknown[] = [];
  const notices = new Notices(createLogger('warn', { write: (line) => lines.push(JSON.parse(line)) }));
  const tokens = { subject: tokenOf('s'), actor: actor && tokenOf('a') };
  notices.warnOfClaims({ flow, requestId: 'r' }, tokens, { subject, actor });
  expect(lines).toEqual(
    expected.map((members) => ({
      ...{ level: 'warn', time: expect.any(String), requestId: 'r', flow, issuer: 'https://a.example' },
      ...{ kid: members.userId, entry: `entry-${members.userId}`, ...members },
      msg: expect.stringMatching(`#${members.reason}$`),
    })),
  );
});
