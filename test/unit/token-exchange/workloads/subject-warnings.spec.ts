// Which subjects of jobs and services get a warning because they admit more than their author may mean, and which do not.
import type { ClaimValue } from '../../../../src/token-exchange/workloads/workload-policy.js';
import {
  matchesSubject,
  subjectPatternOf,
} from '../../../../src/token-exchange/workloads/workload-policy.js';
import { subjectWarnings } from '../../../../src/token-exchange/workloads/subject-warnings.js';
import { describeWithVectors } from '../../../support/vectors.js';

type Claims = Readonly<Record<string, ClaimValue>>;

function warningsOf(subjects: readonly string[], claims: Claims = {}): string[] {
  return subjectWarnings({ subjects: new Set(subjects), claims: new Map(Object.entries(claims)) });
}

const REPOSITORY = { repository_id: '74' };
const PROJECT = { project_id: '20' };

describe('[P.subjects] a subject that admits more than its author may mean gets a warning with a safer one', () => {
  it.each<[string, Claims, string, string]>([
    ['repo:o/r:*', REPOSITORY, 'also admits pull requests', 'write repo:o/r:ref:refs/heads/main'],
    ['repo:o/r:pull*', REPOSITORY, 'also admits pull requests', 'write repo:o/r:ref:refs/heads/main'],
    ['repo:o/r:pull_request', REPOSITORY, 'also admits pull requests', 'write repo:o/r:ref:refs/heads/main'],
    ['repo:o@1/r@2:pull_request', {}, 'also admits pull requests', 'write repo:o@1/r@2:ref:refs/heads/main'],
    ['repo:o/r', REPOSITORY, 'names no branch', 'write repo:o/r:ref:refs/heads/main'],
    [
      'repo:o/*:ref:refs/heads/main',
      {},
      'admits every repository',
      'write repo:o/REPOSITORY:ref:refs/heads/main',
    ],
    [
      'repo:o/r*:ref:refs/heads/main',
      {},
      'admits every repository',
      'write repo:o/REPOSITORY:ref:refs/heads/main',
    ],
    ['repo:*/r:ref:refs/heads/main', {}, 'admits every account', 'write the account in full'],
    ['repo:o/r:ref:refs/heads/*', REPOSITORY, 'admits every branch', 'write repo:o/r:ref:refs/heads/main'],
    ['repo:o/r:ref:refs/*/main', REPOSITORY, 'admits every branch', 'write repo:o/r:ref:refs/heads/main'],
    ['repo:o/r:environment:*', REPOSITORY, 'admits every branch', 'write repo:o/r:environment:production'],
    [
      'repo:o/r:ref:refs/heads/main*',
      REPOSITORY,
      'admits longer names',
      'write repo:o/r:ref:refs/heads/main',
    ],
    ['repo:o/r:environment:Prod*', REPOSITORY, 'admits longer names', 'write repo:o/r:environment:Prod'],
    ['repo:o/r:environment:a%3Ab', REPOSITORY, 'has an encoded separator', 'add the claim environment'],
    ['environment:prod:repository_owner:o', {}, 'names no repository', 'add the claim repository_id'],
    [
      'job_workflow_ref:o/r/.github/workflows/a.yml@refs/heads/main',
      {},
      'names no repository',
      'add the claim',
    ],
    ['repo:o/r:ref:refs/heads/main', {}, 'has a name that another may get', 'add the claim repository_id'],
    [
      'repo:o@*/r@*:ref:refs/heads/main',
      {},
      'has a name that another may get',
      'add the claim repository_id',
    ],
    [
      'project_path:g/p:ref_type:branch:ref:main',
      {},
      'has a name that another may get',
      'add the claim project_id',
    ],
    [
      'project_path:g/*:ref_type:branch:ref:main',
      {},
      'admits every project',
      'write project_path:g/PROJECT:ref_type:branch:ref:main',
    ],
    [
      'project_path:g/p:ref_type:*:ref:main',
      PROJECT,
      'admits tags',
      'write project_path:g/p:ref_type:branch:ref:main',
    ],
    [
      'project_path:g/p:ref_type:branch:ref:*',
      PROJECT,
      'admits every branch',
      'write project_path:g/p:ref_type:branch:ref:main',
    ],
    [
      'project_id:20:ref_type:branch:ref:*',
      {},
      'admits every branch',
      'write project_id:20:ref_type:branch:ref:main',
    ],
    [
      'organization:o:project:p:workspace:w:run_phase:apply',
      {},
      'has a name that another may get',
      'add the claim terraform_workspace_id',
    ],
    [
      'organization:o:project:p:workspace:*:run_phase:apply',
      {},
      'admits every workspace',
      'write the workspace in full',
    ],
    [
      'organization:o:project:p:workspace:w:run_phase:*',
      {},
      'admits plans',
      'write organization:o:project:p:workspace:w:run_phase:apply',
    ],
    ['system:serviceaccount:ci:*', {}, 'admits every account', 'write the namespace and the account in full'],
    [
      'system:serviceaccount:*:deployer',
      {},
      'admits every account',
      'write the namespace and the account in full',
    ],
    ['org/1/project/*/user/2', {}, 'admits every project', 'write the project in full'],
    ['org/1/project/2/user/*', {}, 'admits every user', 'write the user in full'],
    ['{1}:*', {}, 'admits every branch', 'write {1}:{ENVIRONMENT}:*'],
    ['job-*', {}, 'admits every account', 'write the account in full'],
  ])('%s with the claims %j', (subject, claims, admits, safer) => {
    const warnings = warningsOf([subject], claims);
    const found = warnings.filter((warning) => warning.startsWith(`${subject} ${admits}`));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`: ${safer}`);
  });
});

