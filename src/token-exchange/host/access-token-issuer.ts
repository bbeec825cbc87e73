// The port of access tokens.
import type { ExternalLogin } from '../revocation/external-login.js';
import type { VouchingKey } from '../revocation/vouching-key.js';

/** A prior actor, as an issuer names it: a record, which gives no rights. */
export interface PriorActor {
  readonly iss: string;
  readonly sub: string;
}

/** The contents of an access token. */
export interface AccessTokenGrant {
  /** Its `jti`: new, and not secret. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  /** `accessGeneration` of both users, as the token was decided on: to be compared at each use. */
  readonly subjectGeneration?: string;
  readonly actorGeneration?: string;
  /** The client that has sent an identity assertion, else the issuer of the subject token; recorded as `client_id`. */
  readonly clientId: string;
  /** The prior actors, the latest first; only with an actor. */
  readonly priorActors?: readonly PriorActor[];
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
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number;
  /** Seconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The keys that signed for subject and actor, in this order: the revocation of either must end the token. */
  readonly vouchedBy: readonly VouchingKey[];
  /** The logins of subject and actor: with any of them the token must end if its provider signs that user out. */
  readonly logins: readonly ExternalLogin[];
}

export interface IssuedAccessToken {
  /** The compact JWT. Secret. */
  readonly token: string;
}

/** Signs one access token, by a key that is there already. */
export type AccessTokenSigner = (grant: AccessTokenGrant) => IssuedAccessToken;

/**
 * The product's access tokens. An issuer of a host's own has to write down, and its API to enforce, what a grant limits:
 * `rights`, `grantedScopes`, `audience`. The answer of the exchange says so.
 */
export abstract class AccessTokenIssuer {
  /** The `aud` of tokens that are for the host itself, which a client may name as the resource. */
  readonly audience?: string;
  /** Takes the key that signs now, before anything is used up for the token. @throws Error where there is none */
  abstract prepare(): AccessTokenSigner;

  /**
   * Reads a live access token of this product; undefined for everything else. Its holder may then end it (RFC 7009), and
   * `Revocations.refusesToken` refuses it. Without this method that endpoint answers 501.
   */
  findLive?(token: string): Promise<LiveAccessToken | undefined>;
}

/** An access token that holds at this moment. */
export interface LiveAccessToken {
  /** Its `jti`. */
  readonly id: string;
  readonly subjectUserId: string;
  readonly actorUserId?: string;
  readonly expiresAt: Date;
}
