// The grants of an access token: scopes, audience, and whose rights its calls have.
import type { Tokens } from '../verify/tokens.js';
import { listOf } from '../verify/tokens.js';
import { printableAddress, printableList } from '../../platform/text/printable.js';
import { canonicalUri, isSameUri, spellingIn } from '../../platform/text/uri.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { AssertionClaims } from '../verify/external-claims.js';
import { issuerAndKid } from '../verify/external-token.verifier.js';

/** The requested grants. */
export interface AskedGrants {
  /** Scopes with spaces between them (RFC 6749 §3.3). */
  readonly scope?: string;
  /** Target resource URIs (RFC 8707 §2). */
  readonly resource?: readonly string[];
}

/** The grants; an absent property means no limit. */
export interface Grants {
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for; undefined: the host itself. */
  readonly audience?: string;
  /** A call needs the rights of actor and subject; undefined: the actor's rights alone. */
  readonly rights?: 'both';
}

/** A client that requests nothing gets what its assertion grants. */
export function askedOf({ scope, resource }: AskedGrants, { subject: { assertion } }: Tokens): AskedGrants {
  return { scope: scope ?? assertion?.scope, resource: resource ?? assertion?.resource };
}

const NO_SERVICE: ReadonlySet<string> = new Set();

/**
 * Grants what the entries of both tokens allow.
 * @param host the audience of tokens for this instance
 * @throws OAuthRefusal `scope_not_allowed`, `resource_not_allowed`
 */
export function checkGrants(asked: AskedGrants, tokens: Tokens, host?: string): Grants {
  return {
    grantedScopes: grantedScopes(asked, tokens),
    audience: grantedAudience(asked, tokens, host),
    rights: rightsOf(tokens),
  };
}

/**
 * A request without a scope means all, the server's default by RFC 6749 §3.3. The scopes of an identity assertion are one more
 * list.
 * @rule P.scopes If an entry lists scopes, the requested scopes that every such entry lists are granted.
 */
function grantedScopes({ scope }: AskedGrants, tokens: Tokens): readonly string[] | undefined {
  const ceiling = common([...policiesOf(tokens).map(({ scopes }) => scopes), assertedScopes(tokens)]);
  if (ceiling === undefined) return undefined;
  const asked = scope === undefined ? [...ceiling] : scope.split(' ').filter((token) => token !== '');
  const granted = [...new Set(asked)].filter((token) => ceiling.has(token));
  if (granted.length > 0) return granted;
  const grantsSome = ({ scopes }: TrustPolicy) =>
    scopes === undefined || asked.some((token) => scopes.has(token));
  const values = { expected: choiceOf('some', ceiling), found: printableList(new Set(asked)) };
  throw new OAuthRefusal('scope_not_allowed', { ...whoseList(tokens, grantsSome), ...values });
}

/**
 * A token is for one service, because each of several could use it against the others. A request that names the host itself, as
 * its metadata do (RFC 9728), changes nothing.
 * @rule P.resources If an entry lists resources, a requested one that every such entry lists becomes the audience, as the entry
 * spells it. Any other is refused.
 * @rule D53 Without a list, resources are recorded and not checked, but an identity assertion is for the host alone.
 */
function grantedAudience(
  { resource = [] }: AskedGrants,
  tokens: Tokens,
  host: string | undefined,
): string | undefined {
  const { assertion } = tokens.subject;
  const lists = policiesOf(tokens).map(({ resources }) => resources ?? (assertion && NO_SERVICE));
  const ceiling = common(lists, (list, uri) => spellingIn(list, uri) !== undefined);
  if (ceiling === undefined) return undefined;
  const [only, ...others] = new Map(resource.map((uri) => [canonicalUri(uri), uri])).values();
  if (only === undefined) return undefined;
  const isHost = host !== undefined && isSameUri(only, host);
  const mayChoose = isHost || tokens.subject.key.policy.clientChoosesResource === true;
  if (others.length === 0 && isAsserted(only, assertion, mayChoose)) {
    if (isHost) return undefined;
    const listed = spellingIn(ceiling, only);
    if (listed !== undefined) return listed;
  }
  const listsIt = ({ resources }: TrustPolicy) =>
    resources === undefined || spellingIn(resources, only) !== undefined;
  const values = {
    expected: choiceOf('one', ceiling),
    found: printableList([only, ...others].map(printableAddress)),
  };
  throw new OAuthRefusal('resource_not_allowed', { ...whoseList(tokens, listsIt), ...values });
}

function choiceOf(howMany: 'one' | 'some', ceiling: ReadonlySet<string>): string {
  return ceiling.size === 0 ? 'none' : `${howMany} of ${printableList(ceiling)}`;
}

function assertedScopes({ subject: { assertion } }: Tokens): ReadonlySet<string> | undefined {
  return assertion?.scope === undefined ? undefined : new Set(assertion.scope.split(' '));
}

/**
 * A client may ask for the resources of its identity assertion, and nothing else.
 * @rule P.clientChoosesResource If the assertion names none, it may request the host, and others only if the entry lets it
 * choose.
 */
function isAsserted(resource: string, assertion: AssertionClaims | undefined, mayChoose: boolean): boolean {
  if (assertion === undefined) return true;
  if (assertion.resource === undefined) return mayChoose;
  return spellingIn(new Set(assertion.resource), resource) !== undefined;
}

/** @rule P.rights If an entry says `both`, a call needs the rights of actor and subject. */
function rightsOf(tokens: Tokens): Grants['rights'] {
  if (tokens.actor === undefined) return undefined;
  return policiesOf(tokens).some(({ rights }) => rights === 'both') ? 'both' : undefined;
}

/** The token whose list leaves nothing; the actor's token if only both lists together leave nothing. */
function whoseList({ subject, actor }: Tokens, isEnough: (policy: TrustPolicy) => boolean): RefusalContext {
  if (actor === undefined || !isEnough(subject.key.policy))
    return { party: 'subject', ...issuerAndKid(subject) };
  return { party: 'actor', ...issuerAndKid(actor) };
}

function policiesOf(tokens: Tokens): TrustPolicy[] {
  return listOf(tokens).map(({ key }) => key.policy);
}

/** The values that all lists have, as the first list spells them; undefined without any list. */
function common(
  lists: readonly (ReadonlySet<string> | undefined)[],
  isIn = (list: ReadonlySet<string>, value: string) => list.has(value),
): ReadonlySet<string> | undefined {
  const [first, ...others] = lists.filter((list) => list !== undefined);
  if (first === undefined || others.length === 0) return first;
  return new Set([...first].filter((value) => others.every((list) => isIn(list, value))));
}
