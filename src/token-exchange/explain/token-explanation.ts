// The explanation of a token as a plain value, for a terminal, a page or a program.
import type { AccessFlow } from '../endpoint/flows.js';
import type { ProfileField } from '../host/users.js';
import type { SubjectOrActor } from '../refusals/oauth-refusal.js';
import type { Check } from '../refusals/refusal.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import type { DelegatedRights } from '../trust/policy-rows.js';
import type { CheckResult } from '../verify/check-runner.js';

/** The request to explain, as a client would send it. */
export interface ExplanationRequest {
  readonly flow: AccessFlow;
  /** Secret. */
  readonly token: string;
  /** Secret. With token exchange only. */
  readonly actorToken?: string;
  /** The DPoP proof of the request to the token endpoint. */
  readonly proof?: string;
  /** The requested scope of the access token. */
  readonly scope?: string;
  readonly resource?: readonly string[];
  /** The origin of the page that posts the login; undefined if no browser posts it. */
  readonly origin?: string;
  /** The moment for which times are checked. Default: now. */
  readonly at?: Date;
}

export interface ExplanationRules {
  readonly options: Pick<
    TokenExchangeOptions,
    | 'strict'
    | 'clockToleranceSeconds'
    | 'embedLogin'
    | 'exchange'
    | 'idAssertion'
    | 'isOffered'
    | 'jwks'
    | 'ownIssuer'
    | 'tokenEndpoint'
    | 'roles'
    | 'trustedKeys'
  >;
  /** The audience of access tokens for this instance. */
  readonly audience?: string;
  /** The host's remedies, by the reason of the refusal. */
  readonly remedies?: Readonly<Record<string, string | undefined>>;
  /** The lifetime of sessions of embedded logins, if known. */
  readonly sessionLifetimeSeconds?: number;
}

/** JSON; times are ISO 8601. No property contains a token. E-mail addresses and `sub` are masked. */
export interface TokenExplanation {
  readonly flow: AccessFlow;
  /** The moment for which times were checked. Stored data are checked as they are now. */
  readonly asOf: string;
  readonly outcome: 'accepted' | 'refused';
  /** The reason and the remedy; null if the request would be accepted. */
  readonly refusal: ExplainedRefusal | null;
  /**
   * The results in the order of the checks. The first failed check is the reason. Later checks of a token also run, unless they need
   * its result.
   */
  readonly checks: readonly ExplainedCheck[];
  /** The subject, then the actor if there is one. */
  readonly tokens: readonly ExplainedToken[];
  /** What would be issued; null if nothing. */
  readonly issued: ExplainedAccessToken | ExplainedSession | null;
  /** More remarks for the operator. Each is a sentence. */
  readonly notes: readonly string[];
}

export interface ExplainedRefusal {
  readonly reason: TokenRefusalReason | EndpointRefusal;
  readonly check: Check;
  /** Null if the check concerns both tokens or the request. */
  readonly party: SubjectOrActor | null;
  readonly detail: string | null;
  readonly cause: string;
  readonly remedy: string;
}

/** Why no token is checked. */
export type EndpointRefusal = 'not_available' | 'not_enabled';

/** For checks of the request or of a user, the strings are null unless the refusal has them. */
export interface ExplainedCheck extends Omit<CheckResult, 'about'> {
  /** The checked property of a token or its entry; null for checks of the request or of a user. */
  readonly about: string | null;
  /** Whose token; null for both, or for the request. */
  readonly party: SubjectOrActor | null;
}

export interface ExplainedToken {
  readonly party: SubjectOrActor;
  /** As sent: it may be forged, unless the check `signature` has passed. */
  readonly content: ExplainedContent;
  /** The entry of the named key, otherwise its issuer's only entry; null if there is none. */
  readonly entry: ExplainedEntry | null;
  readonly user: ExplainedUser | null;
}

/** Null if the token has no readable value. */
export interface ExplainedContent {
  readonly issuer: string | null;
  readonly kid: string | null;
  readonly algorithm: string | null;
  readonly subject: string | null;
  readonly email: string | null;
  readonly role: string | null;
}

export interface ExplainedEntry {
  readonly from: 'configuration' | 'command';
  /** The index in the configuration, from 0; null if the entry is stored. */
  readonly index: number | null;
  /** Its name in logs and metrics. */
  readonly label: string;
  readonly type: 'static' | 'jwks';
  readonly isSuspended: boolean;
  /** What its tokens may do, in phrases. */
  readonly policy: readonly string[];
}

export interface ExplainedUser {
  /** Null if the user would be created. */
  readonly id: string | null;
  /** How the user is found: by the name in the entry, an earlier link, or the e-mail address. Otherwise the user is created. */
  readonly by: 'entry' | 'link' | 'email' | 'provisioning';
  /** Null if the user does not exist yet. */
  readonly roleBefore: string | null;
  /** Null if the user would be refused. */
  readonly roleAfter: string | null;
  /** Whether the role claim is ignored, because it names no assignable role. */
  readonly ignoresRoleClaim: boolean;
  /** The properties that the login would change besides the role. */
  readonly changedNames: readonly ProfileField[];
  /** What the claim of projects would change, a phrase for each membership. */
  readonly projects: readonly string[];
}

export interface ExplainedAccessToken {
  readonly kind: 'access-token';
  readonly lifetimeSeconds: number;
  readonly expiresAt: string;
  /** Null if the token is not limited. */
  readonly scopes: readonly string[] | null;
  /** Null if the token is for the host itself. */
  readonly audience: string | null;
  readonly rights: DelegatedRights;
  /** The thumbprint of the key that it would be bound to (DPoP); null: a Bearer token. */
  readonly keyThumbprint: string | null;
}

export interface ExplainedSession {
  readonly kind: 'session';
  /** Null if the host has its own sessions. */
  readonly lifetimeSeconds: number | null;
}
