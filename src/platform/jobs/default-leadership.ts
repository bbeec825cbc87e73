// The leadership that a host has without bringing its own: by an advisory lock of its database.
import type { OnApplicationShutdown, OnModuleInit, Provider } from '@nestjs/common';
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { connectionOf } from '../database/driver-pool.js';
import type { Log } from '../log/log.js';
import { LOGGER } from '../log/log.js';
import { AdvisoryLockLeader } from './advisory-lock.leader.js';
import { Leader } from './leader.js';

/** Applies when the application starts, before its jobs do, and hands the leadership over when it ends, after them. */
@Injectable()
class Candidacy implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly leader: AdvisoryLockLeader) {}

  onModuleInit(): Promise<void> {
    return this.leader.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.leader.stop();
  }
}

/** The candidate of this process, with what begins and ends its candidacy. */
export function leadershipOf(): Provider[] {
  const useFactory = ({ dataSource }: Database, log: Log) =>
    new AdvisoryLockLeader(connectionOf(dataSource), log);
  return [
    { provide: AdvisoryLockLeader, inject: [Database, LOGGER], useFactory },
    { provide: Leader, useExisting: AdvisoryLockLeader },
    Candidacy,
  ];
}
