// Plans the access token of a request before anything is used up: its lifetime, scopes, audience and key, its claims and the
// payload of its audit event.
import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { printableAddress, printableList, printableSeconds, visible } from '../../platform/text/printable.js';
import { canonicalUri, isSameUri, spellingIn } from '../../platform/text/uri.js';
import type { AuditEvent } from '../audit/audit-trail.js';
import { auditEvent } from '../audit/audit-trail.js';
import type { FlowRequest } from '../endpoint/flow.runner.js';
import { isOfAssertion } from '../endpoint/flows.js';
import type { ResolvedUser, Users } from '../identity/decide.js';
import { idsOf, ignoredRoleOf } from '../identity/decide.js';
import type { RefusalContext } from '../refusals/oauth-refusal.js';
import { OAuthRefusal } from '../refusals/oauth-refusal.js';
import { recordedKeys } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { AccessTokenClaims, ActorClaim } from '../tokens/access-token.service.js';
import { AccessTokenService, lengthOfAccessToken } from '../tokens/access-token.service.js';
import type { LoadedKey } from '../tokens/signing-key.service.js';
import { SigningKeyService } from '../tokens/signing-key.service.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import type { AssertionClaims, PriorActor } from '../verify/external-claims.js';
import type { Tokens } from '../verify/external-token.verifier.js';
import {
  issuerAndKid,
  listOf,
  priorActorsOf,
  recordedActors,
  signerOf,
  workloadsOf,
} from '../verify/external-token.verifier.js';

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

/** `issuedAt` and `expiresAt` are whole seconds since the Unix epoch. */
interface Validity {
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly lifetimeSeconds: number;
}

/** The terms of an access token, from both tokens and both entries. */
export interface Terms {
  readonly accessTokenId: string;
  readonly asked: AskedGrants;
  readonly tokens: Tokens;
  readonly validity: Validity;
  readonly grants: Grants;
  /** Who has acted before, according to the tokens. */
  readonly priorActors: readonly PriorActor[];
}

/** A planned access token. */
export interface Issuance {
  readonly terms: Terms;
  /** Selected before anything is used up, so that no token is used up for an access token that cannot be signed. */
  readonly key: LoadedKey;
}

const MINIMUM_LIFETIME_SECONDS = 5;
/** Must fit into the 16 KiB of a request's headers. */
const MAX_TOKEN_CHARACTERS = 12 * 1024;
/** The longest expected id or generation of a host. */
const LONGEST = 'x'.repeat(64);
const LONGEST_USER: ResolvedUser = { userId: LONGEST, accessGeneration: LONGEST, changes: [] };

@Injectable()
export class IssuancePlanner {
  constructor(
    private readonly signingKeys: SigningKeyService,
    private readonly accessTokens: AccessTokenService,
    private readonly clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'exchange'>,
  ) {}

  /**
   * Plans the access token of verified tokens.
   * @throws OAuthRefusal `remaining_lifetime_too_short`, `scope_not_allowed`, `resource_not_allowed`, `claims_invalid`,
   *   `access_token_too_large`
   * @throws Error if there is no signing key
   */
  plan(asked: AskedGrants, tokens: Tokens): Issuance {
    const { audience: host } = this.accessTokens;
    const { maxTokenLifetimeSeconds } = this.options.exchange;
    const terms = checkTerms(asked, tokens, { now: this.clock.nowSeconds(), maxTokenLifetimeSeconds, host });
    return { terms, key: this.signingKeys.current() };
  }

  /** @returns the access token. Secret */
  sign({ terms, key }: Issuance, users: Users): string {
    return this.accessTokens.sign(claimsOf(terms, users, this.accessTokens.audience), key);
  }
}

/** What terms depend on, besides the tokens and their entries. */
interface TermsRules {
  /** Seconds since the Unix epoch. */
  readonly now: number;
  readonly maxTokenLifetimeSeconds: number;
  /** The audience of tokens for this instance. */
  readonly host?: string;
}

/** Checks the requested grants. @throws OAuthRefusal as `IssuancePlanner.plan` */
export function checkTerms(asked: AskedGrants, tokens: Tokens, rules: TermsRules): Terms {
  const validity = checkLifetime(tokens, rules);
  const grants = checkGrants(asked, tokens, rules.host);
  const priorActors = priorActorsOf(tokens);
  const terms = { accessTokenId: randomUUID(), asked, tokens, validity, grants, priorActors };
  refuseTooLarge(terms, rules.host);
  return terms;
}

/**
 * @rule 4.2.5 = 8.8 The lifetime of the issued token is the shortest of both tokens' remaining lifetimes and the configured
 * limit, in whole seconds, rounded down. Less than 5 seconds is refused. An identity assertion sets no limit: it is a grant for
 * minutes (D133).
 * @rule P.maxTokenTtlSeconds An entry may set a shorter limit.
 */
