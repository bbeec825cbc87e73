// Says in words what a policy allows.
import { comparesAudience } from './policy-defaults.js';
import type { TrustPolicy } from './trust-policy.js';
import { domainsOf, flowsOf } from './trust-policy.js';

/**
 * What an entry's tokens may do, in phrases, the widest permissions first.
 * @param now to see whether trust has ended
 */
export function policyInWords(policy: TrustPolicy, now: Date): string[] {
  return [
    ...admissionInWords(policy, now),
    ...rolesInWords(policy),
    ...usersInWords(policy),
    ...projectsInWords(policy),
    ...delegationInWords(policy),
    ...grantsInWords(policy),
  ];
}

function admissionInWords(policy: TrustPolicy, now: Date): string[] {
  const { expectedAudience, logoutAudience, logoutIssuer, flows, notAfter, origins, perMinute } = policy;
  const servesEmbed = flowsOf(policy).has('embed');
  return [
    ...(expectedAudience === undefined && comparesAudience(policy) ? ['tokens for any audience'] : []),
    ...(flows === undefined ? [] : [`${listed(flows, ' and ')} only`]),
    ...clientsInWords(policy),
    ...(logoutIssuer === undefined ? [] : [`logouts by ${logoutIssuer}`]),
    ...(logoutAudience === undefined ? [] : [`logouts for ${logoutAudience} too`]),
    ...(servesEmbed && origins === undefined ? ['logins posted by any page'] : []),
    ...(notAfter === undefined ? [] : [endInWords(notAfter, now)]),
    ...(perMinute === undefined ? [] : [`${perMinute} a minute`]),
  ];
}

function clientsInWords(policy: TrustPolicy): string[] {
  if (!flowsOf(policy).has('id-jag')) return [];
  const ids = [...(policy.clients?.keys() ?? [])];
  return [ids.length === 0 ? 'assertions of no client' : `assertions of the clients ${listed(ids)}`];
}

function endInWords(notAfter: Date, now: Date): string {
  const moment = notAfter.toISOString().replace('.000Z', 'Z');
  return notAfter <= now ? `nothing since ${moment}` : `until ${moment}`;
}

function rolesInWords({ allowedRoles, roleCeiling, excludeOwner }: TrustPolicy): string[] {
  const assigns =
    allowedRoles === undefined
      ? "may assign every role but the owner's"
      : `may assign ${named(allowedRoles)}`;
  if (roleCeiling === true && allowedRoles !== undefined) {
    const admits = `signs in users with ${named(allowedRoles)} only`;
    return [assigns, admits, ...(excludeOwner === true ? ['never the owner'] : [])];
  }
  return [assigns, excludeOwner === true ? 'never the owner' : 'lets the owner in too'];
}

function usersInWords(policy: TrustPolicy): string[] {
  const { requireVerifiedEmail, provisionUsers } = policy;
  const emailDomains = domainsOf(policy);
  const domains = emailDomains === undefined ? '' : ` of ${listed(emailDomains)}`;
  const verified = requireVerifiedEmail === true ? ' verified' : '';
  const byEmail = `by${verified} e-mail${domains}`;
  return [
    linkInWords(policy, byEmail),
    provisionUsers === false ? 'may not create users' : `may create users${domains}`,
  ];
}

function linkInWords({ linkExistingUsers, linkPrivileged }: TrustPolicy, byEmail: string): string {
  if (linkExistingUsers === false) return 'may not link to existing users';
  const whom =
    linkPrivileged === false ? 'existing users but administrators' : 'existing users, administrators too';
  return `may link to ${whom}, ${byEmail}`;
}

function projectsInWords({ projects }: TrustPolicy): string[] {
  if (projects === undefined) return [];
  const { mayAssign, roles, create } = projects;
  const which = mayAssign === undefined ? 'every project of its issuer' : `projects ${listed(mayAssign)}`;
  const as = roles === undefined ? 'in every role' : `as ${listed(roles)}`;
  return [`may put users into ${which} ${as}${create ? ', and create projects' : ''}`];
}

function delegationInWords({ actFor, requireActor, rights }: TrustPolicy): string[] {
  return [
    actFor === undefined
      ? 'may act for any subject'
      : actFor.size === 0
        ? 'may act for no subject'
        : `may act for subjects of ${listed(actFor)}`,
    ...(requireActor === true ? ['never without an actor'] : []),
    rights === 'both' ? "an actor's call needs the rights of both" : "an actor's call has the actor's rights",
  ];
}

function grantsInWords({ scopes, resources }: TrustPolicy): string[] {
  return [
    scopes === undefined
      ? 'every scope'
      : scopes.size === 0
        ? 'no scope, so no token exchange'
        : `access tokens of the scopes ${listed(scopes)}`,
    ...(resources === undefined
      ? []
      : [resources.size === 0 ? 'no other service' : `tokens for ${listed(resources)}`]),
  ];
}

function named(values: ReadonlySet<string>): string {
  return values.size === 0 ? 'no role' : listed(values);
}

function listed(values: Iterable<string>, separator = ', '): string {
  return [...values].join(separator);
}
