// How anybody may fetch and keep what the instance publishes.
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Observable } from 'rxjs';
import { tap } from 'rxjs';

@Injectable()
export class PublishedInterceptor implements NestInterceptor {
  /**
   * Only of what is there: that something is not there is for no cache.
   * @rule D57 Pages of every origin may read it, without credentials, as programs may.
   * See http/known-paths.ts and http/body-label.ts for the methods and encodings.
   *
   * An hour in a cache does no harm: keys are published a day before they sign, the rest changes with the configuration.
   */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const publish = (): void => {
      reply
        .removeHeader('pragma')
        .headers({ 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' });
    };
    return next.handle().pipe(tap(publish));
  }
}