it.each<[string, Claims]>([
  ['repo:o/r:ref:refs/heads/main', REPOSITORY],
  ['repo:o@1/r@2:ref:refs/heads/main', {}],
  ['repo:o@*/r@2:ref:refs/heads/main', {}],
  ['repo:o/r:ref:refs/heads/release-*', REPOSITORY],
  ['repo:o/r:ref:refs/heads/release/*', REPOSITORY],
  ['repo:o/r:ref:refs/tags/v1.*', REPOSITORY],
  ['repo:o/r:environment:production', REPOSITORY],
  ['repo:o/r:pull_request', { ...REPOSITORY, event_name: 'pull_request' }],
  ['repo:o/r:*', { ...REPOSITORY, ref: 'refs/heads/main' }],
  ['repository_id:74:environment:prod', {}],
  ['environment:prod:repository:o/r', REPOSITORY],
  ['project_path:g/p:ref_type:branch:ref:main', PROJECT],
  ['project_path:g/p:ref_type:branch:ref:*', { ...PROJECT, ref_protected: 'true' }],
  ['project_id:20:ref_type:branch:ref:main', {}],
  ['system:serviceaccount:ci:deployer', {}],
  ['org/1/project/2/user/3', {}],
  ['{1}:{2}:*', {}],
  ['organization:o:project:p:workspace:w:run_phase:apply', { terraform_workspace_id: 'ws-1' }],
  ['somebody', {}],
])('[P.subjects] %s with the claims %j gets no warning', (subject, claims) => {
  expect(warningsOf([subject], claims)).toEqual([]);
});

it('[P.subjects] one warning has all subjects of a kind, without an e-mail address', () => {
  const subjects = ['repo:o/a:*', 'repo:o/b:*', 'repo:ada@example.com/r:*', 'repo:o/c:*'];
  const [warning, ...others] = warningsOf(subjects, REPOSITORY);
  expect(others).toEqual([]);
  expect(warning).toMatch(
    /^repo:o\/a:\*, repo:o\/b:\*, \(not shown: [^)]+\) and 1 more also admit pull requests/,
  );
  expect(warning).not.toContain('example.com');
});

/** A condition of another verifier, as the vectors write it. */
interface Condition {
  readonly consumer: string;
  readonly claim?: string;
  readonly pattern?: string | readonly string[];
  readonly of?: readonly Condition[];
}
interface Vector {
  readonly id: string;
  readonly subject: string;
  readonly condition: Condition;
  readonly judgment?: { readonly grade: string; readonly patterns: readonly string[] };
}

