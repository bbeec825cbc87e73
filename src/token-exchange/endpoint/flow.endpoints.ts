// The guards of endpoints, and the decorator of their controllers.
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { applyDecorators, Controller, Inject, Injectable, UseFilters, VERSION_NEUTRAL } from '@nestjs/common';
import { requestOf, stateOf, TOO_LARGE, TOO_LARGE_MESSAGE } from '../../platform/http/http-messages.js';
import { minuteThrottler } from '../../platform/http/throttle/rate-limit.js';
import { OwnRoutes } from '../host/token-exchange-auth.js';
import { notEnabled, requestRefusal } from '../refusals/oauth-refusal.js';
import { ClockDifference } from '../replay/clock-difference.js';
import { Revocations } from '../revocation/revocations.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { errorFilterOf } from './flow-error.filter.js';
import type { Endpoint } from './flows.js';
import { ENDPOINTS } from './flows.js';
import { refusalOfLabel } from './form.js';
import { loginMethods } from './paths.js';

/** Starts a request's wait for the database, before its first statement. */
@Injectable()
export class WaitGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    stateOf(requestOf(context)).beginWait();
    return true;
  }
}

/** Removes the endpoints while the service runs, for example when a licence runs out (D39). */
@Injectable()
export class AvailableGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'isOffered'>,
  ) {}

  canActivate(): boolean {
    if (this.options.isOffered()) return true;
    throw requestRefusal('not_available', 'Not found');
  }
}

@Injectable()
export class LoginMethodGuard implements CanActivate {
  private readonly methods: readonly string[];

  constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) options: Pick<TokenExchangeOptions, 'strict'>) {
    this.methods = loginMethods(options);
  }

  canActivate(context: ExecutionContext): boolean {
    const { method = '' } = requestOf(context);
    if (this.methods.includes(method)) return true;
    throw requestRefusal('method_not_allowed', `The method must be ${this.methods.join(' or ')}`, {
      allow: this.methods.join(', '),
    });
  }
}

/** The headers by which browsers mark a prefetch. `Sec-Purpose` is the Fetch standard's, the others are older. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'];
const AHEAD = /\b(prefetch|prerender|preview)\b/i;

/** Refuses a prefetch, which would use up the link's token (D57). */
@Injectable()
export class PrefetchGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = requestOf(context);
    if (method !== 'GET' || !PURPOSES.some((name) => AHEAD.test(String(headers[name])))) return true;
    throw requestRefusal('prefetch', 'A prefetch signs no user in; the token is not used up');
  }
}

/** A guard that limits requests per client address and minute, in a separate bucket. */
export function throttleGuardOf(endpoint: Endpoint): Type<CanActivate> {
  const { throttle } = ENDPOINTS[endpoint];
  return minuteThrottler(
    endpoint,
    TOKEN_EXCHANGE_OPTIONS,
    (options: TokenExchangeOptions) => options[throttle].perMinute,
  );
}

/** A guard of an endpoint that can be switched off. */
export function enabledGuardOf(endpoint: Endpoint): Type<CanActivate> {
  const { title, switches } = ENDPOINTS[endpoint];

  @Injectable()
  class EnabledGuard implements CanActivate {
    constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: TokenExchangeOptions) {}

    canActivate(): boolean {
      if (switches.some((name) => this.options[name].enabled)) return true;
      throw notEnabled(title);
    }
  }
  return EnabledGuard;
}

/** Without this check a used and expired token might be accepted again (D97). */
@Injectable()
export class ClockGuard implements CanActivate {
  constructor(private readonly clocks: ClockDifference) {}

  /** @throws TemporarilyUnavailableException */
  canActivate(): boolean {
    this.clocks.ensureSmall();
    return true;
  }
}

/**
 * @rule D20 A body that is too large, or no form, is refused after availability, throttle and switch, before any field is read.
 */
@Injectable()
export class FormGuard implements CanActivate {
  /** @throws Error if the host has no parser for forms */
  canActivate(context: ExecutionContext): boolean {
    const { method, headers, body } = requestOf(context);
    if (method !== 'POST') return true;
    if (body === TOO_LARGE) throw requestRefusal('payload_too_large', TOO_LARGE_MESSAGE);
    const isParsed = typeof body === 'object' && body !== null && !ArrayBuffer.isView(body);
    const refusal = refusalOfLabel(headers, isParsed ? body : undefined);
    if (refusal !== undefined) throw refusal;
    if (!isParsed && Number(headers['content-length']) > 0)
      throw new Error('no parser of this application has read the form: do not switch off its bodyParser');
    return true;
  }
}

/** Lets requests pass only while the revocations are known. */
@Injectable()
export class RevocationsKnownGuard implements CanActivate {
  constructor(private readonly revocations: Revocations) {}

  /** @throws TemporarilyUnavailableException */
  canActivate(): boolean {
    this.revocations.ensureKnown();
    return true;
  }
}

/**
 * The decorator of an endpoint's controller. The controller names its guards in the order of their calls (D20): first
 * `WaitGuard`, and availability before everything that a client could notice.
 */
export function FlowEndpoint(endpoint: Endpoint): ClassDecorator {
  return applyDecorators(
    Controller({ version: VERSION_NEUTRAL }),
    OwnRoutes(),
    UseFilters(errorFilterOf(endpoint)),
  );
}
