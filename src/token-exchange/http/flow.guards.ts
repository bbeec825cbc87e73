// The guards of the flows. Those of revocation and logout that throttle stand beside their controllers.
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { printableName } from '../../platform/text/printable.js';
import { minuteThrottler } from '../../platform/http/throttle/minute-throttler.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { CODING_MESSAGE } from '../../platform/http/answers.js';
import { BODY_LIMIT_BYTES, BODY_TOO_LARGE, faultOfLabel } from '../../platform/http/body.js';
import type { BodyLabel, LabelFault } from '../../platform/http/body.js';
import type { FlowRefusalKind } from '../refusals/refusals.js';
import { FlowRefusal, notEnabled } from './flow-refusal.js';
import { ClockDifference } from '../replay/clock-difference.js';
import { FormBodies } from './form-bodies.js';
import { loginMethods } from './paths.js';
import { requestOf } from '../../platform/http/http-answers.js';
import { beginWait } from '../../platform/http/request-wait.js';
import { Revocations } from '../revocation/revocations.js';
import type { ThrottledFlow } from '../host/telemetry.js';

/** Removes the endpoints while the service runs, for example when a licence runs out (D39). */
@Injectable()
export class AvailableGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) private readonly options: Pick<TokenExchangeOptions, 'isAvailable'>,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    beginWait(requestOf(context));
    if (this.options.isAvailable()) return true;
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

/** @rule 8.5 Embedded logins per client address and minute; GET and POST share the count. */
export const EmbedLoginThrottlerGuard = throttlerOf('embed', ({ embedLogin }) => embedLogin.perMinute);

/** @rule 8.6 Token exchanges per client address and minute. */
export const ExchangeThrottlerGuard = throttlerOf('exchange', ({ exchange }) => exchange.perMinute);

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

/** Whether the token endpoint takes any grant. */
export function issuesTokens({ exchange, idAssertion }: TokenExchangeOptions): boolean {
  return exchange.enabled || idAssertion.enabled;
}

/** @rule 5.1.3 = 7.3 A disabled embedded login answers 501. */
export const EmbedLoginEnabledGuard = enabledGuardOf('Embed login', ({ embedLogin }) => embedLogin.enabled);

/** @rule 5.1.4 = 7.2 A disabled token exchange answers 501, unless the endpoint takes identity assertions. */
export const ExchangeEnabledGuard = enabledGuardOf('Token exchange', issuesTokens);

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

const FORM = 'application/x-www-form-urlencoded';
const LABEL_FAULTS = {
  content_encoding: ['content_encoding_not_supported', CODING_MESSAGE],
  media_type: ['not_a_form', `Content-Type must be ${FORM}`],
  charset: ['not_a_form', 'The charset must be UTF-8'],
} as const satisfies Record<LabelFault, readonly [FlowRefusalKind, string]>;

/**
 * @rule D20 A body that is too large or no form is refused after availability, throttle and switch, before any field is read.
 */
@Injectable()
export class FormOnlyGuard implements CanActivate {
  constructor(private readonly bodies: FormBodies) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    if (request.method !== 'POST') return true;
    const { body, label } = this.bodies.of(request);
    if (body === BODY_TOO_LARGE) {
      throw new FlowRefusal(
        'payload_too_large',
        `The request body is larger than ${BODY_LIMIT_BYTES / 1024} KiB`,
      );
    }
    const fault = faultOfLabel(label, FORM, body);
    if (fault === undefined) return true;
    const [kind, message] = LABEL_FAULTS[fault];
    throw new FlowRefusal(kind, message, undefined, printableLabel(label, fault));
  }
}

function printableLabel(label: BodyLabel, fault: LabelFault): string {
  return printableName(fault === 'content_encoding' ? label['content-encoding'] : label['content-type']);
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
