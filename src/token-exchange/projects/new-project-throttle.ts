// Limits how many projects the tokens of an entry create within a minute.
import { Inject, Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import {
  counterKey,
  THROTTLE_STORAGE,
  TooManyRequestsError,
  WINDOW_MS,
} from '../../platform/http/throttle/rate-limit.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import type { ProjectChange } from '../host/projects.js';
import type { TrustPolicy } from '../trust/trusted-key.js';
import { entryKeyOf } from '../trust/trusted-key.js';

/** A new customer has one or two projects. More than fifty new customers a minute are rare, and their tokens are only delayed. */
export const MAX_NEW_PROJECTS_PER_MINUTE = 100;

@Injectable()
export class NewProjectThrottle {
  constructor(
    @Inject(THROTTLE_STORAGE) private readonly storage: ThrottlerStorage,
    @Inject(LOGGER) private readonly logger: Log,
  ) {}

  /**
   * Counts the projects to be created. There is no total limit, because a partner may have any number of customers.
   * @throws TooManyRequestsError above the limit
   */
  async count(policy: TrustPolicy, changes: readonly ProjectChange[]): Promise<void> {
    const key = counterKey('projects of', entryKeyOf(policy));
    const limit = MAX_NEW_PROJECTS_PER_MINUTE;
    const created = changes.filter(({ id }) => id === undefined).length;
    for (let count = 0; count < created; count += 1) {
      const verdict = await this.storage.increment(key, WINDOW_MS, limit, WINDOW_MS, 'default');
      if (!verdict.isBlocked) continue;
      const { issuer, label } = policy;
      this.logger.warn(
        { issuer, label },
        `a token is answered 429: its entry has created ${limit} projects within a minute`,
      );
      throw new TooManyRequestsError(verdict.timeToBlockExpire);
    }
  }
}
