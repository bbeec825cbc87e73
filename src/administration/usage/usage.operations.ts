// Counts the users of each issuer: those with a seat, and those who were active in a month.
import { Inject, Injectable } from '@nestjs/common';
import { ActiveUserRepository } from '../../audit/usage/active-users.job.js';
import { Clock } from '../../platform/clock.js';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import { wholeNumber } from '../../platform/input/schemas.js';
import { maxUsersOf, SeatRepository, StoredEntryChanges } from '../../token-exchange/instance.js';
import { trustedEntries } from '../entries/entries.operations.js';
import { inputOf, Read } from '../operation.js';

export const MAX_MONTHS = 24;

export const USUAL_MONTHS = 12;

const readUsage = inputOf({ months: wholeNumber(1, MAX_MONTHS).default(USUAL_MONTHS) });

export interface IssuerUsage {
  readonly issuer: string;
  /** Users who currently have a seat. */
  readonly users: number;
  /** Null if unlimited. */
  readonly maxUsers: number | null;
  /** Only months with an active user, latest first. */
  readonly months: readonly { readonly month: string; readonly activeUsers: number }[];
}

@Injectable()
export class UsageOperations {
  private readonly active: ActiveUserRepository;

  constructor(
    private readonly seats: SeatRepository,
    private readonly entries: StoredEntryChanges,
    private readonly clock: Clock,
    @Inject(OPERATOR_DATABASE) private readonly database: StatementPool,
  ) {
    this.active = new ActiveUserRepository(database);
  }

  /** For issuers with an entry, with users, or with active users in these months. */
  @Read('usage', readUsage)
  async show({ months }: ReturnType<typeof readUsage>): Promise<readonly IssuerUsage[]> {
    const entries = await trustedEntries(this.entries);
    const seats = await this.seats.count(this.database);
    const active = await this.active.count(months, this.clock.now());
    const issuers = new Set([...entries, ...seats, ...active].map(({ issuer }) => issuer));
    return [...issuers].sort().map((issuer) => ({
      issuer,
      users: seats.find((one) => one.issuer === issuer)?.users ?? 0,
      maxUsers: maxUsersOf(issuer, entries) ?? null,
      months: active
        .filter((one) => one.issuer === issuer)
        .map(({ month, users: activeUsers }) => ({ month, activeUsers })),
    }));
  }
}
