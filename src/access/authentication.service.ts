// Finds out who presents a credential, and reads that user's present state.
import { Injectable } from '@nestjs/common';
import { AccessTokenService } from '../token-exchange/access-tokens/access-token.service.js';
import { SessionService } from '../token-exchange/sessions/session.service.js';
import type { User } from '../users/user.repository.js';
import { UserRepository } from '../users/user.repository.js';
import type { Principal } from './principal.js';

@Injectable()
export class AuthenticationService {
  constructor(
    private readonly accessTokens: AccessTokenService,
    private readonly sessions: SessionService,
    private readonly users: UserRepository,
  ) {}

  /**
   * Who presents an access token; undefined when it is not valid or one of its users is gone or disabled.
   * @rule D30 The rights are the actor's where there is one, else the subject's, as they are now.
   * See grants.ts for who decides that they are those of both (P.rights), and that scopes limit them (P.scopes).
   * @rule D8 An actor who is gone is never replaced by the subject.
   */
  async byAccessToken(token: string): Promise<Principal | undefined> {
    const verified = await this.accessTokens.verify(token);
    if (verified === undefined) return undefined;
    const { id, subjectUserId, actorUserId, rights, scopes, expiresAt } = verified;
    const [subject, actor] = await Promise.all([
      this.enabledUser(subjectUserId),
      actorUserId === undefined ? undefined : this.enabledUser(actorUserId),
    ]);
    const user = actorUserId === undefined ? subject : actor;
    if (subject === undefined || user === undefined) return undefined;
    const onBehalfOf = actorUserId === undefined ? undefined : subject;
    const needsBoth = rights === 'both' && subject.id !== user.id;
    const judged = needsBoth ? [user, subject] : [user];
    return { user, onBehalfOf, judged, scopes, expiresAt, credential: { kind: 'access_token', id } };
  }

  /**
   * Who presents session ids: of several the latest login counts. Undefined when they have ended, or its user is gone or
   * disabled.
   */
  async bySession(sessionIds: readonly string[]): Promise<Principal | undefined> {
    const sessions = await this.sessions.findLive(sessionIds);
    const [latest] = sessions;
    if (latest === undefined) return undefined;
    const user = await this.enabledUser(latest.userId);
    if (user === undefined) return undefined;
    const { loginOrigin, expiresAt } = latest;
    const familyIds = sessions.map(({ familyId }) => familyId);
    return { user, judged: [user], expiresAt, credential: { kind: 'session', loginOrigin, familyIds } };
  }

  /**
   * @rule D7 A disabled user's tokens and sessions stop working at once.
   * See identity.service.ts and settlement.repository.ts for the refusal in both flows.
   */
  private async enabledUser(id: string): Promise<User | undefined> {
    const user = await this.users.findById(id);
    return user?.enabled === true ? user : undefined;
  }
}
