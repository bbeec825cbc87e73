// A host's guard for all routes: requests without a login are refused, unless the route is marked as public.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable, SetMetadata, UnauthorizedException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

export const IS_PUBLIC = 'isPublic';

export function Public(): ClassDecorator {
  return SetMetadata(IS_PUBLIC, true);
}

@Injectable()
export class LoginGuard implements CanActivate {
  constructor(@Inject(Reflector) private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.get<boolean | undefined>(IS_PUBLIC, context.getClass()) === true) return true;
    throw new UnauthorizedException('Sign in first');
  }
}
