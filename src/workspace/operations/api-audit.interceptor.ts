// Attributes each API call with an access token, each change, and each read of the trail to subject and
// actor.
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { ForbiddenException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { READING_METHODS } from '../../access/authentication.guard.js';
import type { Principal } from '../../access/principal.js';
import { auditUsers } from '../../access/principal.js';
import { Clock } from '../../platform/clock.js';
import { DatabaseOutages } from '../../platform/http/database-outages.js';
import { isId } from '../../platform/text/id.js';
import type { AuditEvent } from '../../token-exchange/instance.js';
import { AuditBus, auditEvent } from '../../token-exchange/instance.js';
import { Rule } from './operation.decorator.js';

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
