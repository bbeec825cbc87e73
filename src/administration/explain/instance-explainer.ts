// Explains tokens that this instance receives.
import { Injectable } from '@nestjs/common';
import { InstanceProjects } from '../../workspace/projects/instance-projects.js';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transaction.js';
import type {
  CheckedStoredEntry,
  ExplanationRequest,
  TokenExplanation,
} from '../../token-exchange/instance.js';
import {
  IdentityLinkRepository,
  JtiRepository,
  JwksSnapshotRepository,
  RevocationRepository,
  SeatRepository,
  StoredEntryChanges,
  TokenExplainer,
} from '../../token-exchange/instance.js';
import { InstanceUsers } from '../../users/instance-users.js';
import { AdministrationSettings } from '../settings.js';

@Injectable()
export class InstanceExplainer {
  constructor(
    private readonly settings: AdministrationSettings,
    private readonly entries: StoredEntryChanges,
    private readonly transactions: Transactions,
    private readonly keySets: JwksSnapshotRepository,
    private readonly revocations: RevocationRepository,
    private readonly jtis: JtiRepository,
    private readonly links: IdentityLinkRepository,
    private readonly users: InstanceUsers,
    private readonly projects: InstanceProjects,
    private readonly seats: SeatRepository,
    private readonly clock: Clock,
  ) {}

  /** @param alsoTrusted entries to treat as stored */
  async explain(
    request: ExplanationRequest,
    alsoTrusted: readonly CheckedStoredEntry[] = [],
  ): Promise<TokenExplanation> {
    const { transactions, keySets, revocations, jtis, links, users, projects, seats, clock } = this;
    const storedEntries = async () => [...(await this.entries.list()), ...alsoTrusted];
    const sources = {
      transactions,
      keySets,
      revocations,
      jtis,
      links,
      users,
      projects,
      seats,
      clock,
      storedEntries,
    };
    return new TokenExplainer(await this.settings.explanationRules(), sources).explain(request);
  }
}
