// The guards of token revocation that the flows do not have.
import type { CanActivate } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { FlowRefusal } from './flow-refusal.js';
import {
  MinuteThrottlerGuard,
  THROTTLE_STORAGE,
} from '../../platform/http/throttle/minute-throttler.guard.js';
import type { TokenExchangeOptions } from '../settings/token-exchange.options.js';
import { TOKEN_EXCHANGE_OPTIONS } from '../settings/token-exchange.options.js';
import { TokenRevocationService } from '../../token-exchange/tokens/token-revocation.service.js';

/** Token revocations per client address and minute, in a bucket of their own. */
@Injectable()
export class TokenRevocationThrottlerGuard extends MinuteThrottlerGuard {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS) { tokenRevocation }: Pick<TokenExchangeOptions, 'tokenRevocation'>,
    @Inject(THROTTLE_STORAGE) storage: ThrottlerStorage,
    reflector: Reflector,
  ) {
    super({ name: 'revocation', perMinute: tokenRevocation.perMinute }, storage, reflector);
  }
}

/** Without token exchange and identity assertions it goes: what is not issued is not ended. */
@Injectable()
export class TokenRevocationEnabledGuard implements CanActivate {
  constructor(
    @Inject(TOKEN_EXCHANGE_OPTIONS)
    private readonly options: Pick<TokenExchangeOptions, 'exchange' | 'idAssertion'>,
    private readonly tokens: TokenRevocationService,
  ) {}

  canActivate(): boolean {
    const { exchange, idAssertion } = this.options;
    if ((exchange.enabled || idAssertion.enabled) && this.tokens.isOffered) return true;
    throw new FlowRefusal('not_enabled', 'Token revocation is not enabled on this instance');
  }
}
