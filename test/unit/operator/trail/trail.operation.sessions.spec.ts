// The history of live sessions, from what the trail has of their logins and ends.
import { liveSessions } from '../../../../src/operator/trail/trail.operation.js';

const LIFE_MS = 100;
const EXCHANGE = 'svc.audit.token-exchange';

const at = (ms: number, event: string, payload: object, user = 'ada') => ({
  event,
  occurredAt: new Date(ms),
  subjectUserId: user,
  payload: payload as Record<string, unknown>,
});
const login = (ms: number, sessionFamilyId: string, user = 'ada', kid = 'k1') =>
  at(ms, `${EXCHANGE}.embed-login`, { issuer: 'https://p.example', kid, sessionFamilyId }, user);
const counted = (events: Parameters<typeof liveSessions>[0]) =>
  liveSessions(events, LIFE_MS, [5, 50, 99, 150, 250]);

it.each([
  ['a session lives as long as is set', [], [0, 1, 1, 0, 0]],
  ['a renewal goes on with it, and counts once', [login(90, 'f')], [0, 1, 1, 1, 0]],
  ['another session counts beside it', [login(40, 'g', 'ben')], [0, 2, 2, 0, 0]],
  ['its end ends it', [at(60, 'svc.audit.session.ended', { sessionFamilyIds: ['f'] })], [0, 1, 0, 0, 0]],
  [
    'the end of another does not',
    [at(60, 'svc.audit.session.ended', { sessionFamilyIds: ['x'] })],
    [0, 1, 1, 0, 0],
  ],
  ['a sign-out of its user ends it', [at(60, `${EXCHANGE}.user-signed-out`, {})], [0, 1, 0, 0, 0]],
  ['that of another does not', [at(60, `${EXCHANGE}.user-signed-out`, {}, 'ben')], [0, 1, 1, 0, 0]],
  ['so does the end of trust in its key', [revoked('k1')], [0, 1, 0, 0, 0]],
  ['or in its issuer', [revoked()], [0, 1, 0, 0, 0]],
  ['but not in another key', [revoked('k2')], [0, 1, 1, 0, 0]],
  ['a login after an end begins anew', [revoked(), login(80, 'f')], [0, 1, 1, 1, 0]],
])('%s', (_, more, expected) => {
  expect(counted([...more, login(10, 'f')])).toEqual(expected);
});

function revoked(kid?: string) {
  return at(60, `${EXCHANGE}.trust-revoked`, { issuer: 'https://p.example', ...(kid && { kid }) });
}
