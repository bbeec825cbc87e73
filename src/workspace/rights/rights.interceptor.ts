// Lets a call through to its route if the licence has its feature and the acting user has its right.
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { Principal } from '../../access/principal.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { OperationRule } from '../api/operation.decorator.js';
import { ruleOf } from '../api/operation.decorator.js';
import { readPathId } from '../api/query.pipe.js';
import type { WorkspaceOptions } from '../workspace.options.js';
import { WORKSPACE_OPTIONS } from '../workspace.options.js';
import { AccessRights } from './access-rights.js';
import type { ThingKind } from './project-role.repository.js';
import type { Right } from './rights.js';
import { isInstanceRight } from './rights.js';

type Parameters = Readonly<Record<string, string>>;

/** Which thing the right is asked for, by the parameter of the path that names it. */
const THINGS = [
  ['projectId', 'project'],
  ['workflowId', 'workflow'],
  ['credentialId', 'credential'],
] as const satisfies readonly (readonly [string, ThingKind])[];

/**
 * An interceptor rather than a guard, so that refused calls are in the audit trail too, and before the pipes, so that
 * nobody's body is judged who may not send one. Routes without a thing in their path are lists, which their query
 * narrows, or creations, whose project is in the body: those check the rest themselves.
 */
@Injectable()
export class RightsInterceptor implements NestInterceptor {
  constructor(
    private readonly rights: AccessRights,
    @Inject(WORKSPACE_OPTIONS) private readonly options: WorkspaceOptions,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { principal, params } = context.switchToHttp().getRequest<FastifyRequest>();
    if (principal === undefined) throw new Error('the RightsInterceptor needs the AuthenticationGuard');
    const rule = ruleOf(context.getHandler());
    this.refuseUnlicensed(rule);
    if (rule.right !== undefined) await this.refuseUnentitled(principal, rule.right, params as Parameters);
    return next.handle();
  }

  private refuseUnlicensed({ feature }: OperationRule): void {
    if (feature !== undefined && !this.options.isLicensed(feature))
      throw new ApiRefusal('feature_not_licensed');
  }

  private async refuseUnentitled({ user }: Principal, right: Right, params: Parameters): Promise<void> {
    if (isInstanceRight(right)) {
      const { userId } = params;
      if (userId === undefined) return this.rights.requireOnInstance(user, right);
      if (right !== 'user:read' && right !== 'user:write') throw new Error(`${right} is no right on a user`);
      return this.rights.requireOnUser(user, right, readPathId(userId));
    }
    for (const [name, kind] of THINGS) {
      const id = params[name];
      if (id !== undefined) return this.rights.requireOnThing(user, right, kind, readPathId(id));
    }
  }
}
