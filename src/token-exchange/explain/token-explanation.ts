// What the service would make of a token, as a plain value: for a terminal, a page or a program to show.
import type { AccessFlow } from '../endpoint/flows.js';
import type { ProfileField } from '../host/users.js';
import type { DelegatedRights } from '../trust/policy-rows.js';
import type { Check } from '../refusals/refusal.js';
import type { SubjectOrActor } from '../refusals/oauth-refusal.js';
import type { TokenRefusalReason } from '../refusals/token-refusals.js';
import type { CheckResult } from '../verify/check-runner.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';

/** A request to explain, as a client would send it. */
export interface ExplanationRequest {
  readonly flow: AccessFlow;
  /** Secret. */
  readonly token: string;
  /** Secret. With token exchange only. */
  readonly actorToken?: string;
  /** The DPoP proof of the request to the token endpoint. */
  readonly proof?: string;
  /** Of the access token. */
  readonly scope?: string;
  readonly resource?: readonly string[];
  /** Of the page that posts the login; undefined: no browser does. */
  readonly origin?: string;
  /** The moment as of which times are checked; undefined: now. */
  readonly at?: Date;
}

/** By what is checked. */
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
  /** The audience of access tokens that are for no other service. */
  readonly audience?: string;
  /** What is to be done about a refusal in the host's words, by the word of the refusal. */
  readonly remedies?: Readonly<Record<string, string | undefined>>;
  /** The lifetime of sessions of embedded logins, if known. */
  readonly sessionLifetimeSeconds?: number;
}

/** JSON throughout: times are ISO 8601. No member holds a token; an e-mail address and a `sub` are masked. */
export interface TokenExplanation {
  readonly flow: AccessFlow;
  /** The moment for which times were checked. Stored data is checked as it is now. */
  readonly asOf: string;
  readonly outcome: 'accepted' | 'refused';
  /** The reason and what to do about it; null where it would be accepted. */
  readonly refusal: ExplainedRefusal | null;
  /**
   * In the order in which they are made. The first that failed is the reason. Later checks of a token that do not need the result of a
   * failed one are made too.
   */
  readonly checks: readonly ExplainedCheck[];
  /** The subject, then the actor where there is one. */
  readonly tokens: readonly ExplainedToken[];
  /** What would be handed out; null where nothing would be. */
  readonly issued: ExplainedAccessToken | ExplainedSession | null;
  /** What an operator should know beside that, a sentence each. */
  readonly notes: readonly string[];
}

export interface ExplainedRefusal {
  readonly reason: TokenRefusalReason | EndpointRefusal;
  /** The check that failed. */
  readonly check: Check;
  /** Null where it is about both tokens, or the request. */
  readonly party: SubjectOrActor | null;
  /** The exact fault, if there is more to say. */
  readonly detail: string | null;
  readonly cause: string;
  readonly remedy: string;
}

/** Why no token is looked at. */
export type EndpointRefusal = 'not_available' | 'not_enabled';

/** Of a check of the request, or of a user, the texts are null unless it failed and its refusal has them. */
export interface ExplainedCheck extends Omit<CheckResult, 'about'> {
  /** The checked member of one token or its entry; null for checks of the request, or of a user. */
  readonly about: string | null;
  /** Whose token; null for both, or for the request. */
  readonly party: SubjectOrActor | null;
}

export interface ExplainedToken {
  readonly party: SubjectOrActor;
  /** As sent: it may be forged, unless the check `signature` has passed. */
  readonly content: ExplainedContent;
  /** The entry whose key it names, else the only one of its issuer; null where there is none. */
  readonly entry: ExplainedEntry | null;
  /** The local user, as far as that was found out. */
  readonly user: ExplainedUser | null;
}

/** Null: it says nothing of it that could be read. */
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
  /** In the configuration, from 0; null: it is stored. */
  readonly index: number | null;
  /** Its name in logs and metrics. */
  readonly label: string;
  readonly type: 'static' | 'jwks';
  readonly isSuspended: boolean;
  /** What its tokens may do, in phrases. */
  readonly policy: readonly string[];
}

export interface ExplainedUser {
  /** Null: the user would be made. */
  readonly id: string | null;
  /** By what the user is found: the name in the entry, a link of an earlier login, the e-mail address, or not at all, and is made. */
  readonly by: 'entry' | 'link' | 'email' | 'provisioning';
  /** Null where there is no such user yet. */
  readonly roleBefore: string | null;
  /** Null where the user would not come in. */
  readonly roleAfter: string | null;
  /** Whether the role claim is ignored, since it names no role that can be assigned. */
  readonly ignoresRoleClaim: boolean;
  /** The names of what the login would change beside the role. */
  readonly changedNames: readonly ProfileField[];
  /** What the claim of projects would change, a phrase for each membership. */
  readonly projects: readonly string[];
}

export interface ExplainedAccessToken {
  readonly kind: 'access-token';
  readonly lifetimeSeconds: number;
  readonly expiresAt: string;
  /** Null: it is not limited to any. */
  readonly scopes: readonly string[] | null;
  /** Null: the host itself. */
  readonly audience: string | null;
  readonly rights: DelegatedRights;
  /** Of the key that it would be bound to (DPoP); null: it would be a Bearer token. */
  readonly keyThumbprint: string | null;
}

export interface ExplainedSession {
  readonly kind: 'session';
  /** Null where the host has sessions of its own. */
  readonly lifetimeSeconds: number | null;
}
