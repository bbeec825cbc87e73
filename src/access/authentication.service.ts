// Finds out who presents a credential, and reads that user's present state.
import { Injectable } from '@nestjs/common';
import type { AccessTokenRefusal } from '../token-exchange/advanced.js';
import {
  AccessTokenService,
  SessionService,
  callerOf,
  isCurrent,
  isEnabled,
} from '../token-exchange/advanced.js';
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

  /** Who presents an access token; a refusal when it is not valid or one of its users is gone or disabled. */
  async byAccessToken(token: string): Promise<BearerVerdict> {
    const verdict = await callerOf(await this.accessTokens.judge(token), (id) => this.users.findById(id));
    if ('refusal' in verdict) return verdict;
    const { user, onBehalfOf, rightsOf: judged, scopes, token: verified } = verdict.caller;
    const credential = { kind: 'access_token', id: verified.id } as const;
    return { principal: { user, onBehalfOf, judged, scopes, expiresAt: verified.expiresAt, credential } };
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
