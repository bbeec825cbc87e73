// Reads the claim of projects, under the name in the token's entry.
import { hash } from 'node:crypto';
import { isJsonObject } from '../../platform/json/strict-json.js';
import { hasMoreCharacters } from '../../platform/text/characters.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ProjectsPolicy } from './projects-policy.js';
import { MAX_KEY_CHARACTERS } from './projects-policy.js';

/** A project's external key, and the user's role in it. */
export interface ClaimedProject {
  readonly key: string;
  readonly role: string;
}

const MAX_PROJECTS = 50;

/**
 * The claim is a list of 50 projects at most, each once, as `key:role` or as an object with `key` and `role`.
 * @param name name of the claim in the entry
 * @returns sorted by key, in which order projects are created and locked; undefined if the token does not have the claim
 * @throws OAuthRefusal `claims_invalid`
 */
export function readProjectsClaim(
  payload: Readonly<Record<string, unknown>>,
  name: string,
): readonly ClaimedProject[] | undefined {
  const value = payload[name];
  if (value === undefined) return undefined;
  const fault = (rule: string) => new OAuthRefusal('claims_invalid', { detail: `${name} ${rule}` });
  if (!Array.isArray(value) || value.length > MAX_PROJECTS)
    throw fault(`must be an array of at most ${MAX_PROJECTS} projects`);
  const projects = value.map(readProject);
  if (!projects.every((project) => project !== undefined))
    throw fault(
      `must have "key:role" or {"key", "role"} for each project, with keys of 1 to ${MAX_KEY_CHARACTERS} characters`,
    );
  if (new Set(projects.map(({ key }) => key)).size < projects.length) throw fault('has a project twice');
  return projects.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

/** Identifies a claim and its entry's permissions, for comparison with the last applied ones. */
export function digestOf(
  projects: readonly ClaimedProject[],
  { mayAssign, roles }: Pick<ProjectsPolicy, 'mayAssign' | 'roles'>,
): string {
  const claimed = projects.map(({ key, role }) => [key, role]);
  const powers = [mayAssign, roles].map((list) => list && [...list]);
  return hash('sha256', JSON.stringify([claimed, powers]), 'base64url');
}

function readProject(value: unknown): ClaimedProject | undefined {
  const { key, role } = typeof value === 'string' ? partsOf(value) : isJsonObject(value) ? value : {};
  if (typeof key !== 'string' || typeof role !== 'string' || key === '' || role === '') return undefined;
  return hasMoreCharacters(key, MAX_KEY_CHARACTERS) ? undefined : { key, role };
}

/** Names of roles may have colons, so the first one ends the key. */
function partsOf(text: string): Partial<ClaimedProject> {
  const end = text.indexOf(':');
  return end < 0 ? {} : { key: text.slice(0, end), role: text.slice(end + 1) };
}
