// Requests to explain, and their rules.
import type { AccessFlow } from '../host/flow.js';
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
