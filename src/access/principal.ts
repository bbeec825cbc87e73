// The user who makes a request, the users whose rights apply, and the user on whose behalf it is made.
import type { User } from '../users/user.repository.js';

/** The user and the actor, if any, of a request. */
export interface Principal {
  /** The acting user: the actor if there is one, otherwise the subject (D30). */
  readonly user: User;
  /** The user on whose behalf an actor acts; undefined without an actor. */
  readonly onBehalfOf?: User;
  /**
   * The users whose rights are checked; each must have the right that a call needs. Only `user`, or actor and
   * subject with `delegated_rights: both`.
   */
  readonly rightsOf: readonly User[];
  /** The scopes that limit an access token; undefined: all. */
  readonly scopes?: ReadonlySet<string>;
  /** When the session or token ends. */
  readonly expiresAt: Date;
  readonly credential:
    | {
        readonly kind: 'session';
        readonly loginOrigin: string | null;
        /** The families of all sessions in the request, which a sign-out ends. */
        readonly familyIds: readonly string[];
        /** Whether the session is bound to a key of the page; otherwise it has a cookie. */
        readonly isBound: boolean;
      }
    | { readonly kind: 'access_token'; readonly id: string };
}

/** The users whose rights apply, and the scopes. */
export type Authority = Pick<Principal, 'rightsOf' | 'scopes'>;

/** The ids for audit events: the subject, and the actor if there is one. */
export function auditUsers({ user, onBehalfOf }: Principal): {
  subjectUserId: string;
  actorUserId?: string;
} {
  return onBehalfOf === undefined
    ? { subjectUserId: user.id }
    : { subjectUserId: onBehalfOf.id, actorUserId: user.id };
}
