// Deletes what was revoked so long ago that nothing can be presented any more.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock.js';
import { PurgeJob } from '../../platform/jobs/application.job.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { RevocationRepository } from './revocation.repository.js';

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

  protected deleteBatch(limit: number): Promise<number> {
    return this.repository.purge(this.clock.now(), limit);
  }
}
