// Routes behind the guard of the package, at a path that the test says.
import type { HostUser } from '@embedded-token-exchange/nestjs';
import { CurrentUser, RequireScopes, TokenExchangeAuth } from '@embedded-token-exchange/nestjs';
import type { Type } from '@nestjs/common';
import { Controller, Get } from '@nestjs/common';

@RequireScopes('base')
class Base {}

/** Classes of their own at each call: several products of one application have them. */
export function guardedControllers(path: string): Type<object>[] {
  @Controller(path)
  @TokenExchangeAuth()
  class GuardedController {
    @Get()
    who(@CurrentUser() { id }: HostUser): object {
      return { id };
    }
  }

  @Controller(`${path}/limited`)
  @RequireScopes('class')
  class LimitedController extends Base {
    @Get()
    @RequireScopes('first', 'second')
    @RequireScopes('third')
    who(@CurrentUser() { id }: HostUser): object {
      return { id };
    }
  }
  return [GuardedController, LimitedController];
}
