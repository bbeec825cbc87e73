// A route for calls with a bound session, as the guide describes it.
import { BoundSessionService, presentedCallOf } from '@embedded-token-exchange/nestjs/advanced';
import { Controller, Get, Req, UnauthorizedException } from '@nestjs/common';

type CallRequest = Parameters<typeof presentedCallOf>[0];

@Controller('bound-session')
export class BoundSessionController {
  constructor(private readonly sessions: BoundSessionService) {}

  @Get()
  async who(@Req() request: CallRequest): Promise<object> {
    const call = presentedCallOf(request);
    const { session } = call === undefined ? {} : await this.sessions.find(call);
    if (session === undefined) throw new UnauthorizedException();
    return { userId: session.userId };
  }
}
