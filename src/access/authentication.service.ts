// Finds out who presents a credential, and reads that user's present state.
import { Injectable } from '@nestjs/common';
import type { AccessTokenRefusal, Party, VerifiedAccessToken } from '../token-exchange/advanced.js';
import { AccessTokenService, SessionService } from '../token-exchange/advanced.js';
import type { User } from '../users/user.repository.js';
import { UserRepository } from '../users/user.repository.js';
import type { Principal } from './principal.js';

/** Why a Bearer credential lets nobody in. */
export type BearerRefusal = AccessTokenRefusal;

/** Whom a Bearer credential lets in, or why nobody. */
export type BearerVerdict = { readonly principal: Principal } | { readonly refusal: BearerRefusal };

@Injectable()
export class AuthenticationService {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly sessions: SessionService,
    private readonly users: UserRepository,
  ) {}

  /**
   * Who presents an access token; a refusal when it is not valid or one of its users is gone or disabled.
   * @rule D30 The rights are the actor's where there is one, else the subject's, as they are now.
   * See grants.ts for who decides that they are those of both (P.rights), and that scopes limit them (P.scopes).
   * @rule D8 An actor who is gone is never replaced by the subject.
   */
  async byAccessToken(token: string): Promise<BearerVerdict> {
    const verdict = await this.accessTokens.judge(token);
    if ('refusal' in verdict) return verdict;
    const { id, subjectUserId, actorUserId, subjectGeneration, actorGeneration, rights, scopes, expiresAt } =
      verdict.token;
    const [subject, actor] = await Promise.all([
      this.users.findById(subjectUserId),
      actorUserId === undefined ? undefined : this.users.findById(actorUserId),
    ]);
    if (!isEnabled(subject)) return refusedFor('subject', subject, verdict.token);
    const user = actorUserId === undefined ? subject : actor;
    if (!isEnabled(user)) return refusedFor('actor', user, verdict.token);
    const generation = actorUserId === undefined ? subjectGeneration : actorGeneration;
    if (!isCurrent(subject, subjectGeneration) || !isCurrent(user, generation))
      return { refusal: { reason: 'revoked', token: verdict.token } };
    const onBehalfOf = actorUserId === undefined ? undefined : subject;
    const needsBoth = rights === 'both' && subject.id !== user.id;
    const judged = needsBoth ? [user, subject] : [user];
    const credential = { kind: 'access_token', id } as const;
    return { principal: { user, onBehalfOf, judged, scopes, expiresAt, credential } };
  }

  /**
   * Who presents session ids: of several the latest login counts. Undefined when they have ended, or its user is gone or
   * disabled.
   */
  async bySession(sessionIds: readonly string[]): Promise<Principal | undefined> {
    const sessions = await this.sessions.findLive(sessionIds);
    const [latest] = sessions;
    if (latest === undefined) return undefined;
    const user = await this.users.findById(latest.userId);
    if (!isEnabled(user) || !isCurrent(user, latest.accessGeneration)) return undefined;
    const { loginOrigin, expiresAt } = latest;
    const familyIds = sessions.map(({ familyId }) => familyId);
    return { user, judged: [user], expiresAt, credential: { kind: 'session', loginOrigin, familyIds } };
  }

  /** Whether the provider of a login has lately ended one of the sessions with these ids. */
  wasSignedOutByProvider(sessionIds: readonly string[]): Promise<boolean> {
    return this.sessions.wasSignedOutByProvider(sessionIds);
  }
}

/**
 * Whether a user's access was not ended since a token was issued or a session opened. One without a generation is refused.
 */
function isCurrent({ accessGeneration }: User, recorded: string | null | undefined): boolean {
  return recorded === accessGeneration;
}

/**
 * @rule D7 A disabled user's tokens and sessions stop working at once, and for good.
 * See the migration of the access generation, which the trigger raises, and `isCurrent` here.
 * See identity.service.ts and commit.repository.ts for the refusal in both flows.
 */
function isEnabled(user: User | undefined): user is User {
  return user?.enabled === true;
}

function refusedFor(party: Party, user: User | undefined, token: VerifiedAccessToken): BearerVerdict {
  const [reason, found] =
    user === undefined
      ? (['user_unknown', `the ${party} is gone`] as const)
      : (['user_disabled', `the ${party} is disabled`] as const);
  return { refusal: { reason, found, token } };
}
