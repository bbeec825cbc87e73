// The leadership that a host has without bringing its own: by an advisory lock of its database.
import type { OnApplicationShutdown, Provider } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { connectionOf } from '../database/driver-pool.js';
import { Clock } from '../foundation/clock.js';
import type { Log } from '../foundation/log.js';
import { LOGGER } from '../foundation/log.js';
import { AdvisoryLockLeader } from './advisory-lock.leader.js';
import { Leader } from './leader.js';

/** Hands the leadership over when the application ends, after its jobs. */
@Injectable()
class Resignation implements OnApplicationShutdown {
  constructor(private readonly leader: Leader) {}

  onApplicationShutdown(): Promise<void> {
    return this.leader.stop();
  }
}

/** The candidate of this process, with what ends its candidacy. */
export function leadershipOf(): Provider[] {
  const useFactory = async ({ dataSource }: Database, log: Log, clock: Clock) => {
    const leader = new AdvisoryLockLeader(connectionOf(dataSource), log, clock);
    await leader.start();
    return leader;
  };
  return [{ provide: Leader, inject: [Database, LOGGER, Clock], useFactory }, Resignation];
}
