// Conflicts of stored entries with configured entries and with each other.
import { Partner } from '../../../../../demo/partner.js';
import { checkStoredEntries } from '../../../../../src/token-exchange/trust/stored/stored-entry.js';
import { readTrustedKeys } from '../../../../../src/token-exchange/trust/trusted-key-entry.js';

const RULES = { assignableRoles: ['global:member'], allowHttp: false, defaults: 'contract' as const };
const ROLE_RULES = { ...RULES, assignableRoles: ['member', 'admin'], privilegedRoles: ['owner', 'admin'] };
const key = Partner.create({ issuer: 'https://any.example' }).publicKeyPem();
const fixed = (issuer: string, kid: string, name?: string) => {
  return { type: 'static', algorithms: ['ES256'], key, issuer, kid, name };
};
const keySet = (url: string, name?: string) => ({ type: 'jwks', issuer: 'https://a.example', url, name });
const A = 'https://a.example';

/** The row of an entry, which an owner has stored. */
const rowOf = (name: string, text: string, isOwners = true) => {
  const at = new Date(0);
  return { name, text, createdAt: at, changedAt: at, isOwners, revision: '1' };
};

/** The problem of each stored entry; undefined if it is accepted. */
function problemsOf(
  stored: readonly { name?: string }[],
  configured: readonly object[] = [],
  rules: Parameters<typeof checkStoredEntries>[1]['rules'] = RULES,
) {
  const { entries, problems } = readTrustedKeys(JSON.stringify(configured), RULES);
  expect(problems).toEqual([]);
  const rows = stored.map((entry) => rowOf(entry.name ?? '', JSON.stringify(entry)));
  const judged = checkStoredEntries(rows, { configured: entries, rules });
  expect(
    judged.map(({ entry, problems: found }) => (entry === undefined) === found.length > 0),
  ).not.toContain(false);
  return judged.flatMap((one) => one.problems.map((problem) => [one.stored.name, problem]));
}

it.each([
  ['another kid', [fixed(A, 'k2', 's')], [fixed(A, 'k1')]],
  ['the name of a configured one', [fixed(A, 'k2', 'same')], [fixed(A, 'k1', 'same')]],
  ['the issuer of a key set', [fixed(A, 'k1', 's')], [keySet('https://a.example/1')]],
])('[D70] accepted: %s', (_, stored, configured) => {
  expect(problemsOf(stored, configured)).toEqual([]);
});

it.each([
  ['issuer and kid', [fixed(A, 'k1', 's')], [fixed(A, 'k1', 'c')]],
  ['url', [keySet('https://a.example/1#x', 's')], [keySet('https://a.example/1', 'c')]],
  [
    'issuer and url (apart from the query)',
    [keySet('https://a.example/1?x', 's')],
    [keySet('https://a.example/1', 'c')],
  ],
  ['name in logs and metrics', [fixed(A, 'k2', 's')], [fixed(A, 'k1', 'stored:s')]],
])('[D70] the configured entry wins if both have the same %s', (what, stored, configured) => {
  const label = JSON.stringify(configured[0]?.name);
  expect(problemsOf(stored, configured)).toEqual([
    ['s', `the entry: has the same ${what} as the configured entry ${label}`],
  ]);
});

it('[P.maxUsers] the configured user limit wins, then the one that was stored first', () => {
  const seated = (kid: string, maxUsers?: number) => ({ ...fixed(A, kid, kid), maxUsers });
  const stored = [
    seated('k1', 50),
    seated('k2'),
    seated('k3', 51),
    { ...seated('k4', 7), issuer: 'https://b.example' },
  ];
  const rule = (label: string) =>
    `maxUsers: must be as in the entry "${label}", which has the same issuer, or left out in one of them`;
  expect(problemsOf(stored)).toEqual([['k3', rule('stored:k1')]]);
  expect(problemsOf(stored, [seated('c', 51)])).toEqual([['k1', rule('c')]]);
});

it('[D70] the first stored entry wins', () => {
  const stored = [fixed(A, 'k1', 'first'), fixed(A, 'k1', 'second'), fixed(A, 'k2', 'third')];
  expect(problemsOf(stored)).toEqual([
    ['second', 'the entry: has the same issuer and kid as the stored entry "first"'],
  ]);
});

it('[D70] an entry of another version and invalid JSON are reported without affecting others', () => {
  const rows = [
    rowOf('later', JSON.stringify({ ...fixed(A, 'k2', 'later'), type: 'x509' })),
    rowOf('broken', '{"type":'),
    rowOf('good', JSON.stringify(fixed(A, 'k1', 'good'))),
  ];
  const judged = checkStoredEntries(rows, { configured: [], rules: RULES });
  expect(judged.map(({ problems }) => problems)).toEqual([
    ['type: must be "static" or "jwks"'],
    ['the entry: must be an object'],
    [],
  ]);
});

it('[D70] a suspended entry is known with its key, but not trusted', () => {
  const stored = rowOf('s', JSON.stringify({ ...fixed(A, 'k1', 's'), suspended: true }));
  const [judged] = checkStoredEntries([stored], { configured: [], rules: RULES });
  expect(judged?.entry).toMatchObject({ suspended: true, key: { policy: { suspended: true } } });
});

it.each([fixed(A, 'k1', 's'), keySet('https://a.example/1', 's')])(
  "[D144] an administrator's entry is not the owner's, for the type $type",
  (given) => {
    const whose = [true, false].map((isOwners) => {
      const stored = rowOf('s', JSON.stringify(given), isOwners);
      const [judged] = checkStoredEntries([stored], { configured: [], rules: ROLE_RULES });
      const entry = judged?.entry;
      const policy = entry?.type === 'static' ? entry.key.policy : entry;
      return [policy?.byAdministrator ?? false, policy?.allowedRoles && [...policy.allowedRoles]];
    });
    expect(whose).toEqual([
      [false, undefined],
      [true, ['member']],
    ]);
  },
);

it.each([fixed(A, 'k1', 's'), keySet('https://a.example/1', 's')])(
  "[D144] an administrator's entry cannot assign a privileged role, for the type $type",
  (given) => {
    const problemsOf = (allowedRoles: string[], isOwners: boolean) => {
      const stored = rowOf('s', JSON.stringify({ ...given, allowedRoles }), isOwners);
      return checkStoredEntries([stored], { configured: [], rules: ROLE_RULES }).map((one) => [
        one.problems,
        one.entry === undefined,
      ]);
    };
    const problem = 'allowedRoles: only the owner stores an entry that assigns admin';
    expect(problemsOf(['member', 'admin'], false)).toEqual([[[problem], true]]);
    for (const fine of [problemsOf(['member', 'admin'], true), problemsOf(['member'], false)])
      expect(fine).toEqual([[[], false]]);
  },
);
