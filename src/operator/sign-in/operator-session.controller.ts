// Sign-in and sign-out at the operator's page, the signed-in operator, and changing one's password.
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Post,
  Put,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type {
  LiveOperatorSession,
  OperatorSession,
} from '../../administration/accounts/operator-session.repository.js';
import { inputOf } from '../../administration/operation.js';
import { clientOf } from '../../platform/http/throttle/rate-limit.js';
import { storableString } from '../../platform/input/schemas.js';
import { ClockDifference } from '../../token-exchange/instance.js';
import { JsonObject } from '../../workspace/api/body/json-body.js';
import {
  CurrentOperator,
  OperatorAddressThrottlerGuard,
  operatorCookie,
  OperatorGuard,
  OperatorSignInThrottlerGuard,
  OperatorThrottlerGuard,
  OwnPageGuard,
  readOperatorCookie,
} from './operator.guard.js';
import { OperatorRefusalFilter } from './operator-refusal.filter.js';
import { IDLE_SECONDS, OperatorSessionService, SESSION_SECONDS } from './operator-session.service.js';
import type { Origin, SignedIn } from './operator-sign-in.service.js';
import { OperatorSignInService } from './operator-sign-in.service.js';

const readSignIn = inputOf({ email: storableString(), password: storableString() });
const readCode = inputOf({ email: storableString(), code: storableString(), newPassword: storableString() });
const readChange = inputOf({ password: storableString(), newPassword: storableString() });
export type PasswordSignIn = ReturnType<typeof readSignIn>;
export type PasswordByCode = ReturnType<typeof readCode>;
export type PasswordChange = ReturnType<typeof readChange>;

@Controller('rest/admin')
@UseFilters(OperatorRefusalFilter)
export class OperatorSessionController {
  constructor(
    private readonly signIns: OperatorSignInService,
    private readonly sessions: OperatorSessionService,
    private readonly clocks: ClockDifference,
  ) {}

  @Post('session')
  @UseGuards(OwnPageGuard, OperatorSignInThrottlerGuard)
  async signIn(
    @JsonObject() body: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { email, password } = readSignIn(body);
    return this.signedInAnswer(await this.signIns.signIn(email, password, originOf(request)), reply);
  }

  @Get('session')
  @UseGuards(OperatorAddressThrottlerGuard, OperatorGuard)
  show(@CurrentOperator() operator: LiveOperatorSession) {
    return this.answer(operator, operator);
  }

  /** Also succeeds without a live session, and clears the cookie. */
  @Delete('session')
  @HttpCode(204)
  @UseGuards(OperatorAddressThrottlerGuard, OwnPageGuard)
  async signOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const secret = readOperatorCookie(request.headers.cookie);
    const session = secret === undefined ? undefined : await this.sessions.find(secret);
    if (session !== undefined) await this.signIns.signOut(session, originOf(request));
    void reply.header('set-cookie', operatorCookie('', 0));
  }

  @Post('password')
  @UseGuards(OwnPageGuard, OperatorSignInThrottlerGuard)
  async setByCode(
    @JsonObject() body: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { email, code, newPassword } = readCode(body);
    return this.signedInAnswer(
      await this.signIns.setByCode(email, code, newPassword, originOf(request)),
      reply,
    );
  }

  @Put('password')
  @UseGuards(OperatorAddressThrottlerGuard, OperatorGuard, OperatorThrottlerGuard)
  async changePassword(
    @CurrentOperator() operator: LiveOperatorSession,
    @JsonObject() body: Record<string, unknown>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { password, newPassword } = readChange(body);
    const origin = originOf(request);
    return this.signedInAnswer(
      await this.signIns.changePassword(operator, password, newPassword, origin),
      reply,
    );
  }

  private signedInAnswer({ account, session, secret }: SignedIn, reply: FastifyReply) {
    void reply.header('set-cookie', operatorCookie(secret, SESSION_SECONDS));
    return this.answer(account, session);
  }

  /** The signed-in operator. Times are ISO 8601. The session also ends half an hour after the last call. */
  private answer(
    person: Pick<LiveOperatorSession, 'email' | 'givenName' | 'familyName' | 'role'>,
    { userId, openedAt, expiresAt }: OperatorSession,
  ) {
    const { email, givenName, familyName, role } = person;
    return {
      operator: { id: userId, email, givenName, familyName, role },
      signedInAt: openedAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      idleSeconds: IDLE_SECONDS,
      expiresInSeconds: Math.ceil((expiresAt.getTime() - this.clocks.databaseNow().getTime()) / 1000),
    };
  }
}

function originOf({ id: requestId, ip, headers }: FastifyRequest): Origin {
  return { requestId, clientAddress: clientOf(ip), presented: readOperatorCookie(headers.cookie) };
}
