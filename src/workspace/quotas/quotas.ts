// How much there may be of what users make, each kind by its owner.
import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/transaction.js';
import { ApiRefusal } from '../api/api-refusal.js';
import type { QuotaKind, QuotaLimits } from './quota.repository.js';
import { QuotaRepository } from './quota.repository.js';

const WORDS: Readonly<Record<QuotaKind, (limit: number) => string>> = {
  workflows: (limit) => `A project has at most ${limit} workflows`,
  credentials: (limit) => `A project has at most ${limit} credentials`,
  members: (limit) => `A project has at most ${limit} members`,
  projects: (limit) => `A user is a member of at most ${limit} projects`,
};

/** Of a project: far beyond what honest projects have, so that no setting changes them. */
export const FIXED_LIMITS = { credentials: 1_000, members: 10_000 };

/** In the order in which their owners are locked: users before projects, as everywhere. */
const KINDS: readonly QuotaKind[] = ['projects', 'members', 'workflows', 'credentials'];

/** Something would be more than there may be. The message says what is counted, and the limit. */
export class QuotaRefusal extends ApiRefusal {
  constructor(kind: QuotaKind, limit: number) {
    super('quota_exceeded', WORDS[kind](limit));
  }
}

/**
 * @rule D103 An addition for an owner waits for other additions and counts then, no further than the limit: of two at once at the
 *   limit one passes. Existing rows above a new limit stay.
 */
@Injectable()
export class Quotas {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly limits: QuotaLimits,
  ) {}

  /**
   * Adds by `insert`, whose other errors come first. Kinds are locked in one order, so that there are no deadlocks.
   * @throws QuotaRefusal where there is too much afterwards: the transaction must not be committed then
   */
  async within<T>(
    transaction: Transaction,
    owners: Partial<Readonly<Record<QuotaKind, string>>>,
    insert: () => Promise<T>,
  ): Promise<T> {
    const kinds = KINDS.filter((kind) => owners[kind] !== undefined);
    for (const kind of kinds) await this.repository.lockOwner(transaction, kind, owners[kind] ?? '');
    const made = await insert();
    for (const kind of kinds) {
      const limit = this.limits[kind];
      if (await this.repository.hasMore(transaction, kind, owners[kind] ?? '', limit))
        throw new QuotaRefusal(kind, limit);
    }
    return made;
  }
}
