// The log lines about ignored claims.
import { createLogger } from '../../../../src/platform/log/logger.js';
import type { Flow } from '../../../../src/token-exchange/endpoint/flows.js';
import { Notices } from '../../../../src/token-exchange/exchange/notices.js';
import type { ResolvedUser } from '../../../../src/token-exchange/identity/decide.js';
import type { VerifiedToken } from '../../../../src/token-exchange/verify/external-token.verifier.js';

/** Builds a token from its content. In production only the verifier does. */
const tokenOf = (kid: string) =>
  ({ key: { kid, policy: { issuer: 'https://a.example', label: `entry-${kid}` } } }) as VerifiedToken;
type Claims = Pick<ResolvedUser, 'ignoredRole' | 'keptProjects'>;
const ofRole: Claims = { ignoredRole: { expected: 'member' } };
const ignored = { reason: 'role_ignored', expected: 'member' };
const kept = { reason: 'project_administrator_kept', expected: 'another administrator of the project' };
const [subject, actor] = [
  { userId: 's', party: 'subject' },
  { userId: 'a', party: 'actor' },
];

it.each<[Flow, Claims, Claims | undefined, { reason: string; userId: string; found?: string }[]]>([
  ['exchange', { keptProjects: [] }, {}, []],
  ['embed', ofRole, undefined, [{ ...ignored, userId: 's' }]],
  ['exchange', {}, { keptProjects: ['p'] }, [{ ...kept, ...actor, found: 'none in p' }]],
  [
    'exchange',
    { ...ofRole, keptProjects: ['p', 'q'] },
    {},
    [
      { ...ignored, ...subject },
      { ...kept, ...subject, found: 'none in p, q' },
    ],
  ],
])(
  '[4.4.role.5][D77] logs the ignored claims of %s with subject %j and actor %j',
  (flow, ofSubject, ofActor, expected) => {
    const lines: unknown[] = [];
    const notices = new Notices(createLogger('warn', { write: (line) => lines.push(JSON.parse(line)) }));
    notices.warnAfterCommit(
      { flow, requestId: 'r' },
      { subject: tokenOf('s'), actor: ofActor && tokenOf('a') },
      {
        subject: { userId: 's', changes: [], ...ofSubject },
        actor: ofActor && { userId: 'a', changes: [], ...ofActor },
      },
    );
    expect(lines).toEqual(
      expected.map((members) => ({
        ...{ level: 'warn', time: expect.any(String), requestId: 'r', flow, issuer: 'https://a.example' },
        ...{ kid: members.userId, entry: `entry-${members.userId}`, ...members },
        msg: expect.stringMatching(`#${members.reason}$`),
      })),
    );
  },
);
