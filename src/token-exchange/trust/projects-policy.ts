// The member `projects` of a trusted key entry: which projects its tokens may put their users into, and as what.
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { CLAIM_NAMES } from './claim-names.js';
import type { EntryMembers } from './entry-members.js';
import { isText } from './entry-members.js';

/** Of the external key of a project. */
export const MAX_KEY_CHARACTERS = 128;

export interface ProjectsPolicy {
  /** The name of the claim. Default `projects`. */
  readonly claim: string;
  /** External keys, exact or with one `*` at the end; undefined: any. */
  readonly mayAssign?: ReadonlySet<string>;
  /** Undefined: every role that a member of a project may have. */
  readonly roles?: ReadonlySet<string>;
  /** Whether a project that is missing is made. Default false. */
  readonly create: boolean;
}

const MEMBERS = new Set(['claim', 'mayAssign', 'roles', 'create']);
const TAKEN: ReadonlySet<string> = new Set(CLAIM_NAMES);

/** Facts of the host for the reader. */
interface ProjectsRules {
  readonly projectRoles?: readonly string[];
  readonly defaults?: string;
}

/** Without the member the claim is not read. Under the strict policy it says which projects and roles: half of P.projects. */
export function readProjects(
  members: EntryMembers,
  { projectRoles, defaults }: ProjectsRules,
): ProjectsPolicy | undefined {
  const projects = members.optionalObject('projects');
  if (projects === undefined) return undefined;
  if (projectRoles === undefined)
    members.problem('projects', 'is for hosts with projects, and this one has none');
  projects.refuseUnknown(MEMBERS, new Set());
  if (defaults === 'strict') {
    for (const member of ['mayAssign', 'roles'] as const)
      if (!projects.has(member)) projects.problem(member, 'is required by the strict policy');
  }
  const keys = `must be an array of keys of at most ${MAX_KEY_CHARACTERS} characters, * only at the end`;
  const roles = `must be an array of some of ${(projectRoles ?? []).join(', ')}`;
  return {
    claim: readClaimName(projects),
    mayAssign: projects.optionalTexts('mayAssign', keyPatternOf, keys, 1),
    roles: projects.optionalTexts('roles', (role) => projectRoles?.find((known) => known === role), roles, 1),
    create: projects.optionalBoolean('create') ?? false,
  };
}

function readClaimName(projects: EntryMembers): string {
  const claim = projects.optionalText('claim') ?? 'projects';
  if (TAKEN.has(claim)) projects.problem('claim', 'must not be a claim that has a meaning already');
  return claim;
}

/** Whether a list has a key, or the beginning of it before a `*`. */
export function mayAssign({ mayAssign: patterns }: ProjectsPolicy, key: string): boolean {
  if (patterns === undefined || patterns.has(key)) return true;
  return [...patterns].some((pattern) => pattern.endsWith('*') && key.startsWith(pattern.slice(0, -1)));
}

function keyPatternOf(text: string): string | undefined {
  const isGood =
    isText(text) && !hasMoreCharacters(text, MAX_KEY_CHARACTERS) && !text.slice(0, -1).includes('*');
  return isGood ? text : undefined;
}
