// Records the users of each month from the audit trail, so that requests need not: an event stays for a day at least, and is read within minutes.
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Leader } from '../../platform/jobs/leader.js';
import type { MayGoOn } from '../../platform/jobs/periodic.job.js';
import { ApplicationJob } from '../../platform/jobs/periodic.job.js';
import type { Purge } from '../../platform/jobs/purge.job.js';
import type { Log } from '../../platform/log/log.js';
import { LOGGER } from '../../platform/log/log.js';
import { ACTIVE_USERS_CURSOR, BEGINNING, SinkCursorRepository } from '../sinks/sink-cursor.repository.js';
import { ActiveUserRepository } from './active-user.repository.js';

/** Lets requests in between two windows. */
const PAUSE_MS = 20;
/** 24 months and the current one. */
const KEPT_DAYS = 762;

export const ACTIVE_USER_PURGE: Purge = {
  name: 'active-user-purge',
  intervalSeconds: 3_600,
  batchSize: 1_000,
  tables: [{ table: 'active_user', time: 'month', keptMs: KEPT_DAYS * 86_400_000 }],
};

@Injectable()
export class ActiveUsersJob extends ApplicationJob {
  private readonly users: ActiveUserRepository;

  constructor(
    private readonly cursors: SinkCursorRepository,
    { background }: Database,
    leader: Leader,
    @Inject(LOGGER) log: Log,
  ) {
    super({ name: 'active-users', intervalSeconds: 60 }, leader, log);
    this.users = new ActiveUserRepository(background);
  }

  /** What was read before may be read again: a user is recorded once. So a restored trail is read from its beginning. */
  async run(mayGoOn: MayGoOn = () => true): Promise<void> {
    await this.cursors.begin(ACTIVE_USERS_CURSOR, BEGINNING);
    const cursor = await this.cursors.cursorOf(ACTIVE_USERS_CURSOR);
    let from = cursor?.position;
    let position = cursor?.isAhead === true ? BEGINNING : from;
    while (mayGoOn() && from !== undefined && position !== undefined) {
      const last = await this.users.record(position);
      if (last === undefined || !(await this.cursors.move(ACTIVE_USERS_CURSOR, from, last))) return;
      from = position = last;
      await pause(PAUSE_MS);
    }
  }
}
