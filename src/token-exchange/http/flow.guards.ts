// The guards of the flows; flow.endpoints.ts says which endpoint has which, in which order.
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { minuteThrottler } from '../../platform/http/throttle/minute-throttler.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { FlowRefusal, notEnabled, refusalOfLabel } from './flow-refusal.js';
import { ClockDifference } from '../replay/clock-difference.js';
import { loginMethods } from './paths.js';
import { requestOf } from '../../platform/http/http-answers.js';
import { beginWait } from '../../platform/http/request-wait.js';
import { Revocations } from '../revocation/revocations.js';
import type { ThrottledFlow } from '../host/telemetry.js';

/** Removes the endpoints while the service runs, for example when a licence runs out (D39). */
@Injectable()
export class AvailableGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'isOffered'>,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    beginWait(requestOf(context));
    if (this.options.isOffered()) return true;
    throw new FlowRefusal('not_available', 'Not found');
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
    throw new FlowRefusal('method_not_allowed', `The method must be ${this.methods.join(' or ')}`, {
      allow: this.methods.join(', '),
    });
  }
}

/** By which browsers mark what no user has asked for yet. `Sec-Purpose` is that of the Fetch standard, the others are older. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'];
const AHEAD = /\b(prefetch|prerender|preview)\b/i;

/** Keeps a browser that fetches a link ahead from using up its token (D57). */
@Injectable()
export class PrefetchGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = requestOf(context);
    if (method !== 'GET' || !PURPOSES.some((name) => AHEAD.test(String(headers[name])))) return true;
    throw new FlowRefusal('prefetch', 'A prefetch signs no user in; the token is not used up');
  }
}

/** A guard that limits requests per client address and minute, in a bucket of their own. */
export function throttlerOf(
  flow: ThrottledFlow,
  perMinute: (options: TokenExchangeOptions) => number,
): Type<CanActivate> {
  return minuteThrottler(flow, TOKEN_EXCHANGE_OPTIONS, perMinute);
}

/** A guard of an endpoint that can be switched off. */
export function enabledGuardOf(
  what: string,
  isOn: (options: TokenExchangeOptions) => boolean,
): Type<CanActivate> {
  @Injectable()
  class EnabledGuard implements CanActivate {
    constructor(@Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: TokenExchangeOptions) {}

    canActivate(): boolean {
      if (isOn(this.options)) return true;
      throw notEnabled(what);
    }
  }
  return EnabledGuard;
}

/** Without it a token that was used and has expired might be taken again (D97). */
@Injectable()
export class ClockGuard implements CanActivate {
  constructor(private readonly clocks: ClockDifference) {}

  /** @throws TemporarilyUnavailableException */
  canActivate(): boolean {
    this.clocks.ensureSmall();
    return true;
  }
}

/** @rule D20 A body that is no form is refused after availability, throttle and switch, before any field is read. */
@Injectable()
export class FormGuard implements CanActivate {
  /** @throws Error where the host has no parser for forms */
  canActivate(context: ExecutionContext): boolean {
    const { method, headers, body } = requestOf(context);
    if (method !== 'POST') return true;
    const isParsed = typeof body === 'object' && body !== null && !ArrayBuffer.isView(body);
    const refusal = refusalOfLabel(headers, isParsed ? body : undefined);
    if (refusal !== undefined) throw refusal;
    if (!isParsed && Number(headers['content-length']) > 0)
      throw new Error('no parser of this application has read the form: do not switch off its bodyParser');
    return true;
  }
}

/** Lets requests through while it is known what has been revoked: no flow begins what it could not answer for. */
@Injectable()
export class RevocationsKnownGuard implements CanActivate {
  constructor(private readonly revocations: Revocations) {}

  /** @throws TemporarilyUnavailableException */
  canActivate(): boolean {
    this.revocations.ensureKnown();
    return true;
  }
}
