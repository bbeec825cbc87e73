// Admits a call to its route if its token has the scope, the licence the feature, and the acting users the
// right.
import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { Principal } from '../../access/principal.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { Clock } from '../../platform/clock.js';
import { ApiRefusal } from '../api/api-refusal.js';
import { readPathId } from '../api/request-input.pipe.js';
import { AccessRights } from '../rights/access-rights.js';
import type { ThingKind } from '../rights/project-role.repository.js';
import type { Right } from '../rights/rights.js';
import { isInstanceRight } from '../rights/rights.js';
import type { OperationRule } from './operation.decorator.js';
import { Rule } from './operation.decorator.js';

/** A kind of object in a project, and the path parameter with its id. */
interface NamedThing {
  readonly parameter: string;
  readonly kind: ThingKind;
}

/** In order of precedence. */
const THINGS: readonly NamedThing[] = [
  { parameter: 'projectId', kind: 'project' },
  { parameter: 'workflowId', kind: 'workflow' },
  { parameter: 'credentialId', kind: 'credential' },
];

/** The path parameter that determines the project. */
export function thingIn(parameters: readonly string[]): NamedThing | undefined {
  return THINGS.find(({ parameter }) => parameters.includes(parameter));
}

/**
 * An interceptor instead of a guard, so that refused calls are in the audit trail too. It runs before the
 * pipes, so that a body is validated only if the caller may send one. The scope is checked before anything is
 * read, so that the response to a token without it reveals nothing.
 */
@Injectable()
export class RightsInterceptor implements NestInterceptor {
  constructor(
    private readonly rights: AccessRights,
    private readonly clock: Clock,
    private readonly reflector: Reflector,
    @Inject(STARTUP) private readonly startup: Startup,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { principal, params } = context.switchToHttp().getRequest<FastifyRequest>();
    if (principal === undefined) throw new Error('the RightsInterceptor needs the AuthenticationGuard');
    const { right, asksItself, feature } = this.reflector.get(Rule, context.getHandler());
    if (right !== undefined) this.rights.requireScope(principal, right);
    this.refuseUnlicensed(feature);
    if (right !== undefined && asksItself !== true)
      await this.refuseUnentitled(principal, right, params as Readonly<Record<string, string>>);
    return next.handle();
  }

  /** The licence may expire while the service runs. */
  private refuseUnlicensed(feature: OperationRule['feature']): void {
    const { license } = this.startup;
    if (feature !== undefined && !license.includes(feature, this.clock.nowMs()))
      throw new ApiRefusal('feature_not_licensed');
  }

  private async refuseUnentitled(
    principal: Principal,
    right: Right,
    params: Readonly<Record<string, string>>,
  ): Promise<void> {
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

/**
 * Checks the API's routes when their module is created: none may be open by mistake.
 * @throws Error for a route without an @Operation, or with a project right that nothing checks: its path
 * names no object, and it does not declare that it checks the right itself
 */
export function refuseOpenRoutes(controllers: readonly Type[]): void {
  const reflector = new Reflector();
  const pathOf = (target: Type | (() => unknown)) => reflector.get<string | undefined>(PATH_METADATA, target);
  for (const controller of controllers) {
    const prototype = controller.prototype as Record<string, () => unknown>;
    for (const name of new MetadataScanner().getAllMethodNames(prototype)) {
      const handler = prototype[name];
      const path = handler && pathOf(handler);
      if (handler === undefined || path === undefined) continue;
      const route = `${controller.name}.${name}`;
      const rule = reflector.get(Rule, handler) as OperationRule | undefined;
      if (rule === undefined) throw new Error(`${route} has no @Operation`);
      const { right, asksItself } = rule;
      if (right === undefined || isInstanceRight(right) || asksItself === true) continue;
      if (thingIn(parametersOf(`${pathOf(controller)}/${path}`)) === undefined)
        throw new Error(`${route} asks for ${right}, and its path names nothing`);
    }
  }
}

function parametersOf(path: string): string[] {
  return path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
}
