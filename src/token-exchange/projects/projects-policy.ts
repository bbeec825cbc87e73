// The property `projects` of a trusted key entry: the projects and roles that its tokens may give.
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { CLAIM_NAMES } from '../trust/claim-names.js';
import type { ValuesOf } from '../trust/entry-kinds.js';
import { Fault, flag, isText, list, structure, text } from '../trust/entry-kinds.js';
import type { TrustedKeysRules } from '../trust/entry-rules.js';

/** Of the external key of a project. */
export const MAX_KEY_CHARACTERS = 128;

const TAKEN: ReadonlySet<string> = new Set(CLAIM_NAMES);

const projectRoles = ({ projectRoles: roles = [] }: TrustedKeysRules) => roles;

const MEMBERS = {
  mayAssign: list(
    {
      each: keyPatternOf,
      must: `must be a list of keys of at most ${MAX_KEY_CHARACTERS} characters, * only at the end`,
      least: 1,
    },
    {
      label: 'Projects that tokens may name',
      rule: 'external keys of projects, in full, or with one `*` at the end for any rest',
      unsaid: 'every project of the issuer',
      required: 'strictly',
    },
  ),
  roles: list(
    {
      values: projectRoles,
      each: (role, rules) => projectRoles(rules).find((known) => known === role),
      must: (rules) => `must be a list of some of ${projectRoles(rules).join(', ')}`,
    },
    {
      label: 'Roles in projects that tokens may assign',
      rule: 'roles of members of a project',
      unsaid: 'every role',
      required: 'strictly',
    },
  ),
  create: flag({
    label: 'Tokens may create projects',
    rule: 'a token creates a project that is missing',
    open: false,
  }),
  claim: text(
    { label: 'Name of the claim', rule: 'a claim that has no other meaning', open: 'projects' },
    (claim) => (TAKEN.has(claim) ? new Fault('must not be a claim that has a meaning already') : claim),
  ),
};

type Members = ValuesOf<typeof MEMBERS>;
export type ProjectsPolicy = Members & Required<Pick<Members, 'claim' | 'create'>>;

export const PROJECTS = structure<typeof MEMBERS, ProjectsPolicy>(
  MEMBERS,
  {
    label: 'Projects',
    rule: 'what [projects](../partner/projects.md) tokens may assign',
    unsaid: 'the claim is ignored',

    fault: (_projects, rules) =>
      rules.projectRoles === undefined ? 'is for hosts with projects, and this one has none' : undefined,
    words(projects) {
      if (projects === undefined) return undefined;
      const { mayAssign: keys, roles, create } = projects;
      const which = keys === undefined ? 'every project of its issuer' : `projects ${[...keys].join(', ')}`;
      const as = roles === undefined ? 'in every role' : `as ${[...roles].join(', ')}`;
      return `may put users into ${which} ${as}${create ? ', and create projects' : ''}`;
    },
  },
  ({ claim = 'projects', create = false, ...others }) => ({ ...others, claim, create }),
);

/** Whether a list contains a key, or a prefix of it before `*`. */
export function mayAssign({ mayAssign: patterns }: ProjectsPolicy, key: string): boolean {
  if (patterns === undefined || patterns.has(key)) return true;
  return [...patterns].some((pattern) => pattern.endsWith('*') && key.startsWith(pattern.slice(0, -1)));
}

function keyPatternOf(text: string): string | undefined {
  const isGood =
    isText(text) && !hasMoreCharacters(text, MAX_KEY_CHARACTERS) && !text.slice(0, -1).includes('*');
  return isGood ? text : undefined;
}
