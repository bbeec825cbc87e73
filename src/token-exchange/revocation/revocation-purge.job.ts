// Deletes what was revoked so long ago that nothing can be presented any more.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { PurgeJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { RevocationRepository } from './revocation.repository.js';
import { LOGOUT_KEPT_MS } from './revocations.js';

/** An instance whose clock is behind may still take a token that has expired here. */
const CLOCK_DIFFERENCE_MS = 60_000;

@Injectable()
export class RevocationPurgeJob extends PurgeJob {
  protected readonly batchSize = 1_000;

  constructor(
    private readonly repository: RevocationRepository,
    private readonly clock: Clock,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'revocation-purge', intervalSeconds: 120 }, leader, log);
  }

  protected async deleteBatch(limit: number): Promise<number> {
    const now = this.clock.now();
    const tokens = await this.repository.purgeTokens(now, CLOCK_DIFFERENCE_MS, limit);
    const logouts = await this.repository.purgeLogouts(now, LOGOUT_KEPT_MS, limit);
    return Math.max(tokens, logouts);
  }
}
