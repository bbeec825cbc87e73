// Verifies external tokens: the only code that can create a VerifiedToken.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { isUnstorable } from '../../platform/json/strict-json.js';
import type { AuthenticatedClient } from '../assertions/client-authenticator.js';
import type { AccessFlow } from '../endpoint/flows.js';
import { EXPLAIN_CHECKS } from '../explain/explain-proof.js';
import type { ExternalPerson, RefusalContext, SubjectOrActor } from '../refusals/oauth-refusal.js';
import { isTokenRefusal } from '../refusals/oauth-refusal.js';
import type { ExternalLogin, IssuerKey } from '../revocation/revocations.js';
import { externalLoginOf } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import type { EventClaims } from '../signals/security-event.js';
import type { ClaimSet } from '../trust/claim-names.js';
import { TrustedKeyService } from '../trust/lookup/trusted-key.service.js';
import type { TrustedKey } from '../trust/trusted-key.js';
import type { CheckResult, CheckRules, KeySource, TokenCheck } from './check-runner.js';
import { CheckedToken, passAll, resultsOf } from './check-runner.js';
import type {
  AssertionClaims,
  ExplainClaims,
  ExternalClaims,
  LogoutClaims,
  TimedClaims,
} from './external-claims.js';
import { FLOW_CHECKS } from './flow-checks.js';
import { claimedKey } from './key-hints.js';

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
function personOf({ iss, sub, email }: ClaimSet): ExternalPerson | undefined {
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
      if (token.isSigned) error.person = personOf(token.jws.payload);
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
