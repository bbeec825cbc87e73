// The contents of an access token of this package.
import type { ExternalLogin, IssuerKey } from '../revocation/external-login.js';
import type { PriorActor } from '../verify/external-claims.js';

/** The contents of an access token. */
export interface AccessTokenGrant {
  /** Its `jti`: new, and not secret. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** `accessGeneration` of both users, as the token was decided on: to be compared at each use. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
  /** The client that has sent an assertion, else the issuer of the subject token; recorded as `client_id`. */
  readonly clientId: string;
  /** The prior actors, the latest first; only with an actor, or of an identity assertion. */
  readonly priorActors?: readonly PriorActor[];
  /** The jobs and services whose tokens came, where their entries name the users (`signInAs`). */
  readonly workloads?: readonly PriorActor[];
  /** Whose rights a call with the token has: `both` needs actor and subject to have them. Default `actor`. */
  readonly rights?: 'actor' | 'both';
  /** The scopes that are granted, which limit the token; undefined: it is not limited. */
  readonly grantedScopes?: readonly string[];
  /** The service that the token is for; undefined: the host itself. The host then takes it nowhere. */
  readonly audience?: string;
  /** Recorded, not granted (D55). */
  readonly requestedScope?: string;
  /** Recorded, not granted: target resource URIs as they were asked for, with spaces between them. */
  readonly requestedResource?: string;
  /** The thumbprint of the client's key (RFC 7638), which has to be proved at each use; undefined: a Bearer token. */
  readonly boundTo?: string;
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The keys that signed for subject and actor, in this order: the revocation of either must end the token. */
  readonly signedBy: readonly IssuerKey[];
  /** The logins of subject and actor: with any of them the token must end if its provider signs that user out. */
  readonly logins: readonly ExternalLogin[];
}

/** Signs one access token, by a key that is there already. @returns the compact JWT. Secret */
export type AccessTokenSigner = (grant: AccessTokenGrant) => string;
