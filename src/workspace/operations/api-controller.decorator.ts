// Makes a class a controller of the public API, with all its guards, interceptors and filters.
import type { CallHandler, ExecutionContext, NestInterceptor, Type } from '@nestjs/common';
import {
  applyDecorators,
  Controller,
  ForbiddenException,
  Inject,
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, Reflector } from '@nestjs/core';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import {
  AuthenticationGuard,
  READING_METHODS,
  WaitLimitInterceptor,
} from '../../access/authentication.guard.js';
import type { Principal } from '../../access/authentication.service.js';
import { auditUsers } from '../../access/authentication.service.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { Clock } from '../../platform/clock.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { minuteThrottler } from '../../platform/http/throttle/rate-limit.js';
import { isId } from '../../platform/text/id.js';
import type { AuditEvent } from '../../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../../token-exchange/instance.js';
import { ApiRefusal, ApiRefusalFilter } from '../api/api-refusal.js';
import { readPathId } from '../api/request-input.pipe.js';
import { AccessRights } from '../rights/access-rights.js';
import type { ThingKind } from '../rights/project-role.repository.js';
import type { Right } from '../rights/rights.js';
import { isInstanceRight } from '../rights/rights.js';
import type { OperationRule } from './operation.decorator.js';
import { Rule } from './operation.decorator.js';

/**
 * Runs after the AuthenticationGuard and before the audit trail, whose growth it limits.
 * @rule B.calls Calls are counted per pair of actor and subject; without an actor, per user.
 */
const ApiThrottlerGuard = minuteThrottler(
  'api',
  STARTUP,
  ({ config }: Startup) => config.apiCallsPerMinute,
  ({ principal }: Pick<FastifyRequest, 'principal'>) => {
    if (principal === undefined) throw new Error('the ApiThrottlerGuard needs the AuthenticationGuard');
    const { subjectUserId, actorUserId = '' } = auditUsers(principal);
    return `${subjectUserId} ${actorUserId}`;
  },
);

/**
 * The order: authentication, rate limit, audit record, scope, licence and right, body and parameters, route.
 */
export function ApiController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(`api/v1/${path}`),
    UseGuards(AuthenticationGuard, ApiThrottlerGuard),
    UseInterceptors(WaitLimitInterceptor, ApiAuditInterceptor, RightsInterceptor),
    UseFilters(ApiRefusalFilter),
    ApiTags(tag),
  );
}

@Injectable()
export class ApiAuditInterceptor implements NestInterceptor {
  constructor(
    private readonly audit: AuditBus,
    private readonly clock: Clock,
    private readonly outages: DatabaseOutages,
    private readonly reflector: Reflector,
  ) {}

  /** Records the call before it runs: a call that cannot be attributed does not happen. */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { id, method, routeOptions, principal } = request;
    const { isAlwaysRecorded = false } = this.reflector.get(Rule, context.getHandler());
    if (isAlwaysRecorded) refuseForeignPage(request);
    const isRecorded = isAlwaysRecorded || !READING_METHODS.has(method);
    if (principal !== undefined && (isRecorded || principal.credential.kind === 'access_token')) {
      const context = { occurredAt: this.clock.now(), requestId: id, ...auditUsers(principal) };
      const route = routeOptions.url ?? '';
      const call = { method, route, targets: idsIn(request.params), ...proofOf(principal) };
      await this.record(auditEvent('svc.audit.api.called', context, call));
    }
    return next.handle();
  }

  private async record(event: AuditEvent): Promise<void> {
    try {
      await this.audit.record([event]);
    } catch (error) {
      this.outages.isUnrecorded(error);
      throw error;
    }
  }
}

/**
 * Refuses a read from a page of another site, which could send it with the session and so add an event in the
 * user's name. Browsers send the site.
 */
function refuseForeignPage({ principal, headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'] ?? 'none';
  if (principal?.credential.kind !== 'session' || site === 'same-origin' || site === 'none') return;
  throw new ForbiddenException({
    error: 'csrf_refused',
    message: 'The request does not come from this instance',
  });
}

/** The credential's id; not secret. */
function proofOf({ credential }: Principal): { accessTokenId: string } | { sessionFamilyId?: string } {
  return credential.kind === 'access_token'
    ? { accessTokenId: credential.id }
    : { sessionFamilyId: credential.familyIds[0] };
}

/** Records ids only, because any other string may contain anything. */
function idsIn(parameters: unknown): Record<string, string> {
  const entries = Object.entries(parameters as Record<string, string>);
  return Object.fromEntries(entries.filter(([, value]) => isId(value)));
}

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
