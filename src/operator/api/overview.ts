// The state of the instance for operators: configuration, licence, leader, and the sinks' backlog.
import { Inject, Injectable } from '@nestjs/common';
import { Read, readNothing } from '../../administration/operation.js';
import { AuditStreaming } from '../../audit/sinks/audit-streaming.js';
import { License } from '../../config/license.js';
import type { Startup } from '../../config/startup.js';
import { STARTUP } from '../../config/startup.js';
import { endOf, explanationOf, unavailableBecause } from '../../instance/availability.js';
import { FrameAncestors } from '../../instance/frame-ancestors.js';
import { trustedKeysRules, variableStates } from '../../instance/prepare-startup.js';
import { Clock } from '../../platform/clock.js';
import type { DatabaseSettings } from '../../platform/database/data-source.js';
import { DATABASE_SETTINGS } from '../../platform/database/data-source.js';
import type { StatementPool } from '../../platform/database/database.js';
import { OPERATOR_DATABASE } from '../../platform/database/database.js';
import { Leader } from '../../platform/jobs/leader.js';
import { VERSION } from '../../platform/version.js';
import { ALGORITHMS } from '../../token-exchange/instance.js';
import { entryForm, withLabels } from '../entries/entry-form.js';

@Injectable()
export class OverviewReader {
  private readonly startedAt: Date;

  constructor(
    @Inject(STARTUP) private readonly startup: Startup,
    @Inject(DATABASE_SETTINGS) private readonly databaseSettings: Pick<DatabaseSettings, 'kind'>,
    @Inject(OPERATOR_DATABASE) private readonly database: StatementPool,
    private readonly clock: Clock,
    private readonly leader: Leader,
    private readonly ancestors: FrameAncestors,
    private readonly streaming: AuditStreaming,
  ) {
    this.startedAt = clock.now();
  }

  /** Times are ISO 8601. */
  @Read('instance show', readNothing)
  async read() {
    const { startup } = this;
    const { config, license, warnings } = startup;
    const nowMs = this.clock.nowMs();
    const reason = unavailableBecause(startup, nowMs);
    const [row] = await this.database.query<{ server_version: string }>('SHOW server_version');
    return {
      version: VERSION,
      now: new Date(nowMs).toISOString(),
      baseUrl: config.baseUrl,
      tokenExchange: {
        available: reason === undefined,
        reason: reason ?? null,
        explanation: reason === undefined ? null : explanationOf(reason, startup),
        embedLogin: config.embedLoginEnabled,
        exchange: config.exchangeEnabled,
        idAssertion: config.idAssertionEnabled,
      },
      license:
        license === License.NONE
          ? null
          : { until: endOf(license), features: [...license.features], ended: license.hasEnded(nowMs) },
      warnings: withLabels(warnings),
      // The instance that sends this response.
      instance: {
        startedAt: this.startedAt.toISOString(),
        leader: this.leader.isLeader,
        processId: process.pid,
        node: process.version,
        database: this.databaseSettings.kind,
        databaseVersion: row?.server_version ?? '',
      },
      // Null if a reverse proxy sets `frame-ancestors`.
      frameAncestors: this.ancestors.current ?? null,
      // A running service has no configuration problems, because they prevent its start.
      variables: variableStates({ ...startup, problems: [] }),
      strict: config.strict,
      entryForm: entryForm(trustedKeysRules(config)),
      // The possible algorithms of an entry with a static key.
      keyAlgorithms: ALGORITHMS,
      // Only the leader measures the lag, at its last check.
      sinks: this.streaming
        .status()
        .map(({ sink, backlog }) => ({ name: sink, lagSeconds: backlog?.seconds ?? null })),
      // Null if events are kept for ever.
      retentionDays: config.auditRetentionDays === 0 ? null : config.auditRetentionDays,
    };
  }
}
