// Ends the wait of a call that has shown a credential, for all that it still asks the database.
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { from, lastValueFrom } from 'rxjs';
import { Database } from '../platform/database/database.js';
import { withinWait } from '../platform/database/wait-limit.js';
import { waitedMs } from '../platform/http/request-wait.js';

/** For each route behind the AuthenticationGuard. The two flows limit themselves, since fetches of keys do not count. */
@Injectable()
export class WaitLimitInterceptor implements NestInterceptor {
  constructor(private readonly database: Database) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const waited = waitedMs(context.switchToHttp().getRequest<FastifyRequest>());
    if (waited === undefined) return next.handle();
    const answer = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    return from(withinWait(this.database.waitMs - waited, answer));
  }
}
