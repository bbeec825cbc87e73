// The properties of a policy about access tokens and actors.
import { mayMean } from '../../platform/text/uri.js';
import { parsedUrl } from '../../platform/text/url.js';
import { choice, flag, isText, list, listed, number } from '../trust/entry-kinds.js';

const NONE: ReadonlySet<string> = new Set();
/** The longest scope of a request (4.2.scope). */
const MAX_SCOPE_CHARACTERS = 1024;
/** RFC 6749 §3.3. */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export const GRANTS = {
  actFor: list(
    {
      each: (issuer) => (isText(issuer) && parsedUrl(issuer) ? issuer : undefined),
      must: 'must be a list of issuers, by URL',
    },
    {
      label: 'Issuers whose subjects its actors may act for',
      rule: "issuers of the subjects for whom this entry's actors may act",
      unsaid: 'any',
      strict: NONE,

      words: (issuers) =>
        issuers === undefined
          ? 'may act for any subject'
          : issuers.size === 0
            ? 'may act for no subject'
            : `may act for subjects of ${listed(issuers)}`,
    },
  ),
  requireActor: flag({
    label: 'Subjects need an actor',
    rule: 'subjects are refused without an actor, also at logins. Leave this issuer out of `actFor`',
    open: false,
    prevents: 'a key that only identifies customers grants their rights',
    words: (isRequired) => (isRequired === true ? 'never without an actor' : undefined),
  }),
  requireDpop: flag({
    label: 'Access tokens are bound to a key',
    rule: 'access tokens need a [DPoP proof](../endpoints.md#dpop). Leave `embed` out of `flows`',
    open: false,
    words: (isRequired) => (isRequired === true ? 'access tokens only for a proved key' : undefined),
  }),
  rights: choice(['actor', 'both'], {
    label: 'Rights on behalf of a user',
    rule: '`actor` or `both`: whose rights a call with an actor needs',
    open: 'actor',
    strict: 'both',
    prevents: 'a service account reads for one customer what belongs to another',
    words: (rights) =>
      rights === 'both'
        ? "an actor's call needs the rights of both"
        : "an actor's call has the actor's rights",
  }),
  scopes: list(
    {
      each: (scope) => (SCOPE_TOKEN.test(scope) ? scope : undefined),
      must: 'must be a list of scopes: printable ASCII without spaces, quotes and backslashes',
    },
    {
      label: 'Scopes',
      rule: 'scopes of access tokens (all, if none is requested). Sessions have none: leave `embed` out of `flows`. Required with `id-jag`. An empty list allows no token exchange',
      unsaid: 'not limited',
      strict: NONE,

      fault: (scopes) =>
        listed(scopes, ' ').length > MAX_SCOPE_CHARACTERS
          ? `must have at most ${MAX_SCOPE_CHARACTERS} characters together`
          : undefined,
      words: (scopes) =>
        scopes === undefined
          ? 'every scope'
          : scopes.size === 0
            ? 'no scope, so no token exchange'
            : `access tokens with the scopes ${listed(scopes)}`,
    },
  ),
  // RFC 8707 §2: absolute, without a fragment.
  resources: list(
    {
      each: (uri) => (isText(uri) && parsedUrl(uri) && !/[#\s]/.test(uri) ? uri : undefined),
      must: 'must be a list of absolute URIs without a fragment',
    },
    {
      label: 'Other services',
      rule: 'absolute URIs of other services for which tokens are issued (RFC 8707)',
      unsaid: 'recorded only',
      strict: NONE,
      fault: (resources, { baseUrl }) =>
        baseUrl !== undefined && [...resources].some((uri) => mayMean(uri, baseUrl))
          ? 'must not have the address of this instance, for which every token is valid'
          : undefined,
      words: (resources) =>
        resources && (resources.size === 0 ? 'no other service' : `tokens for ${listed(resources)}`),
    },
  ),
  clientChoosesResource: flag({
    label: 'Clients choose the service',
    rule: 'the client of an identity assertion without `resource` may choose one of `resources`',
    open: false,

    words: (chooses) => (chooses === true ? 'for which a client may choose' : undefined),
  }),
  maxTokenTtlSeconds: number(5, 86_400, {
    label: 'Longest lifetime of access tokens',
    rule: '5 to 86400',
    unsaid: 'as long as the instance allows',

    words: (seconds) => (seconds === undefined ? undefined : `access tokens for ${seconds} s`),
  }),
};
