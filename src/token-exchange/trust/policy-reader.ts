// Reads the policy of one trusted key entry: what it says, what stands where it says nothing, and what its author should know.
import { counted, similarName } from '../../platform/text/wording.js';
import { domainNamed } from '../../platform/text/email-address.js';
import { momentOf } from '../../platform/text/moment.js';
import { isSameAddress, originOfText } from '../../platform/text/origin.js';
import type { Flow } from '../host/flow.js';
import type { EntryMembers } from './entry-members.js';
import { isText } from './entry-members.js';
import type { PolicyDefaults } from './policy-defaults.js';
import { refuseGaps, warnOfRisks, withDefaults } from './policy-defaults.js';
import { readProjects } from './projects-policy.js';
import type { DelegatedRights, TrustPolicy } from './trust-policy.js';
import { ANY_DOMAIN } from './trust-policy.js';

/** Facts of the host for the check of a policy. */
export interface PolicyRules {
  /** Roles that a claim can assign at all. */
  readonly assignableRoles: readonly string[];
  /** Roles in a project, the lowest first; undefined: the host has no projects that tokens could name. */
  readonly projectRoles?: readonly string[];
  /** Roles whose users are administrators (D54). */
  readonly privilegedRoles?: readonly string[];
  /** What stands where an entry says nothing. Default `contract`. */
  readonly defaults?: PolicyDefaults;
  /** The address of the host itself, for which every token is good that names no other service. */
  readonly baseUrl?: string;
  /** The `iss` of the host's own access tokens, which no entry may have. Default `baseUrl`; not checked where both are left out. */
  readonly ownIssuer?: string;
  /** Scopes that the host's own API asks for; others are for other services. Not checked where it is left out. */
  readonly scopes?: readonly string[];
}

/** The members that every type of entry has. */
export const POLICY_MEMBERS = [
  'issuer',
  'name',
  'expectedAudience',
  'logoutAudience',
  'logoutIssuer',
  'flows',
  'clients',
  'notAfter',
  'origins',
  'perMinute',
  'allowedRoles',
  'roleCeiling',
  'excludeOwner',
  'requireVerifiedEmail',
  'emailDomains',
  'linkExistingUsers',
  'linkPrivileged',
  'provisionUsers',
  'projects',
  'actFor',
  'requireActor',
  'rights',
  'scopes',
  'resources',
] as const;

/** Issuer and subject together are a database key, whose length is limited. */
export const MAX_ISSUER_BYTES = 512;
const MAX_PER_MINUTE = 1_000_000;
/** The longest scope of a request (4.2.scope). */
const MAX_SCOPE_CHARACTERS = 1024;
const FLOWS: readonly Flow[] = ['embed', 'exchange', 'id-jag', 'logout'];
const RIGHTS: readonly DelegatedRights[] = ['actor', 'both'];
/** RFC 6749 §3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
export function readPolicy(members: EntryMembers, rules: PolicyRules): TrustPolicy {
  const said = {
    ...readIdentification(members, rules),
    ...readAdmission(members, rules),
    ...readRoles(members, rules),
    ...readUsers(members),
    projects: readProjects(members, rules),
    ...readDelegation(members),
    ...readGrants(members, rules),
  };
  const policy = withDefaults(said, rules.defaults);
  refuseGaps(members, policy, rules.defaults);
  warnOfRisks(members, said, policy, rules);
  return policy;
}

/**
 * @rule 2.1.issuer Every entry names its issuer by URL, which is not the instance's own (D126).
 * @rule P.name An entry may have a name for logs and metrics.
 */
function readIdentification(members: EntryMembers, { baseUrl, ownIssuer = baseUrl }: PolicyRules) {
  const issuer = members.requiredText('issuer');
  if (issuer !== '' && !URL.canParse(issuer)) members.problem('issuer', 'must be a URL');
  if (Buffer.byteLength(issuer) > MAX_ISSUER_BYTES) {
    members.problem('issuer', `must have at most ${MAX_ISSUER_BYTES} bytes`);
  }
  if (ownIssuer !== undefined && isSameAddress(issuer, ownIssuer))
    members.problem('issuer', 'must not be that of this instance, which signs no external tokens');
  return {
    entryIndex: members.index,
    label: members.optionalText('name') ?? `entry-${members.index ?? 0}`,
    issuer,
  };
}

function readAdmission(members: EntryMembers, rules: PolicyRules) {
  return {
    expectedAudience: members.optionalText('expectedAudience'),
    logoutAudience: members.optionalText('logoutAudience'),
    logoutIssuer: readLogoutIssuer(members, rules),
    flows: members.optionalTexts(
      'flows',
      flowOf,
      'must be an array of "embed", "exchange", "id-jag" and "logout"',
      1,
    ),
    notAfter: readNotAfter(members),
    origins: readOrigins(members),
    perMinute: members.optionalInteger('perMinute', 1, MAX_PER_MINUTE),
  };
}

/** An entry may name a provider that sends the logouts of its users, which is not the instance itself. */
function readLogoutIssuer(
  members: EntryMembers,
  { baseUrl, ownIssuer = baseUrl }: PolicyRules,
): string | undefined {
  const issuer = members.optionalText('logoutIssuer');
  if (issuer === undefined || issuer === '') return undefined;
  const isOwn = ownIssuer !== undefined && isSameAddress(issuer, ownIssuer);
  if (!URL.canParse(issuer) || isOwn) members.problem('logoutIssuer', 'must be the URL of a provider');
  return issuer;
}

