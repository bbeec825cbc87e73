// Shows who is signed in, and signs out.
import {
  BadRequestException,
  Controller,
  Get,
  HttpCode,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../platform/clock.js';
import { ClockDifference, SignOutService } from '../token-exchange/instance.js';
import type { User } from '../users/user.repository.js';
import { AuthenticationGuard, CurrentPrincipal, WaitLimitInterceptor } from './authentication.guard.js';
import type { Principal } from './authentication.service.js';

@Controller('rest')
@UseGuards(AuthenticationGuard)
@UseInterceptors(WaitLimitInterceptor)
export class SessionController {
  constructor(
    private readonly signOut: SignOutService,
    private readonly clock: Clock,
    private readonly clocks: ClockDifference,
  ) {}

  @Get('me')
  me(@CurrentPrincipal() principal: Principal) {
    const { user, onBehalfOf, scopes, credential, expiresAt } = principal;
    const now = credential.kind === 'session' ? this.clocks.databaseNow() : this.clock.now();
    return {
      user: userAnswer(user),
      onBehalfOf: onBehalfOf === undefined ? null : userAnswer(onBehalfOf),
      delegatedRights: delegatedRightsOf(principal),
      authentication: credential.kind,
      scopes: scopes === undefined ? null : [...scopes],
      expiresAt: expiresAt.toISOString(),
      // Rounded up, so that the session has ended when they are over.
      expiresInSeconds: Math.ceil((expiresAt.getTime() - now.getTime()) / 1000),
      hostOrigin: credential.kind === 'session' ? credential.loginOrigin : null,
    };
  }

  /**
   * @rule D28 Logout ends the whole family of the session in the database and clears the cookie. See `open`
   * in session.service.ts for the other half: what another user's login ends.
   * @param everywhere ends all bound sessions of the user that pages of the same host origin opened
   */
  @Post('auth/logout')
  @HttpCode(204)
  async logout(
    @CurrentPrincipal() { credential, user }: Principal,
    @Req() { id: requestId }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Query('everywhere') everywhere?: unknown,
  ): Promise<void> {
    const isEverywhere = readEverywhere(everywhere);
    if (credential.kind !== 'session') return;
    const { loginOrigin, isBound } = credential;
    if (isBound && isEverywhere && loginOrigin !== null)
      return this.signOut.signOutOfHost({ userId: user.id, loginOrigin }, requestId);
    const sessions = credential.familyIds.map((familyId) => ({ familyId }));
    const clearing = await this.signOut.signOut(sessions, requestId);
    if (!isBound) void reply.header('set-cookie', clearing);
  }
}

/** @throws BadRequestException for any value but `true` */
function readEverywhere(value: unknown): boolean {
  if (value === undefined || value === 'true') return value === 'true';
  throw new BadRequestException({ error: 'bad_request', message: 'everywhere must be true, or left out' });
}

function delegatedRightsOf({ onBehalfOf, rightsOf }: Principal): 'actor' | 'both' | null {
  if (onBehalfOf === undefined) return null;
  return rightsOf.some(({ id }) => id === onBehalfOf.id) ? 'both' : 'actor';
}

function userAnswer({ id, email, givenName, familyName, role }: User) {
  return { id, email, givenName, familyName, role };
}
