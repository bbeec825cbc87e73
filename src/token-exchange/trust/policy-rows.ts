// The members of a policy: what an entry of the trusted keys allows its tokens. Everything about one member alone stands in its row;
// the reader, forms, commands, words and docs/reference/trusted-key-entries.md follow. What looks at two members is in policy-checks.ts.
import { domainNamed } from '../../platform/text/email-address.js';
import { momentOf } from '../../platform/text/moment.js';
import { pageOrigin } from '../../platform/text/origin.js';
import { parsedUrl } from '../../platform/text/url.js';
import { counted } from '../../platform/text/wording.js';
import { CLIENTS } from '../assertions/client-reader.js';
import type { Flow } from '../endpoint/flows.js';
import { FLOW_NAMES } from '../endpoint/flows.js';
import { GRANTS } from '../exchange/grants-policy.js';
import { EXPLAIN } from '../explain/explain-rows.js';
import { PROJECTS } from '../projects/projects-policy.js';
import { PROVIDER_ROLES, PROVIDER_TOKENS } from '../verify/provider-policy.js';
import { WORKLOAD } from '../workloads/workload-policy.js';
import type { ValuesOf } from './entry-kinds.js';
import { Fault, flag, isText, known, list, listed, named, number, text } from './entry-kinds.js';
import { isOwnIssuer } from './entry-rules.js';

/** In the place of all domains: a policy for any address that says so. */
export const ANY_DOMAIN = '*';

/** What an entry without `flows` serves. Assertions are taken only where it names them. */
export const FLOWS_BY_DEFAULT: ReadonlySet<Flow> = new Set<Flow>(['embed', 'exchange', 'logout']);

const MAX_PER_MINUTE = 1_000_000;
/** A first login counts the users of its issuer, which more would make slow. */
const MAX_USERS = 100_000;

const DOMAINS = 'must be a list of at least one domain such as product.example, or of * alone for any';

const SIGN_IN = {
  expectedAudience: text({
    label: 'Expected audience',
    rule: "`aud` must contain it; usually this instance's address",
    unsaid: 'any `aud`',
    required: 'strictly',
    unless: 'flows has neither "embed" nor "exchange"',
    prevents: 'a token for another service is used here',
  }),
  flows: list(known(FLOW_NAMES), {
    label: 'Sign-in methods',
    rule: 'of `embed`, `exchange`, `id-jag`, `jwt-bearer` (not with `id-jag`) and `logout`',
    open: FLOWS_BY_DEFAULT,
    strict: new Set<Flow>(['embed', 'exchange']),

    fault: (flows) => (flows.size === 0 ? 'must have at least one flow' : undefined),
    words: (flows) => flows && `${new Intl.ListFormat('en-GB').format(flows)} only`,
  }),
  ...PROVIDER_TOKENS,
  clients: CLIENTS,
  tenants: list(
    {
      each: (tenant) => (isText(tenant) ? tenant : undefined),
      must: 'must be a list of at least one tenant',
      least: 1,
    },
    {
      label: 'Tenants',
      rule: 'allowed `tenant` and `aud_tenant` of identity assertions, which must name one',
      unsaid: 'none may be named',
      words: (tenants) => tenants && `of the tenants ${listed(tenants)}`,
    },
  ),
  logoutIssuer: text<string>(
    {
      label: 'Provider that sends logouts',
      rule: 'another `iss` of [logout tokens](../partner/logout.md) signed by a key of this entry',
      unsaid: 'none',
      words: (issuer) => issuer && `logouts by ${issuer}`,
    },
    (issuer, rules) =>
      parsedUrl(issuer) && !isOwnIssuer(issuer, rules) ? issuer : new Fault('must be the URL of a provider'),
  ),
  logoutAudience: text({
    label: 'Audience of logout tokens',
    rule: 'another `aud` of logout tokens, such as the client id at the provider',
    unsaid: 'none',
    words: (audience) => audience && `logouts for ${audience} too`,
  }),
  // As browsers write them.
  origins: list(
    {
      each: pageOrigin,
      // An empty list would refuse all logins, which is never meant.
      must: 'must be a list of at least one exact origin such as https://product.example: a wildcard would admit every subdomain, also one that somebody else has',
      least: 1,
    },
    {
      label: 'Origins of the product',
      rule: "origins of the partner's pages (`https://host[:port]`) or apps (`capacitor://localhost`), which may frame the instance and post logins; no wildcards. Logins by GET are refused. Programs may post without `Origin`",
      unsaid: 'any page may post',
      required: 'strictly',
      unless: 'flows leaves "embed" out',
      prevents: 'a page signs its visitors in as another user',
    },
  ),
  // The first moment without trust: a day is meant with all its hours, by UTC.
  notAfter: text<Date>(
    {
      label: 'End of trust',
      rule: 'a day (UTC) or moment (`2030-12-31T18:00:00Z`) after which tokens are refused',
      unsaid: 'no end',
      words(end, now) {
        const moment = end?.toISOString().replace('.000Z', 'Z');
        return end && (end <= now ? `nothing since ${moment}` : `until ${moment}`);
      },
    },
    (given) => {
      const moment = momentOf(given);
      if (moment === undefined)
        return new Fault('must be a day such as 2030-12-31, or a moment such as 2030-12-31T18:00:00Z');
      return given.includes('T') ? moment : new Date(moment.getTime() + 86_400_000);
    },
  ),
  perMinute: number(1, MAX_PER_MINUTE, {
    label: 'Tokens a minute',
    rule: `1 to ${MAX_PER_MINUTE} successful tokens a minute`,
    unsaid: 'by address',
    words: (count) => (count === undefined ? undefined : `${count} a minute`),
  }),
  ...EXPLAIN,
  suspended: flag({
    label: 'Suspended',
    rule: 'tokens are refused; issued access tokens and sessions stay valid',
    open: false,
    words: (isSuspended) => (isSuspended === true ? 'nothing while it is suspended' : undefined),
  }),
};

