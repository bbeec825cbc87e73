// Entries for jobs and services: valid ones, error messages, the subjects that a pattern matches, and how a `sub` is shown.
import type { Members } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import type { PolicyDefaults } from '../../../../src/token-exchange/trust/entry-rules.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';
import {
  comparedClaims,
  matchesSubject,
  shownPatterns,
  shownSubject,
  subjectPatternOf,
} from '../../../../src/token-exchange/workloads/workload-policy.js';
import { quickestMs } from '../../../support/quickest.js';

const partner = Partner.create({ issuer: 'https://jobs.example', audience: 'https://instance.example' });
const USER = '6f1c8a52-2f0e-4c2b-9a35-0d6c1e0c7b11';
const GOOD = {
  flows: ['exchange', 'jwt-bearer'],
  subjects: ['repo:acme/app:ref:refs/heads/release-*'],
  claims: { repository_id: '74', runner_id: 1, is_protected: true },
  signInAs: USER,
  scopes: ['workflow:write'],
};

function reading(change: Members, defaults: PolicyDefaults = 'contract') {
  const entry = partner.staticEntry({ ...GOOD, ...change });
  const rules = {
    assignableRoles: ['global:member'],
    allowHttp: false,
    defaults,
    userIdType: 'uuid' as const,
  };
  return readTrustedKeys(JSON.stringify([entry]), rules);
}

it.each<PolicyDefaults>(['contract', 'strict'])('[P.signInAs] is read with the %s defaults', (defaults) => {
  const { entries, problems, warnings } = reading({}, defaults);
  expect([problems, warnings]).toEqual([[], []]);
  expect(entries).toMatchObject([
    {
      signInAs: USER,
      subjects: new Set(GOOD.subjects),
      claims: new Map<string, unknown>(Object.entries(GOOD.claims)),
    },
  ]);
});

it.each<[string, Members, RegExp]>([
  ['subjects', { subjects: undefined }, /is required with signInAs/],
  ['expectedAudience', { expectedAudience: undefined }, /is required with signInAs/],
  ['scopes', { scopes: undefined }, /is required with signInAs/],
  ['flows', { flows: undefined }, /must list only "exchange" and "jwt-bearer"/],
  ['flows', { flows: ['exchange', 'embed'] }, /must list only "exchange" and "jwt-bearer"/],
  ['allowedRoles', { allowedRoles: [] }, /must not be set with signInAs/],
  ['excludeOwner', { excludeOwner: false }, /must not be set with signInAs/],
  ['signInAs', { signInAs: 'deploy@example.com' }, /must be the id of a user, not an e-mail address/],
  ['signInAs', { signInAs: 7 }, /must be a non-empty string/],
  ['subjects', { subjects: [] }, /must be a list of 1 to 100 texts/],
  ['subjects', { subjects: ['a*b*'] }, /must be a list of 1 to 100 texts/],
  ['subjects', { subjects: Array.from({ length: 101 }, (_, index) => `job-${index}`) }, /at most 100/],
  ['claims', { claims: {} }, /must be an object of at least one claim/],
  ['claims', { claims: { repository_id: null } }, /must be an object of at least one claim/],
  ['claims', { claims: { repository_id: ['74'] } }, /must be an object of at least one claim/],
  // As a number it would also equal 9007199254740992.
  ['claims', { claims: { repository_id: 2 ** 53 } }, /a number up to 9007199254740991/],
  ['claims', { claims: { aud: 'x' } }, /must not have aud, which is checked by itself/],
])('[P.signInAs][P.subjects][P.claims] %s: %j is refused', (member, change, message) => {
  const { entries, problems } = reading(change);
  expect(entries).toEqual([]);
  expect(problems.filter((problem) => problem.startsWith(`entry 0, ${member}: `)).join()).toMatch(message);
});

it.each<[string, Members | undefined, boolean]>([
  ['repo:o/r:ref:refs/heads/main', undefined, false],
  ['repo:o/r:ref:refs/heads/release-*', undefined, true],
  ['repo:o@*/r@*:ref:refs/heads/main', undefined, true],
  ['job-*', undefined, true],
  ['repo:o@*/r@74:ref:refs/heads/main', { repository_id: '74' }, false],
  ['repo:o/r:ref:refs/heads/release-*', { repository_id: '74' }, false],
  ['repo:o/r:*', { repository_id: '74' }, true],
  ['repo:o/r:ref:refs/heads/*', { repository_id: '74' }, true],
  ['*', { project_id: '20' }, true],
  ['repo:o/r:*', { repository_id: '74', ref: 'refs/heads/main' }, false],
])('[P.subjects] %s with the claims %j gets a warning: %s', (subject, claims, isWarned) => {
  const expected = `entry 0, subjects: may admit jobs that you do not mean, such as pull requests: ${subject}. `;
  const { warnings } = reading({ subjects: [subject], claims });
  expect(warnings).toEqual(isWarned ? [expect.stringContaining(expected)] : []);
});