/** A day is meant with all its hours, by UTC. */
function readNotAfter(members: EntryMembers): Date | undefined {
  const text = members.value('notAfter');
  if (text === undefined) return undefined;
  const moment = typeof text === 'string' ? momentOf(text) : undefined;
  if (moment === undefined)
    members.problem('notAfter', 'must be a day such as 2030-12-31, or a moment such as 2030-12-31T18:00:00Z');
  const isDay = typeof text === 'string' && !text.includes('T');
  return moment && isDay ? new Date(moment.getTime() + 86_400_000) : moment;
}

/** An empty list would refuse all logins, which is never meant. */
function readOrigins(members: EntryMembers): ReadonlySet<string> | undefined {
  const rule = 'must be an array of at least one origin such as https://product.example';
  const origins = members.optionalTexts('origins', originOfText, rule, 1);
  if (origins !== undefined)
    members.note('origins', 'logins by GET are refused, and posts of browsers without an Origin');
  return origins;
}

function readRoles(members: EntryMembers, { assignableRoles }: PolicyRules) {
  const allowedRoles = members.optionalTexts('allowedRoles', (role) => role, 'must be an array of strings');
  const useless = [...(allowedRoles ?? [])].filter((role) => !assignableRoles.includes(role));
  if (useless.length > 0) {
    const meant = useless
      .map((role) => similarRole(role, assignableRoles))
      .find((role) => role !== undefined);
    const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    const roles = assignableRoles.join(', ');
    members.warning(
      'allowedRoles',
      `allows ${counted(useless.length, 'role')} that cannot be assigned${guess}; assignable are ${roles}`,
    );
  }
  return {
    allowedRoles,
    roleCeiling: members.optionalBoolean('roleCeiling'),
    excludeOwner: members.optionalBoolean('excludeOwner'),
  };
}

/** Also of a role without its prefix: `member`. */
function similarRole(role: string, roles: readonly string[]): string | undefined {
  return roles.find((one) => one.endsWith(`:${role.toLowerCase()}`)) ?? similarName(role, roles);
}

function readUsers(members: EntryMembers) {
  const rule = 'must be an array of at least one domain such as product.example, or ["*"] for any';
  const emailDomains = members.optionalTexts('emailDomains', emailDomainOf, rule, 1);
  if (emailDomains?.has(ANY_DOMAIN) === true && emailDomains.size > 1) members.problem('emailDomains', rule);
  return {
    requireVerifiedEmail: members.optionalBoolean('requireVerifiedEmail'),
    emailDomains,
    linkExistingUsers: members.optionalBoolean('linkExistingUsers'),
    linkPrivileged: members.optionalBoolean('linkPrivileged'),
    provisionUsers: members.optionalBoolean('provisionUsers'),
  };
}

/** An empty list allows no subject. */
function readDelegation(members: EntryMembers) {
  const requireActor = members.optionalBoolean('requireActor');
  if (requireActor === true)
    members.note('requireActor', 'an embedded login is refused, since it has no actor');
  return {
    actFor: members.optionalTexts('actFor', issuerOf, 'must be an array of issuers, by URL'),
    requireActor,
    rights: members.optionalChoice('rights', RIGHTS),
  };
}

function readGrants(members: EntryMembers, rules: PolicyRules) {
  return { scopes: readScopes(members, rules), resources: readResources(members, rules) };
}

function readScopes(members: EntryMembers, rules: PolicyRules): ReadonlySet<string> | undefined {
  const rule = 'must be an array of scopes: printable ASCII without spaces, quotes and backslashes';
  const scopes = members.optionalTexts('scopes', scopeOf, rule);
  if (scopes === undefined) return undefined;
  if ([...scopes].join(' ').length > MAX_SCOPE_CHARACTERS) {
    members.problem('scopes', `must have at most ${MAX_SCOPE_CHARACTERS} characters together`);
  }
  if (servesEmbed(members))
    members.note('scopes', 'are those of access tokens: a session of an embedded login has none');
  const unknown = [...scopes].filter((scope) => rules.scopes?.includes(scope) === false);
  if (unknown.length > 0 && !members.has('resources'))
    members.warning('scopes', `has ${counted(unknown.length, 'scope')} that this API does not ask for`);
  return scopes;
}

/** RFC 8707 §2: absolute, without a fragment; compared character by character. */
function readResources(members: EntryMembers, { baseUrl }: PolicyRules): ReadonlySet<string> | undefined {
  const rule = 'must be an array of absolute URIs without a fragment';
  const resources = members.optionalTexts('resources', resourceOf, rule);
  if (baseUrl !== undefined && [...(resources ?? [])].some((uri) => isSameAddress(uri, baseUrl)))
    members.problem(
      'resources',
      'must not have the address of this instance, for which tokens are good anyway',
    );
  return resources;
}

function servesEmbed(members: EntryMembers): boolean {
  const flows = members.value('flows');
  return !Array.isArray(flows) || flows.includes('embed');
}

function emailDomainOf(text: string): string | undefined {
  return text === ANY_DOMAIN ? text : domainNamed(text);
}

function flowOf(text: string): Flow | undefined {
  return FLOWS.find((flow) => flow === text);
}

function issuerOf(text: string): string | undefined {
  return isText(text) && URL.canParse(text) ? text : undefined;
}

function scopeOf(text: string): string | undefined {
  return SCOPE_TOKEN.test(text) ? text : undefined;
}

function resourceOf(text: string): string | undefined {
  return isText(text) && URL.canParse(text) && !/[#\s]/.test(text) ? text : undefined;
}
