// Who makes a request: whose rights count, and on whose behalf.
import type { User } from '../users/user.repository.js';

/** The authenticated party of a request. */
export interface Principal {
  /** The user whose rights count: the actor where there is one, else the subject (D30). */
  readonly user: User;
  /** The user on whose behalf an actor acts; only with an actor. */
  readonly onBehalfOf?: User;
  /** When the session or token ends. */
  readonly expiresAt: Date;
  readonly credential:
    | {
        readonly kind: 'session';
        readonly loginOrigin: string | null;
        /** Of all sessions that the request carries: what a sign-out ends. */
        readonly familyIds: readonly string[];
      }
    | { readonly kind: 'access_token'; readonly id: string };
}

/** The ids that audit events hold: the subject, and the actor where there is one. */
export function auditParties({ user, onBehalfOf }: Principal): {
  subjectUserId: string;
  actorUserId?: string;
} {
  return onBehalfOf === undefined
    ? { subjectUserId: user.id }
    : { subjectUserId: onBehalfOf.id, actorUserId: user.id };
}
