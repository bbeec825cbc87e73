// Who makes a request: whose rights count, and on whose behalf.
import type { User } from '../users/user.repository.js';

/** The user and the actor, if any, who make a request. */
export interface Principal {
  /** The user whose rights count: the actor where there is one, else the subject (D30). */
  readonly user: User;
  /** The user on whose behalf an actor acts; only with an actor. */
  readonly onBehalfOf?: User;
  /**
   * Whose rights are checked: each of them must have what a call needs. `user` alone, or with `delegated_rights: both` actor
   * and subject.
   */
  readonly rightsOf: readonly User[];
  /** The scopes that limit an access token; undefined: it is not limited. */
  readonly scopes?: ReadonlySet<string>;
  /** When the session or token ends. */
  readonly expiresAt: Date;
  readonly credential:
    | {
        readonly kind: 'session';
        readonly loginOrigin: string | null;
        /** Of all sessions that the request carries: what a sign-out ends. */
        readonly familyIds: readonly string[];
        /** Whether the session is bound to a key of the page; else a cookie carries it. */
        readonly isBound: boolean;
      }
    | { readonly kind: 'access_token'; readonly id: string };
}

/** The users whose rights count, and the scopes. */
export type Authority = Pick<Principal, 'rightsOf' | 'scopes'>;

/** The ids that audit events hold: the subject, and the actor where there is one. */
export function auditUsers({ user, onBehalfOf }: Principal): {
  subjectUserId: string;
  actorUserId?: string;
} {
  return onBehalfOf === undefined
    ? { subjectUserId: user.id }
    : { subjectUserId: onBehalfOf.id, actorUserId: user.id };
}
