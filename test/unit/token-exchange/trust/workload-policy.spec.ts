// Which entries for jobs and services are read, and what is said of the others.
import type { Members } from '../../../../demo/partner.js';
import { Partner } from '../../../../demo/partner.js';
import type { PolicyDefaults } from '../../../../src/token-exchange/trust/entry-rules.js';
import { readTrustedKeys } from '../../../../src/token-exchange/trust/trusted-key-entry.js';

const partner = Partner.create({ issuer: 'https://jobs.example', audience: 'https://instance.example' });
const USER = '6f1c8a52-2f0e-4c2b-9a35-0d6c1e0c7b11';
const GOOD = {
  flows: ['exchange', 'jwt-bearer'],
  subjects: ['repo:acme/app:ref:refs/heads/*'],
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

it.each<PolicyDefaults>(['contract', 'strict'])('[P.signInAs] is read by the defaults %s', (defaults) => {
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
  ['subjects', { subjects: undefined }, /is required beside signInAs/],
  ['expectedAudience', { expectedAudience: undefined }, /is required beside signInAs/],
  ['scopes', { scopes: undefined }, /is required beside signInAs/],
  ['flows', { flows: undefined }, /must list only "exchange" and "jwt-bearer"/],
  ['flows', { flows: ['exchange', 'embed'] }, /must list only "exchange" and "jwt-bearer"/],
  ['flows', { flows: ['exchange', 'id-jag'] }, /must list only "exchange" and "jwt-bearer"/],
  ['allowedRoles', { allowedRoles: [] }, /must not stand beside signInAs/],
  ['provisionUsers', { provisionUsers: false }, /must not stand beside signInAs/],
  ['excludeOwner', { excludeOwner: false }, /must not stand beside signInAs/],
  ['signInAs', { signInAs: 'deploy@example.com' }, /must be the id of a user, not an e-mail address/],
  ['signInAs', { signInAs: 7 }, /must be a non-empty string/],
  ['subjects', { subjects: [] }, /must be an array of 1 to 100 texts/],
  ['subjects', { subjects: ['a*b*'] }, /must be an array of 1 to 100 texts/],
  ['subjects', { subjects: Array.from({ length: 101 }, (_, index) => `job-${index}`) }, /at most 100/],
  ['claims', { claims: {} }, /must be an object of at least one claim/],
  ['claims', { claims: ['repository_id'] }, /must be an object of at least one claim/],
  ['claims', { claims: { repository_id: null } }, /must be an object of at least one claim/],
  ['claims', { claims: { repository_id: ['74'] } }, /must be an object of at least one claim/],
  // It would stand for 9007199254740992 as well.
  ['claims', { claims: { repository_id: 2 ** 53 } }, /a number up to 9007199254740991/],
  ['claims', { claims: { aud: 'x' } }, /must not have aud, which is checked by itself/],
])('[P.signInAs][P.subjects][P.claims] %s: %j is a problem', (member, change, message) => {
  const { entries, problems } = reading(change);
  expect(entries).toEqual([]);
  expect(problems.filter((problem) => problem.startsWith(`entry 0, ${member}: `)).join()).toMatch(message);
});

it('[P.subjects] warns of a pattern that leaves the account open', () => {
  const { warnings } = reading({ subjects: ['repo:*/app:ref:refs/heads/main'] });
  expect(warnings).toEqual([expect.stringMatching(/^entry 0, subjects: .*anybody with an account/)]);
});

it('[P.subjects][P.claims] stand without signInAs too', () => {
  const { problems } = reading({ signInAs: undefined, flows: undefined });
  expect(problems).toEqual([]);
});
