// The guards of both flows, in the order in which the controllers name them: licence, throttle, switch, content type.
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { FlowThrottlerGuard } from '../http/throttle/flow-throttler.guard.js';
import { FlowRefusal } from './flow-refusal.js';
import type { TokenExchangeOptions } from './token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from './token-exchange.options.js';

/** A licence that runs out while the service runs takes the endpoints away (D39). */
@Injectable()
export class LicensedGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'isLicensed'>,
  ) {}

  canActivate(): boolean {
    if (this.options.isLicensed()) return true;
    throw new FlowRefusal('not_available', 'Not found');
  }
}

/** @rule 8.5 Embedded logins per client address and minute; GET and POST share the count. */
@Injectable()
export class EmbedLoginThrottlerGuard extends FlowThrottlerGuard {
  @Inject(TOKEN_EXCHANGE_OPTIONS)
  private readonly flows!: Pick<TokenExchangeOptions, 'embedLogin'>;

  readonly bucket = 'embed';

  limitPerMinute(): number {
    return this.flows.embedLogin.perMinute;
  }
}

/** @rule 8.6 Token exchanges per client address and minute. */
@Injectable()
export class ExchangeThrottlerGuard extends FlowThrottlerGuard {
  @Inject(TOKEN_EXCHANGE_OPTIONS)
  private readonly flows!: Pick<TokenExchangeOptions, 'exchange'>;

  readonly bucket = 'exchange';

  limitPerMinute(): number {
    return this.flows.exchange.perMinute;
  }
}

/** @rule 5.1.3 A disabled embedded login answers 501. */
@Injectable()
export class EmbedLoginEnabledGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'embedLogin'>,
  ) {}

  canActivate(): boolean {
    if (this.options.embedLogin.enabled) return true;
    throw new FlowRefusal('not_enabled', 'Embed login is not enabled on this instance');
  }
}

/** @rule 5.1.4 A disabled token exchange answers 501. */
@Injectable()
export class ExchangeEnabledGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'exchange'>,
  ) {}

  canActivate(): boolean {
    if (this.options.exchange.enabled) return true;
    throw new FlowRefusal('not_enabled', 'Token exchange is not enabled on this instance');
  }
}

const FORM = 'application/x-www-form-urlencoded';

/** @rule D20 A POST that is not a form is refused after licence, throttle and switch, before any field is read. */
@Injectable()
export class FormOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';', 1);
    if (request.method !== 'POST' || mediaType.trim().toLowerCase() === FORM) return true;
    throw new FlowRefusal('not_a_form', `Content-Type must be ${FORM}`);
  }
}
