// Limits requests to the operator's API, attempts to sign in, and calls of operators.
import type { FastifyRequest } from 'fastify';
import { STARTUP } from '../../config/startup.js';
import { minuteThrottler } from '../../platform/http/throttle/minute-throttler.js';

const SIGN_INS_PER_MINUTE = 30;
const CALLS_PER_MINUTE = 600;
/** Some operators may share an address. */
const KNOCKS_PER_MINUTE = 1_200;

/** @rule B.operator Calls of the operator's API and sign-ins are counted per client address, calls of an operator per operator besides. */
export const OperatorSignInThrottlerGuard = minuteThrottler(
  'operator-sign-in',
  STARTUP,
  () => SIGN_INS_PER_MINUTE,
);

/** Before the lookup of a cookie, which any stranger can make up. */
export const OperatorAddressThrottlerGuard = minuteThrottler(
  'operator-address',
  STARTUP,
  () => KNOCKS_PER_MINUTE,
);

/** Behind the OperatorGuard. */
export const OperatorThrottlerGuard = minuteThrottler(
  'operator',
  STARTUP,
  () => CALLS_PER_MINUTE,
  ({ operator }: Pick<FastifyRequest, 'operator'>) => {
    if (operator === undefined) throw new Error('the OperatorThrottlerGuard needs the OperatorGuard');
    return operator.userId;
  },
);
