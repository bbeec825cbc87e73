// Finds subjects that allow more jobs than their author may intend, by the documented formats of platforms.
import type { PolicyMembers } from '../trust/policy-rows.js';
import { leavesAccountOpen, shownPatterns, shownSubject } from './workload-policy.js';

/** A kind of subject that allows more than its author may intend. */
interface BroadSubject {
  readonly isOne: (subject: string) => boolean;
  /** Claims of the entry that restrict such a subject enough. */
  readonly narrowedBy?: readonly string[];
  /** What one such subject allows, and what several do. */
  readonly admits: readonly [one: string, several: string];
  /** What to do instead, for one subject. */
  readonly safer: (subject: string) => string;
}

const like = (pattern: RegExp) => (subject: string) => pattern.test(subject);
const write = (pattern: RegExp, replacement: string) => (subject: string) =>
  `write ${shownSubject(subject.replace(pattern, replacement))}`;
const advice = (text: string) => () => text;
const admit = (what: string) => [`admits ${what}`, `admit ${what}`] as const;

/** Claims that name what started the job of GitHub or GitLab. */
const EVENT_CLAIMS = ['ref', 'ref_protected', 'event_name', 'environment'];
const TO_MAIN = write(/^([^:]+:[^:]+).*/, '$1:ref:refs/heads/main');
const REUSED_NAME = [
  'has a name that another may get after a rename or a deletion',
  'have names that others may get after a rename or a deletion',
] as const;

const GITHUB: readonly BroadSubject[] = [
  {
    isOne: like(/^repo:[^:]+:(pull_request|[^:]*\*[^:]*)$/),
    narrowedBy: EVENT_CLAIMS,
    admits: [
      'also admits pull requests, before anybody reviews them',
      'also admit pull requests, before anybody reviews them',
    ],
    safer: TO_MAIN,
  },
  {
    isOne: like(/^repo:[^:]+$/),
    narrowedBy: EVENT_CLAIMS,
    admits: [
      'names no branch and admits every job, also of pull requests',
      'name no branch and admit every job, also of pull requests',
    ],
    safer: TO_MAIN,
  },
  {
    isOne: like(/^repo:[^:/]*\/[^:@]*\*/),
    narrowedBy: ['repository_id'],
    admits: admit('every repository of the account with such a name'),
    safer: write(/^(repo:[^:/]*\/)[^:]*/, '$1REPOSITORY'),
  },
  {
    isOne: (subject) =>
      /^(environment|(job_)?workflow(_ref)?|ref(_type)?|actor(_id)?|repository_owner(_id)?|event_name|context|enterprise(_id)?):/.test(
        subject,
      ),
    narrowedBy: ['repository_id'],
    admits: [
      'names no repository, so that other repositories can have it',
      'name no repository, so that other repositories can have them',
    ],
    safer: advice('add the claim repository_id (--id)'),
  },
  {
    isOne: like(/^repo:(?![^:]*@\d+([/:]|$))/),
    narrowedBy: ['repository_id'],
    admits: REUSED_NAME,
    safer: advice('add the claim repository_id (--id)'),
  },
];

const GITLAB: readonly BroadSubject[] = [
  {
    isOne: like(/^project_path:[^:]*\*/),
    narrowedBy: ['project_id'],
    admits: admit('every project of the group with such a name'),
    safer: write(/^(project_path:(?:[^:*/]*\/)*)[^:]*/, '$1PROJECT'),
  },
  {
    isOne: like(/:ref_type:[^:]*\*/),
    narrowedBy: ['ref_type'],
    admits: admit('tags as well as branches'),
    safer: write(/:ref_type:[^:]*/, ':ref_type:branch'),
  },
  {
    isOne: like(/^project_path:/),
    narrowedBy: ['project_id'],
    admits: REUSED_NAME,
    safer: advice('add the claim project_id (--id)'),
  },
];

/** In subjects of GitHub and GitLab. */
const REFS: readonly BroadSubject[] = [
  {
    isOne: like(/:ref:(refs\/\*|refs\/[^/:]+\/\*|\*)(?=[/:]|$)|:environment:\*(?=:|$)/),
    narrowedBy: EVENT_CLAIMS,
    admits: admit('every branch, tag or environment, whoever creates it'),
    safer: (subject) =>
      subject.includes(':environment:')
        ? write(/:environment:\*/, ':environment:production')(subject)
        : write(
            /(:ref:(?:refs\/)?)[^:]*/,
            subject.includes(':ref:refs/') ? '$1heads/main' : '$1main',
          )(subject),
  },
  {
    isOne: like(/:(ref|environment):[^:]*[A-Za-z\d]\*(?=[/:]|$)/),
    narrowedBy: EVENT_CLAIMS,
    admits: admit('longer names too, which anybody who may push can choose'),
    safer: write(/\*(?=[/:]|$)/g, ''),
  },
  {
    isOne: like(/%(3A|2F)/i),
    narrowedBy: EVENT_CLAIMS,
    admits: [
      'has an encoded separator, and a name with this very encoding gets the same subject',
      'have an encoded separator, and names with this very encoding get the same subject',
    ],
    safer: advice('add the claim environment'),
  },
];

const OTHERS: readonly BroadSubject[] = [
  {
    isOne: leavesAccountOpen,
    narrowedBy: ['repository_id', 'project_id'],
    admits: admit('every account at the issuer with such a name'),
    safer: advice('write the account in full'),
  },
  {
    isOne: like(/^organization:.*:(project|workspace):[^:]*\*/),
    narrowedBy: ['terraform_workspace_id'],
    admits: admit('every workspace with such a name'),
    safer: advice('write the workspace in full'),
  },
  {
    isOne: like(/^organization:.*:run_phase:[^:]*\*/),
    narrowedBy: ['terraform_run_phase'],
    admits: admit('plans as well as what is applied'),
    safer: write(/:run_phase:[^:]*/, ':run_phase:apply'),
  },
  {
    isOne: like(/^organization:/),
    narrowedBy: ['terraform_workspace_id'],
    admits: REUSED_NAME,
    safer: advice('add the claim terraform_workspace_id'),
  },
  {
    isOne: like(/^system:serviceaccount:.*\*/),
    admits: admit('every account with such a name'),
    safer: advice('write the namespace and the account in full'),
  },
  {
    isOne: like(/^org\/[^/]+\/project\/[^/]*\*/),
    admits: admit('every project of the organization with such a name'),
    safer: advice('write the project in full'),
  },
  {
    isOne: like(/^org\/[^/]+\/project\/[^/]+\/user\/[^/]*\*/),
    admits: admit('every user, and every branch'),
    safer: advice('write the user in full'),
  },
  {
    isOne: like(/^\{[^{}]*\}:\*$/),
    admits: admit('every branch of the repository'),
    safer: write(/:\*$/, ':{ENVIRONMENT}:*'),
  },
];

const BROAD_SUBJECTS = [...OTHERS, ...GITHUB, ...GITLAB, ...REFS];

/** Warnings about such subjects of an entry, each with a safer alternative. */
export function subjectWarnings({ subjects, claims }: Pick<PolicyMembers, 'subjects' | 'claims'>): string[] {
  return BROAD_SUBJECTS.flatMap(({ isOne, narrowedBy = [], admits: [one, several], safer }) => {
    if (narrowedBy.some((name) => claims?.has(name))) return [];
    const broad = [...(subjects ?? [])].filter(isOne);
    const [first] = broad;
    if (first === undefined) return [];
    return `${shownPatterns(new Set(broad))} ${broad.length === 1 ? one : several}: ${safer(first)}`;
  });
}
