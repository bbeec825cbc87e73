// Limits how often somebody tries to sign in at the operator's page, and how often an operator calls its API.
import { Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { InjectThrottlerStorage } from '@nestjs/throttler';
import type { FastifyRequest } from 'fastify';
import { MinuteThrottlerGuard } from '../../token-exchange/throttle/minute-throttler.guard.js';

const SIGN_INS_PER_MINUTE = 30;
const CALLS_PER_MINUTE = 600;

/** @rule B.operator Sign-ins are counted per client address, calls of the operator's API per operator. */
@Injectable()
export class OperatorSignInThrottlerGuard extends MinuteThrottlerGuard {
  constructor(@InjectThrottlerStorage() storage: ThrottlerStorage, @Inject(Reflector) reflector: Reflector) {
    super({ name: 'operator-sign-in', perMinute: SIGN_INS_PER_MINUTE }, storage, reflector);
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
