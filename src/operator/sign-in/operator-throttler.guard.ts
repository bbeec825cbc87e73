// Limits requests to the operator's API, attempts to sign in, and calls of operators.
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { InjectThrottlerStorage } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { MinuteThrottlerGuard } from '../../platform/http/throttle/minute-throttler.guard.js';

const SIGN_INS_PER_MINUTE = 30;
const CALLS_PER_MINUTE = 600;
/** Some operators may share an address. */
const KNOCKS_PER_MINUTE = 1_200;

/** @rule B.operator Calls of the operator's API and sign-ins are counted per client address, calls of an operator per operator besides. */
@Injectable()
export class OperatorSignInThrottlerGuard extends MinuteThrottlerGuard {
  constructor(@InjectThrottlerStorage() storage: ThrottlerStorage, @Inject(Reflector) reflector: Reflector) {
    super({ name: 'operator-sign-in', perMinute: SIGN_INS_PER_MINUTE }, storage, reflector);
  }
}

/** Before the lookup of a cookie, which any stranger can make up. */
@Injectable()
export class OperatorAddressThrottlerGuard extends MinuteThrottlerGuard {
  constructor(@InjectThrottlerStorage() storage: ThrottlerStorage, @Inject(Reflector) reflector: Reflector) {
    super({ name: 'operator-address', perMinute: KNOCKS_PER_MINUTE }, storage, reflector);
  }
}

/** Behind the OperatorGuard. */
@Injectable()
export class OperatorThrottlerGuard extends MinuteThrottlerGuard {
  constructor(@InjectThrottlerStorage() storage: ThrottlerStorage, @Inject(Reflector) reflector: Reflector) {
    super({ name: 'operator', perMinute: CALLS_PER_MINUTE }, storage, reflector);
  }

  protected override getTracker({ operator }: FastifyRequest): Promise<string> {
    if (operator === undefined) throw new Error('the OperatorThrottlerGuard needs the OperatorGuard');
    return Promise.resolve(operator.userId);
  }
}