const USERS = {
  ...PROVIDER_ROLES,
  allowedRoles: list(
    {
      values: ({ assignableRoles }) => assignableRoles,
      each: (role) => role,
      must: 'must be a list of strings',
    },
    {
      label: 'Roles that tokens may assign',
      rule: 'roles that the role claim may assign; an empty list allows none',
      unsaid: 'every assignable role',
      required: 'strictly',
      unless: 'signInAs names the user',

      words: (roles) => `may assign ${roles === undefined ? "every role but the owner's" : named(roles)}`,
    },
  ),
  roleCeiling: flag({
    label: 'Users get in only with one of these roles',
    rule: 'the stored role must be in `allowedRoles`, before the role claim is applied',
    open: false,
    strict: true,
  }),
  excludeOwner: flag({
    label: 'The owner never gets in',
    rule: 'tokens of the owner are refused',
    open: false,
    stored: true,
    strict: true,
  }),
  requireVerifiedEmail: flag({
    label: 'An address must be verified',
    rule: 'an address finds or creates a user only with `email_verified: true`. By default only `email_verified: false` is refused',
    open: false,
    strict: true,
    prevents: 'a user types an address at the partner, and takes over its account',
  }),
  // In lower-case ASCII.
  emailDomains: list(
    { each: (one) => (one === ANY_DOMAIN ? one : domainNamed(one)), must: DOMAINS, least: 1 },
    {
      label: 'E-mail domains',
      rule: 'domains whose addresses may link and create users, without subdomains; `*` allows any',
      unsaid: 'any domain',
      required: 'strictly',
      unless: 'signInAs names the user, or linkExistingUsers and provisionUsers are false',

      fault: (domains) => (domains.has(ANY_DOMAIN) && domains.size > 1 ? DOMAINS : undefined),
    },
  ),
  linkExistingUsers: flag({
    label: 'Tokens may find existing users by e-mail',
    rule: 'an unknown `sub` may be linked to an existing user; strict: only with listed `emailDomains`',
    open: true,
    strict: true,
  }),
  linkPrivileged: flag({
    label: 'Tokens may find the owner and administrators too',
    rule: 'the linked user may be the owner or an administrator',
    open: true,
    stored: false,
    strict: false,
  }),
  provisionUsers: flag({
    label: 'Tokens may create users',
    rule: 'tokens create unknown users',
    open: true,
    strict: true,
  }),
  maxUsers: number(1, MAX_USERS, {
    label: 'Users at most',
    rule: `1 to ${MAX_USERS}: [seats](../operator/trust.md#seats) of the issuer, the same in all its entries`,
    unsaid: 'any number',
    words: (most) => (most === undefined ? undefined : `at most ${counted(most, 'user')} of the issuer`),
  }),
  projects: PROJECTS,
};

/** As forms group them. */
export const POLICY_GROUPS = {
  'Who signs in': SIGN_IN,
  'Jobs and services': WORKLOAD,
  'Roles and users': USERS,
  'Access tokens and actors': GRANTS,
};

/** In the order in which documents, commands and words have them. */
export const POLICY = { ...SIGN_IN, ...WORKLOAD, ...USERS, ...GRANTS };

/** Those that mean nothing where the entry names the user. */
export const OF_FOUND_USERS = Object.keys(USERS) as readonly (keyof typeof USERS)[];

/** What an entry says, or stands for; a member that is not there leaves the contract's rule as it is, which `open` names. */
export type PolicyMembers = ValuesOf<typeof POLICY>;

/** Whose rights a call has that an actor makes for a subject. */
export type DelegatedRights = NonNullable<PolicyMembers['rights']>;