/** What an entry could say of the condition: each claim with its values. */
function clausesOf({ consumer, claim = 'sub', pattern = [], of = [] }: Condition): [string, string[]][] {
  if (consumer === 'aws-all') return of.flatMap(clausesOf);
  if (consumer.startsWith('azure-fic-flexible'))
    return [...String(pattern).matchAll(/claims\['(\w+)'\] (?:eq|matches) '([^']*)'/g)].map(
      ([, name = '', value = '']) => [name, [value]],
    );
  if (consumer === 'gcp-cel')
    return [...String(pattern).matchAll(/assertion\.(\w+) ?== ?'([^']*)'/g)].map(
      ([, name = '', value = '']) => [name, [value]],
    );
  return [[claim, [pattern].flat()]];
}

/** An entry with the condition of a vector; undefined if no entry can have its subjects. */
function entryOf({ condition }: Vector): { subjects: string[]; claims: Claims } | undefined {
  const clauses = clausesOf(condition);
  const subjects = clauses.filter(([name]) => name === 'sub').flatMap(([, values]) => values);
  const others = clauses.filter(([name]) => !['sub', 'aud'].includes(name));
  const isReadable = subjects.length > 0 && subjects.every((one) => subjectPatternOf(one) !== undefined);
  if (!isReadable) return undefined;
  return { subjects, claims: Object.fromEntries(others.map(([name, [value = '']]) => [name, value])) };
}

const SUITES = [
  ...['bitbucket-aws', 'circleci-aws', 'circleci-gcp', 'github-aws', 'github-azure', 'github-azure-flexible'],
  ...['github-gcp', 'gitlab-aws', 'gitlab-azure', 'gitlab-azure-flexible', 'gitlab-gcp', 'terraform-aws'],
  ...['terraform-azure-flexible', 'terraform-gcp'],
];

/** Reasons of the vectors that are about a name without an id. */
const FOR_NAMES = ['name-based', 'no-id-pin', 'no-project-id-pin', 'path-based', 'path-only', 'path-reuse'];
/** Reasons of vectors that name one tag, environment or workflow, and so admit what they say. */
const EXACT = ['tag-ref', 'environment-scoped', 'reusable-workflow'];

describeWithVectors('[P.subjects] the conditions of subvectors', 'subvectors', (vectors) => {
  const all = SUITES.flatMap(
    (suite) => vectors.json<{ vectors: Vector[] }>(`subvectors/${suite}.json`).vectors,
  );
  const admitted = all.flatMap((vector) => {
    const entry = entryOf(vector);
    const admits = entry !== undefined && matchesSubject(new Set(entry.subjects), vector.subject);
    return admits ? [{ ...vector, ...entry }] : [];
  });
  const graded = (...grades: string[]) =>
    admitted.filter(({ judgment }) => grades.includes(judgment?.grade ?? ''));

  /** Said of every subject with a name and without an id. */
  const NAME = /another may get after a rename|others may get after a rename/;

  it('of which many can be those of an entry', () => {
    expect(all.length).toBeGreaterThanOrEqual(163);
    expect(graded('dangerous', 'caution').length).toBeGreaterThanOrEqual(44);
    expect(graded('safe').length).toBeGreaterThanOrEqual(24);
  });

  it('get a warning if they are dangerous or need caution, and one about more than the name if they admit more', () => {
    const silent = graded('dangerous', 'caution').filter(({ subjects, claims, judgment }) => {
      const isExact =
        judgment?.patterns.some((one) => [...FOR_NAMES, ...EXACT].includes(one)) === true &&
        !subjects.some((subject) => /[*%]/.test(subject));
      return warningsOf(subjects, claims).every((warning) => !isExact && NAME.test(warning));
    });
    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  it('get none if they are safe, but for names and encoded separators', () => {
    const loud = graded('safe').flatMap(({ id, subjects, claims }) =>
      warningsOf(subjects, claims)
        .filter((warning) => !NAME.test(warning) && !warning.includes('encoded separator'))
        .map((warning) => `${id}: ${warning}`),
    );
    expect(loud).toEqual([]);
  });
});