function checkLifetime({ subject, actor }: Tokens, { now, ...rules }: TermsRules): Validity {
  const ofEntries = listOf({ subject, actor }).map(({ key }) => key.policy.maxTokenTtlSeconds);
  const maxTokenLifetimeSeconds = Math.min(
    rules.maxTokenLifetimeSeconds,
    ...ofEntries.filter((limit) => limit !== undefined),
  );
  const counted = listOf({ subject, actor }).filter(({ assertion }) => assertion === undefined);
  const earliestExpiry = Math.min(...counted.map(({ claims }) => claims.exp));
  const remaining = Math.min(earliestExpiry - now, maxTokenLifetimeSeconds);
  if (remaining < MINIMUM_LIFETIME_SECONDS) throw tooShort({ subject, actor }, remaining);
  const issuedAt = Math.floor(now);
  const expiresAt = Math.min(Math.floor(earliestExpiry), issuedAt + maxTokenLifetimeSeconds);
  return { issuedAt, expiresAt, lifetimeSeconds: Math.floor(remaining) };
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

/** Refuses an access token that is too large for the headers of a call, before anything is used up. */
function refuseTooLarge(terms: Terms, host = ''): void {
  const { subject, actor } = terms.tokens;
  const users = { subject: LONGEST_USER, actor: actor && LONGEST_USER };
  const length = lengthOfAccessToken(claimsOf(terms, users, host));
  if (length <= MAX_TOKEN_CHARACTERS) return;
  const values = { expected: `${MAX_TOKEN_CHARACTERS} characters at most`, found: `up to ${length}` };
  throw new OAuthRefusal('access_token_too_large', { party: 'subject', ...issuerAndKid(subject), ...values });
}

/** The token that expires first is refused. */
function tooShort({ subject, actor }: Tokens, remainingSeconds: number): OAuthRefusal {
  const isActor = actor !== undefined && actor.claims.exp < subject.claims.exp;
  const expected = `${MINIMUM_LIFETIME_SECONDS} s at least`;
  const values = { expected, found: printableSeconds(remainingSeconds) };
  return new OAuthRefusal('remaining_lifetime_too_short', {
    party: isActor ? 'actor' : 'subject',
    ...issuerAndKid(isActor ? actor : subject),
    ...values,
  });
}

/**
 * Without an actor, only the audit event has the prior actors, because a reader of the token would take one for its actor. An
 * identity assertion's prior actors do act for its user now, so the token has them.
 * @rule 4.2.2 Without an actor the token is the subject's alone.
 * @rule 4.2.3 With an actor the token names both, and so do the audit records.
 * @rule 2.4 The token records the requested scope and resource.
 * @rule D55 Separate claim names are used, because other services would read `scope` or another `aud` as granted.
 * @param host the issuer, the audience of tokens that name no other service
 */
export function claimsOf(
  { accessTokenId, asked, tokens, validity, grants, priorActors }: Terms,
  users: Users,
  host: string,
): AccessTokenClaims {
  const { subject, actor, client, proof } = tokens;
  const isAlone = actor === undefined && subject.assertion === undefined;
  return {
    iss: host,
    aud: grants.audience ?? host,
    sub: users.subject.userId,
    act: actorClaim(users.actor?.userId, isAlone ? [] : priorActors),
    client_id: client?.id ?? subject.key.policy.issuer,
    workloads: workloadsOf(tokens),
    delegated_rights: grants.rights,
    scope: grants.grantedScopes?.join(' '),
    requested_scope: asked.scope,
    requested_resource: asked.resource?.join(' '),
    jti: accessTokenId,
    iat: validity.issuedAt,
    exp: validity.expiresAt,
    cnf: proof && { jkt: proof.thumbprint },
    vouched_by: recordedKeys(listOf(tokens).map(signerOf)),
    logins: listOf(tokens).map(({ login }) => login),
    access_generation: users.subject.accessGeneration,
    actor_access_generation: users.actor?.accessGeneration,
  };
}

function actorClaim(userId: string | undefined, priorActors: readonly PriorActor[]): ActorClaim | undefined {
  const prior = priorActors.reduceRight<ActorClaim | undefined>(
    (act, { iss, sub }) => ({ iss, sub, act }),
    undefined,
  );
  return userId === undefined ? prior : { sub: userId, act: prior };
}

/**
 * The payload of the audit event. Properties are written one by one, because Node.js 20 creates new hidden classes at each
 * `{ ...a, b, c }`.
 */
export function successOf(
  { accessTokenId, asked, tokens, validity, grants, priorActors }: Terms,
  users: Users,
  { flow, requestId, clientAddress }: Pick<FlowRequest, 'flow' | 'requestId' | 'clientAddress'>,
  occurredAt: Date,
): AuditEvent {
  const { subject, client, proof } = tokens;
  const { scope, resource } = asked;
  const { issuer, kid } = issuerAndKid(subject);
  const { subjectUserId, actorUserId } = idsOf(users);
  return auditEvent(
    'svc.audit.token-exchange.succeeded',
    { occurredAt, requestId, subjectUserId, actorUserId },
    {
      issuer,
      kid,
      flow: isOfAssertion(flow) ? flow : undefined,
      clientId: client?.id,
      tenants: subject.assertion?.tenants,
      clientAddress,
      accessTokenId,
      lifetimeSeconds: validity.lifetimeSeconds,
      scope: scope === undefined ? undefined : visible(scope),
      resource: resource?.map(printableAddress),
      grantedScopes: grants.grantedScopes,
      audience: grants.audience,
      rights: grants.rights,
      keyThumbprint: proof?.thumbprint,
      priorActors: recordedActors(priorActors),
      ...ignoredRoleOf(users),
      workloads: recordedActors(workloadsOf(tokens)),
    },
  );
}
