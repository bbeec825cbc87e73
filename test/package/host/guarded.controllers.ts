// Routes behind the guard of the package, at a path that the test says; and that guard for all routes but those that are public.
import type { HostUser } from '@embedded-token-exchange/nestjs';
import {
  CurrentUser,
  RequireScopes,
  TokenExchangeAuth,
  TokenExchangeGuard,
} from '@embedded-token-exchange/nestjs';
import type { ExecutionContext, Type } from '@nestjs/common';
import { Controller, Get, Injectable, Req } from '@nestjs/common';
import { IS_PUBLIC, Public } from './login-guard.js';

@Injectable()
export class ApiGuard extends TokenExchangeGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    return this.reflector.get<boolean>(IS_PUBLIC, context.getClass()) || super.canActivate(context);
  }
}

@RequireScopes('base')
class Base {}

/** Classes of their own at each call: several products of one application have them. */
export function guardedControllers({
  path,
  unmarked = false,
}: {
  path: string;
  unmarked?: boolean;
}): Type<object>[] {
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

  @Controller(`${path}/unmarked`)
  class UnmarkedController {
    @Get()
    who(@CurrentUser() { id }: HostUser, @Req() request: { user?: HostUser }): object {
      return { id, requestUser: request.user?.id };
    }
  }

  @Controller(`${path}/public`)
  @Public()
  class PublicController {
    @Get()
    greet(): object {
      return { isPublic: true };
    }
  }
  return [GuardedController, LimitedController, ...(unmarked ? [UnmarkedController, PublicController] : [])];
}
