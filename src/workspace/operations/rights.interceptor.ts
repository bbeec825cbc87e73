// Lets a call through to its route if its token has the scope, the licence the feature and the acting users the right.
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { Principal } from '../../access/principal.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { Clock } from '../../platform/clock.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { OperationRule } from './operation.decorator.js';
import { ruleOf } from './operation.decorator.js';
import { readPathId } from '../api/query.pipe.js';
import { AccessRights } from '../rights/access-rights.js';
import type { Right } from '../rights/rights.js';
import { isInstanceRight } from '../rights/rights.js';
import { thingIn } from './route-rights.js';

type Parameters = Readonly<Record<string, string>>;

/**
 * An interceptor rather than a guard, so that refused calls are in the audit trail too, and before the pipes, so that a body is
 * checked only if the caller may send one. The scope comes first, before anything is read, so that the answer to a token without
 * it reveals nothing.
 */
@Injectable()
export class RightsInterceptor implements NestInterceptor {
  constructor(
    private readonly rights: AccessRights,
    private readonly clock: Clock,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { principal, params } = context.switchToHttp().getRequest<FastifyRequest>();
    if (principal === undefined) throw new Error('the RightsInterceptor needs the AuthenticationGuard');
    const rule = ruleOf(context.getHandler());
    if (rule.right !== undefined) this.rights.requireScope(principal, rule.right);
    this.refuseUnlicensed(rule);
    const isAsked = rule.right !== undefined && rule.asksItself !== true;
    if (isAsked) await this.refuseUnentitled(principal, rule.right, params as Parameters);
    return next.handle();
  }

  /** The licence may run out while the service runs. */
  private refuseUnlicensed({ feature }: OperationRule): void {
    const { license } = this.startup;
    if (feature !== undefined && !license.includes(feature, this.clock.nowMs()))
      throw new ApiRefusal('feature_not_licensed');
  }

  private async refuseUnentitled(principal: Principal, right: Right, params: Parameters): Promise<void> {
    if (isInstanceRight(right)) {
      const { userId } = params;
      if (userId === undefined) return this.rights.requireOnInstance(principal, right);
      if (right !== 'user:read' && right !== 'user:write') throw new Error(`${right} is no right on a user`);
      return this.rights.requireOnUser(principal, right, readPathId(userId));
    }
    const thing = thingIn(Object.keys(params));
    if (thing === undefined) throw new Error(`${right} is asked for on a route that names nothing`);
    const id = readPathId(params[thing.parameter] ?? '');
    return this.rights.requireOnThing(principal, right, thing.kind, id);
  }
}
