// Finds the user who presents a credential, and that user's current state.
import { Injectable } from '@nestjs/common';
import type { AccessTokenRefusal, PresentedCall, WebSession } from '../token-exchange/instance.js';
import {
  AccessTokenService,
  BoundSessionService,
  callerOf,
  DpopProofs,
  isEnabled,
  refusalNow,
  SessionService,
} from '../token-exchange/instance.js';
import { ROLE_NAMES } from '../users/role.js';
import type { User } from '../users/user.repository.js';
import { UserRepository } from '../users/user.repository.js';

/** The principal of a Bearer credential, or the reason for its refusal. */
export type BearerVerdict = { readonly principal: Principal } | { readonly refusal: AccessTokenRefusal };

@Injectable()
export class AuthenticationService {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly proofs: DpopProofs,
    private readonly sessions: SessionService,
    private readonly boundSessions: BoundSessionService,
    private readonly users: UserRepository,
  ) {}

  /**
   * The principal of an access token; a refusal if it is invalid, or one of its users is deleted or disabled.
   */
  async byAccessToken(call: PresentedCall): Promise<BearerVerdict> {
    const presented = await this.proofs.check(await this.accessTokens.check(call.token), call);
    const verdict = await callerOf(presented, (id) => this.users.findById(id), ROLE_NAMES);
    if ('refusal' in verdict) return verdict;
    const { user, onBehalfOf, rightsOf, scopes, token: verified } = verdict.caller;
    const credential = { kind: 'access_token', id: verified.id } as const;
    return { principal: { user, onBehalfOf, rightsOf, scopes, expiresAt: verified.expiresAt, credential } };
  }

  /**
   * The principal of the session with the latest login. Undefined if all sessions have ended, the user is
   * deleted or disabled, or `refusalNow` refuses.
   */
  async bySession(sessionIds: readonly string[]): Promise<Principal | undefined> {
    const sessions = await this.sessions.findLive(sessionIds);
    const [latest] = sessions;
    if (latest === undefined) return undefined;
    this.sessions.noteUse(latest);
    return this.ofSession(
      latest,
      sessions.map(({ familyId }) => familyId),
    );
  }

  /**
   * The principal of a bound session, or the reason why its proof is refused. Undefined in the same cases as
   * `bySession`.
   */
  async byBoundSession(call: PresentedCall): Promise<BearerVerdict | undefined> {
    const { session, refusal } = await this.boundSessions.find(call);
    if (refusal !== undefined) return { refusal };
    const principal = session && (await this.ofSession(session, [session.familyId]));
    return principal && { principal };
  }

  private async ofSession(latest: WebSession, familyIds: readonly string[]): Promise<Principal | undefined> {
    const user = await this.users.findById(latest.userId);
    const recorded = { generation: latest.accessGeneration, signedBy: latest.signedBy ?? [undefined] };
    if (!isEnabled(user) || refusalNow(user, recorded, ROLE_NAMES) !== undefined) return undefined;
    const { loginOrigin, expiresAt } = latest;
    const isBound = latest.keyThumbprint !== null;
    const credential = { kind: 'session', loginOrigin, familyIds, isBound } as const;
    return { user, rightsOf: [user], expiresAt, credential };
  }
}

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