it('[P.subjects] one warning lists all such subjects, without an e-mail address', () => {
  const subjects = ['repo:o/a:*', 'repo:o/b:*', 'repo:ada@example.com/r:*', 'repo:o/c:*', 'repo:o/d'];
  const { warnings } = reading({ subjects, claims: undefined });
  expect(warnings).toEqual([
    expect.stringMatching(/: repo:o\/a:\*, repo:o\/b:\*, \(not shown: [^)]+\) and 1 more\. /),
  ]);
  expect(warnings.join()).not.toContain('example.com');
});

it('[P.subjects][P.claims] apply without signInAs too', () => {
  const { problems } = reading({ signInAs: undefined, flows: undefined });
  expect(problems).toEqual([]);
});

const MAIN = 'repo:acme/app:ref:refs/heads/main';

it.each<[string, string, boolean]>([
  [MAIN, MAIN, true],
  [MAIN, `${MAIN}2`, false],
  ['repo:acme/*:ref:refs/heads/main', MAIN, true],
  ['repo:acme/*:ref:refs/heads/main', 'repo:acme/:ref:refs/heads/main', false],
  ['repo:acme/app:*', MAIN, false],
  ['repo:acme/app:*', 'repo:acme/app:pull_request', true],
  ['repo:*:ref:refs/heads/main', MAIN, false],
  ['repo:acme/app:ref:refs/heads/*', 'repo:acme/app:ref:refs/heads/release/1', false],
  ['repo:acme/app:ref:refs/heads/release-*', 'repo:acme/app:ref:refs/heads/release-1.2', true],
  ['repo:acme/app:ref:refs/heads/release-*', 'repo:acme/app:ref:refs/heads/release-', false],
  ['repo:acme@*/app@*:ref:refs/heads/main', 'repo:acme@12/app@34:ref:refs/heads/main', true],
  ['repo:acme@*/app@*:ref:refs/heads/main', 'repo:acme-evil@12/app@34:ref:refs/heads/main', false],
  // A separator in the pattern matches only itself.
  ['*:*', 'a/b', false],
  ['a::b', 'a::b', true],
  ['a:*:b', 'a::b', false],
  ['*', 'job', true],
  ['*', '', false],
  // No character of a pattern has another meaning.
  ['a.c', 'abc', false],
])('[P.subjects] the pattern %s and the subject %s: %s', (pattern, sub, isMatch) => {
  expect(matchesSubject(new Set(['another', pattern]), sub)).toBe(isMatch);
});

it('[P.subjects] takes linear time in the subject for any pattern', () => {
  const pattern = Array.from({ length: 60 }, () => 'a*a').join(':');
  const sub = Array.from({ length: 60 }, () => 'aaaa')
    .join(':')
    .slice(0, -1);
  const match = () => {
    for (let count = 0; count < 100; count += 1) matchesSubject(new Set([pattern]), `${sub}b`);
  };
  expect(quickestMs(500, match)).toBeLessThan(500);
});

it.each<[string, boolean]>([
  ['a*b*c', false],
  ['**', false],
  ['', false],
  ['x'.repeat(255), true],
  ['x'.repeat(256), false],
  ['nul\0', false],
])('[P.subjects] %j is a pattern: %s', (text, isOne) => {
  expect(subjectPatternOf(text) === text).toBe(isOne);
});

it.each([
  ['repo:acme@123456/flows@456789:ref:refs/heads/main', 'repo:acme@123456/flows@456789:ref:refs/heads/main'],
  [
    'repo:acme/app:ref:refs/tags/@acme/core@1.2.3-beta.1',
    'repo:acme/app:ref:refs/tags/@acme/core@1.2.3-beta.1',
  ],
  ['job\n1', 'job\\u{a}1'],
  ['j'.repeat(300), 'j'.repeat(255)],
])('[D145] %j is shown as %j', (sub, shown) => {
  expect(shownSubject(sub)).toBe(shown);
});

it.each([
  'jane@product.example',
  'repo:acme/jane@product.example:ref',
  'runner, jane@product.example',
  'Jane <jane@product.example>',
  'jane%40product.example',
  'jane@product.example.',
])('[D145] no address is shown of %s', (sub) => {
  expect(shownSubject(sub)).not.toMatch(/jane|product/);
});

it('[D145] three of many patterns are shown', () => {
  expect(shownPatterns(new Set(['a', 'b:*', 'c', 'd', 'e']))).toBe('a, b:*, c and 2 more');
});

it.each<[object, string, string]>([
  [{ id: '20', runner: 1 }, 'id, runner', 'as it says'],
  [{ id: 20, runner: 1 }, 'id 20', 'a number'],
  [{ id: '20', runner: '1' }, 'runner 1', 'a string'],
  [{ id: '20' }, 'runner 1', 'nothing'],
  [{ id: '21', runner: 2 }, 'id 20', '21'],
])('[P.claims] for a job with %j %s is expected, and %s found', (payload, ...compared) => {
  const claims = new Map<string, string | number>([
    ['id', '20'],
    ['runner', 1],
  ]);
  const found = { ...payload } as Readonly<Record<string, unknown>>;
  expect(comparedClaims({ claims, signInAs: USER }, found)).toEqual(compared);
  if (compared[0] === 'id 20') expect(comparedClaims({ claims }, found)[1]).toMatch(/^a /);
});
