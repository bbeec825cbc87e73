// The state of the instance for operators: what is configured and licensed, who leads, how sinks keep up.
import type { Startup } from '../../instance/startup.js';
import { License } from '../../config/license.js';
import { VERSION } from '../../platform/version.js';
import type { UnavailableReason } from '../../instance/availability.js';
import { endOf, explanationOf, unavailableBecause } from '../../instance/availability.js';
import type { VariableState } from '../../instance/variable-states.js';
import { variableStates } from '../../instance/variable-states.js';
import type { LeftOutMembers } from '../../token-exchange/plain.js';
import { leftOutMembers } from '../../token-exchange/plain.js';
import type { SinkStatus } from '../../audit/sinks/audit-streaming.js';
import type { Leader } from '../../platform/jobs/leader.js';
import type { Database } from '../../platform/database/database.js';
import type { Clock } from '../../platform/clock.js';

/** What the instance that answers knows of itself. */
export interface InstanceState {
  readonly startup: Startup;
  readonly leader: Leader;
  readonly databaseKind: 'embedded' | 'postgresql';
  /** Undefined: a reverse proxy says it. */
  readonly frameAncestors: () => readonly string[] | undefined;
  readonly sinks: () => readonly SinkStatus[];
}

/** Times are ISO 8601. */
export interface Overview {
  readonly version: string;
  readonly now: string;
  readonly baseUrl: string;
  readonly tokenExchange: {
    readonly available: boolean;
    readonly reason: UnavailableReason | null;
    readonly explanation: string | null;
    readonly embedLogin: boolean;
    readonly exchange: boolean;
  };
  readonly license: {
    readonly until: string;
    readonly features: readonly string[];
    readonly ended: boolean;
  } | null;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  /** The state of the instance that answers. */
  readonly instance: {
    readonly startedAt: string;
    readonly leader: boolean;
    readonly processId: number;
    readonly node: string;
    readonly database: 'embedded' | 'postgresql';
    readonly databaseVersion: string;
  };
  /** Null: nothing is said, a reverse proxy says it. */
  readonly frameAncestors: readonly string[] | null;
  readonly variables: readonly VariableState[];
  /** What holds of members that an entry leaves out if it is added now. */
  readonly policyDefaults: LeftOutMembers & { readonly strict: boolean };
  /** As the leader has looked last; another instance does not know. */
  readonly sinks: readonly { readonly name: string; readonly lagSeconds: number | null }[];
  /** Null: events are kept for ever. */
  readonly retentionDays: number | null;
}

export class OverviewReader {
  private readonly startedAt: Date;

  constructor(
    private readonly state: InstanceState,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.startedAt = clock.now();
  }

  async read(): Promise<Overview> {
    const { startup, leader, databaseKind, frameAncestors, sinks } = this.state;
    const { config, license, warnings, notes } = startup;
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
      },
      license:
        license === License.NONE
          ? null
          : { until: endOf(license), features: [...license.features], ended: license.hasEnded(nowMs) },
      warnings,
      notes,
      instance: {
        startedAt: this.startedAt.toISOString(),
        leader: leader.isLeader,
        processId: process.pid,
        node: process.version,
        database: databaseKind,
        databaseVersion: row?.server_version ?? '',
      },
      frameAncestors: frameAncestors() ?? null,
      // With a problem it would not have started.
      variables: variableStates({ ...startup, problems: [] }),
      policyDefaults: { strict: config.strict, ...leftOutMembers(config.strict ? 'strict' : 'stored') },
      sinks: sinks().map(({ sink, backlog }) => ({ name: sink, lagSeconds: backlog?.seconds ?? null })),
      retentionDays: config.auditRetentionDays === 0 ? null : config.auditRetentionDays,
    };
  }
}
