// Who is signed in, and signing out.
import { Controller, Get, HttpCode, Post, Req, Res, UseGuards, UseInterceptors } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../platform/clock.js';
import { SignOutService } from '../token-exchange/instance.js';
import type { User } from '../users/user.repository.js';
import { AuthenticationGuard, CurrentPrincipal, WaitLimitInterceptor } from './authentication.guard.js';
import type { Principal } from './principal.js';

@Controller('rest')
@UseGuards(AuthenticationGuard)
@UseInterceptors(WaitLimitInterceptor)
export class SessionController {
  constructor(
    private readonly signOut: SignOutService,
    private readonly clock: Clock,
  ) {}

  /** Its members are described in session.description.ts. */
  @Get('me')
  me(@CurrentPrincipal() principal: Principal) {
    const { user, onBehalfOf, scopes, credential, expiresAt } = principal;
    return {
      user: userAnswer(user),
      onBehalfOf: onBehalfOf === undefined ? null : userAnswer(onBehalfOf),
      delegatedRights: delegatedRightsOf(principal),
      authentication: credential.kind,
      scopes: scopes === undefined ? null : [...scopes],
      expiresAt: expiresAt.toISOString(),
      // Rounded up: when they are over the session is.
      expiresInSeconds: Math.ceil((expiresAt.getTime() - this.clock.nowMs()) / 1000),
      hostOrigin: credential.kind === 'session' ? credential.loginOrigin : null,
    };
  }

  /**
   * @rule D28 Logout ends the whole family of the session in the database and clears the cookie.
   * See `open` in session.service.ts for the other half: what a login of another user ends.
   */
  @Post('auth/logout')
  @HttpCode(204)
  async logout(
    @CurrentPrincipal() { credential }: Principal,
    @Req() { id: requestId }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    if (credential.kind !== 'session') return;
    const sessions = credential.familyIds.map((familyId) => ({ familyId }));
    void reply.header('set-cookie', await this.signOut.signOut(sessions, requestId));
  }
}

function delegatedRightsOf({ onBehalfOf, rightsOf }: Principal): 'actor' | 'both' | null {
  if (onBehalfOf === undefined) return null;
  return rightsOf.some(({ id }) => id === onBehalfOf.id) ? 'both' : 'actor';
}

function userAnswer({ id, email, givenName, familyName, role }: User) {
  return { id, email, givenName, familyName, role };
}
