// Verifies external tokens: each alone, which is the only code that can create a VerifiedToken, and those of a request together,
// before any is used up. Also their persons, jobs and revocations.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { isUnstorable } from '../../platform/json/strict-json.js';
import { printable, printableList } from '../../platform/text/printable.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { DpopProof } from '../dpop/proof-checks.js';
import type { AccessFlow, AssertionFlow } from '../endpoint/flows.js';
import { EXPLAIN_CHECKS } from '../explain/explain-proof.js';
import type { ExternalPerson, RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { inContext, isTokenRefusal, OAuthRefusal } from '../refusals/oauth-refusal.js';
import type { ExternalLogin, IssuerKey, Revocations } from '../revocation/revocations.js';
import { externalLoginOf } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { EventClaims } from '../signals/security-event.js';
import type { ClaimSet } from '../trust/claim-names.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { TrustedKey } from '../trust/trusted-key.js';
import { shownName, shownSubject } from '../workloads/workload-policy.js';
import type { CheckResult, CheckRules, KeySource, TokenCheck } from './check-runner.js';
import { CheckedToken, passAll, resultsOf } from './check-runner.js';
import type {
  AssertionClaims,
  ExplainClaims,
  ExternalClaims,
  LogoutClaims,
  PriorActor,
  TimedClaims,
  TokenUse,
} from './external-claims.js';
import { MAX_PRIOR_ACTORS } from './external-claims.js';
import { FLOW_CHECKS } from './flow-checks.js';
import { claimedKey } from './key-hints.js';
import { refuseLoneSubject } from './token-checks.js';

/** Not exported, so that no other file can create a VerifiedToken. */
const verified: unique symbol = Symbol('verified');

/** An external token with valid signature, claims, audience and times. Its jti is not used up yet. */
export interface VerifiedToken {
  readonly [verified]: true;
  readonly claims: ExternalClaims;
  /** The login that its session records. */
  readonly login: ExternalLogin;
  /** The further claims of an identity assertion. */
  readonly assertion?: AssertionClaims;
  /** The thumbprint of the key that the token is bound to (RFC 9449 §6.1). */
  readonly boundTo?: string;
  /** The key that verified it, with the policy of its entry. */
  readonly key: TrustedKey;
}

/** A logout token with valid signature, claims, audience and times. Its jti is not used up yet. */
export interface VerifiedLogout {
  readonly [verified]: true;
  readonly claims: LogoutClaims;
  readonly key: TrustedKey;
}

/** A security event token with valid signature, claims, audience and times. Its jti is not used up yet. */
export interface VerifiedEvent {
  readonly [verified]: true;
  readonly claims: EventClaims;
  readonly key: TrustedKey;
}

/** A question about a refusal with valid signature, claims, audience and times. Its jti is not used up yet. */
export interface VerifiedExplainProof {
  readonly [verified]: true;
  readonly claims: ExplainClaims;
  readonly key: TrustedKey;
}

/** Undefined if the person's claims cannot be stored, which may be the reason for the refusal. */
function personIn({ iss, sub, email }: ClaimSet): ExternalPerson | undefined {
  if (!isStorableText(iss) || !isStorableText(sub)) return undefined;
  return { issuer: iss, subject: sub, ...(isStorableText(email) && { email }) };
}

function isStorableText(value: unknown): value is string {
  return typeof value === 'string' && !isUnstorable(value);
}

/** The key that signed a verified token, for the audit trail. */
export function issuerAndKid({ key }: Pick<VerifiedToken, 'key'>): { issuer: string; kid: string } {
  return { issuer: key.policy.issuer, kid: key.kid };
}

/** The key that signed a verified token, for sessions and access tokens. */
export function signerOf({ key }: Pick<VerifiedToken, 'key'>): IssuerKey {
  const { issuer, byAdministrator } = key.policy;
  return { issuer, kid: key.kid, byAdministrator };
}

/** Runs every check of a token that needs no write, in the order of D3. */
@Injectable()
export class ExternalTokenVerifier {
  private readonly rules: CheckRules;

  constructor(
    keys: TrustedKeyService,
    clock: Clock,
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    options: Pick<
      TokenExchangeOptions,
      'strict' | 'clockToleranceSeconds' | 'ownIssuer' | 'tokenEndpoint' | 'explainEndpoint' | 'idAssertion'
    >,
  ) {
    this.rules = {
      keys,
      clock,
      isStrict: options.strict,
      toleranceSeconds: options.clockToleranceSeconds,
      ownIssuer: options.ownIssuer,
      tokenEndpoint: options.tokenEndpoint,
      explainEndpoint: options.explainEndpoint,
      maxAssertionLifetimeSeconds: options.idAssertion.maxLifetimeSeconds,
    };
  }

  /**
   * Verifies one token for one flow.
   * @param whether it is the subject's or the actor's token
   * @param client the client that sent an identity assertion
   * @throws OAuthRefusal of the first check that fails
   */
  async verify(
    text: string,
    flow: AccessFlow,
    which?: SubjectOrActor,
    client?: AuthenticatedClient,
  ): Promise<VerifiedToken> {
    const token = new CheckedToken<ExternalClaims>(text, flow, this.rules, client);
    await this.pass(FLOW_CHECKS[flow], token, which);
    const { claims, assertion, key, boundTo } = token;
    return { [verified]: true, claims, assertion, key, boundTo, login: externalLoginOf(claims) };
  }

  /** @throws OAuthRefusal of the first check that fails */
  async verifyLogout(text: string): Promise<VerifiedLogout> {
    const token = new CheckedToken<LogoutClaims>(text, 'logout', this.rules);
    await this.pass(FLOW_CHECKS.logout, token);
    return { [verified]: true, claims: token.claims, key: token.key };
  }

  /**
   * @param checks of the transmitter that has authenticated
   * @throws OAuthRefusal of the first check that fails
   */
  async verifyEvent(
    text: string,
    checks: readonly TokenCheck<CheckedToken<EventClaims>>[],
    keys: KeySource,
  ): Promise<VerifiedEvent> {
    const token = new CheckedToken<EventClaims>(text, 'signals', { ...this.rules, keys });
    await this.pass(checks, token);
    return { [verified]: true, claims: token.claims, key: token.key };
  }

  /** @throws OAuthRefusal of the first check that fails */
  async verifyExplainProof(text: string): Promise<VerifiedExplainProof> {
    const token = new CheckedToken<ExplainClaims>(text, 'explain', this.rules);
    await this.pass(EXPLAIN_CHECKS, token);
    return { [verified]: true, claims: token.claims, key: token.key };
  }

  private async pass<Claims extends TimedClaims>(
    checks: readonly TokenCheck<CheckedToken<Claims>>[],
    token: CheckedToken<Claims>,
    which?: SubjectOrActor,
  ): Promise<void> {
    try {
      await passAll(checks, token);
    } catch (error) {
      if (!isTokenRefusal(error)) throw error;
      error.add({ party: which, ...this.namedKey(token) });
      error.isOfStranger = !token.isSigned;
      if (token.isSigned) error.person = personIn(token.jws.payload);
      if (token.isSigned && token.key.policy.signInAs !== undefined && error.person !== undefined)
        error.workload = { iss: error.person.issuer, sub: error.person.subject };
      throw error;
    }
  }

  /** The result of each check of `verify`, in its order. */
  explain(text: string, flow: AccessFlow, client?: AuthenticatedClient): Promise<readonly CheckResult[]> {
    return resultsOf(FLOW_CHECKS[flow], new CheckedToken(text, flow, this.rules, client));
  }

  /** The key that log and trail may name: the found key, or until then the claimed key of a trusted issuer. */
  private namedKey({ found, jws, rules }: Pick<CheckedToken, 'found' | 'jws' | 'rules'>): RefusalContext {
    if (found === undefined) return claimedKey(jws, rules.keys);
    return { issuer: found.policy.issuer, kid: found.kid };
  }
}

/** One value for the subject, and perhaps one for the actor. */
export interface PerToken<Value> {
  readonly subject: Value;
  readonly actor?: Value;
}

export interface Tokens extends PerToken<VerifiedToken> {
  /** The client that sent an assertion, which is the subject's token. */
  readonly client?: AuthenticatedClient;
  /** The proof of the key that the access token is bound to; undefined: a Bearer token. */
  readonly proof?: DpopProof;
}

/** The subject first. */
export function listOf<Value>({ subject, actor }: PerToken<Value>): Value[] {
  return actor === undefined ? [subject] : [subject, actor];
}

/** What verification needs. */
export interface Verification {
  readonly verifier: ExternalTokenVerifier;
  readonly revocations: Revocations;
}

/** What is recorded about a request even if a later check refuses it. */
export interface VerifiedRequest {
  /** Tokens that are valid by themselves. */
  tokens?: Tokens;
  /** Which has authenticated. */
  client?: AuthenticatedClient;
}

/** The tokens of an exchange, as they were sent. Secret. */
export interface ExchangeTokens {
  readonly subjectToken: string;
  readonly actorToken?: string;
}

/** @throws OAuthRefusal with the first reason against the subject token, the actor token, or the two together */
export async function verifyExchange(
  { verifier, revocations }: Verification,
  { subjectToken, actorToken }: ExchangeTokens,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  const subject = await verifier.verify(subjectToken, 'exchange', 'subject');
  const actor = actorToken === undefined ? undefined : await verifier.verify(actorToken, 'exchange', 'actor');
  return acceptedTogether(revocations, { subject, actor }, request);
}

/** An assertion (RFC 7523): an identity assertion, whose client has authenticated, or an ordinary JWT. */
export interface ReceivedAssertion {
  readonly flow: AssertionFlow;
  /** Secret. */
  readonly assertion: string;
  readonly client?: AuthenticatedClient;
}

/** @throws OAuthRefusal with the first reason against it */
export async function verifyAssertion(
  { verifier, revocations }: Verification,
  { flow, assertion, client }: ReceivedAssertion,
  request: VerifiedRequest = {},
): Promise<Tokens> {
  request.client = client;
  const subject = await verifier.verify(assertion, flow, undefined, client);
  return acceptedTogether(revocations, { subject, client }, request);
}

function acceptedTogether(revocations: Revocations, tokens: Tokens, request: VerifiedRequest): Tokens {
  request.tokens = tokens;
  checkActor(tokens);
  refuseRevokedTrust(revocations, tokens);
  return tokens;
}

/**
 * Checks whether the tokens of an exchange may come together, or the subject alone.
 * @throws OAuthRefusal `actor_required`, `actor_not_allowed`, `act_for_not_allowed`
 */
export function checkActor({ subject, actor }: Tokens): void {
  try {
    if (actor === undefined) return refuseLoneSubject(subject);
    checkMayAct(subject, actor);
    checkActFor(subject, actor);
  } catch (error) {
    throw inContext(error, {
      party: actor === undefined ? 'subject' : 'actor',
      ...issuerAndKid(actor ?? subject),
    });
  }
}

/** @rule P.mayAct Where a subject token names who may act for it, no other actor is taken (RFC 8693 §4.4). */
function checkMayAct({ claims: { iss, mayAct } }: VerifiedToken, actor: VerifiedToken): void {
  if (mayAct === undefined) return;
  const isNamed = mayAct.sub === actor.claims.sub && (mayAct.iss ?? iss) === actor.claims.iss;
  if (!isNamed) throw new OAuthRefusal('actor_not_allowed', otherActor(mayAct.iss ?? iss, actor.claims.iss));
}

/** The issuers only: a `sub` never reaches log or trail. */
function otherActor(named: string, actual: string): RefusalContext {
  const expected = `the actor of ${printable(named)} whom may_act names`;
  return { expected, found: named === actual ? 'another of its actors' : `an actor of ${printable(actual)}` };
}

/** @rule P.actFor An actor's entry may limit whose subjects the actor acts for. */
function checkActFor({ claims: { iss } }: VerifiedToken, actor: VerifiedToken): void {
  const { actFor } = actor.key.policy;
  if (actFor?.has(iss) === false)
    throw new OAuthRefusal('act_for_not_allowed', { expected: printableList(actFor), found: printable(iss) });
}

/**
 * Who has acted before this exchange, the latest first: for the actor, then for the subject.
 * @throws OAuthRefusal `claims_invalid` where the two chains together are too long
 */
export function priorActorsOf({ subject, actor }: Tokens): readonly PriorActor[] {
  const actors = [...(actor?.claims.priorActors ?? []), ...(subject.claims.priorActors ?? [])];
  // Either chain alone is short enough.
  if (actor === undefined || actors.length <= MAX_PRIOR_ACTORS) return actors;
  const detail = `act of both tokens has over ${MAX_PRIOR_ACTORS} actors`;
  throw new OAuthRefusal('claims_invalid', { party: 'actor', ...issuerAndKid(actor), detail });
}

/** The replay records of a request. */
export function usesOf(tokens: Tokens): TokenUse[] {
  return listOf(tokens).map(({ claims }) => claims);
}

/** The person of the subject or actor token; undefined if it was not verified. */
export function personOf(
  tokens: Tokens | undefined,
  which: SubjectOrActor | undefined,
): ExternalPerson | undefined {
  const token = which === 'actor' ? tokens?.actor : tokens?.subject;
  return token && { issuer: token.claims.iss, subject: token.claims.sub, email: token.claims.email };
}

/** The jobs by issuer and `sub`, as in the tokens; undefined if there are none. */
export function workloadsOf(tokens: PerToken<VerifiedToken>): readonly PriorActor[] | undefined {
  const workloads = listOf(tokens).filter(({ key }) => key.policy.signInAs !== undefined);
  return workloads.length === 0 ? undefined : workloads.map(({ claims: { iss, sub } }) => ({ iss, sub }));
}

/**
 * Jobs and prior actors for trail and log; undefined if there are none.
 * @rule D145 Trail and log name the job, and the access token has it unchanged.
 */
export function recordedActors(actors: readonly PriorActor[] = []): readonly PriorActor[] | undefined {
  if (actors.length === 0) return undefined;
  return actors.map(({ iss, sub }) => ({ iss: shownName(iss), sub: shownSubject(sub) }));
}

/**
 * Checked before anything is used up. See `refuseRevokedSince` for the rest.
 * @throws OAuthRefusal `trust_revoked`, `signed_out_by_provider`
 * @throws TemporarilyUnavailableException if the revocations are unknown at present
 */
export function refuseRevokedTrust(revocations: Revocations, tokens: Tokens): void {
  revocations.ensureKnown();
  refuseRevokedSince(revocations, tokens);
}

/**
 * Checked again right before a session or access token is issued, without waiting for newer revocations, because the external
 * token is used up. Each use of the session or access token is checked again, so this check only spares the client a useless
 * credential.
 * @throws OAuthRefusal `trust_revoked`, `signed_out_by_provider`
 */
export function refuseRevokedSince(revocations: Revocations, { subject, actor }: Tokens): void {
  refuseRevoked(revocations, subject, 'subject');
  if (actor !== undefined) refuseRevoked(revocations, actor, 'actor');
}

/** @throws OAuthRefusal `trust_revoked` */
export function refuseRevokedKey(
  revocations: Revocations,
  token: Pick<VerifiedToken, 'key'>,
  which?: SubjectOrActor,
): void {
  const key = issuerAndKid(token);
  if (revocations.isRevoked(key)) throw new OAuthRefusal('trust_revoked', { party: which, ...key });
}

function refuseRevoked(revocations: Revocations, token: VerifiedToken, which: SubjectOrActor): void {
  refuseRevokedKey(revocations, token, which);
  const key = issuerAndKid(token);
  if (revocations.isLoggedOut(token.login, [key]))
    throw new OAuthRefusal('signed_out_by_provider', { party: which, ...key });
}
