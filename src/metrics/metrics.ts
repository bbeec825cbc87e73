// The metrics of the service and their names.
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { VERSION } from '../platform/version.js';
import type { PoolState } from '../platform/database/driver-pool.js';
import type { KeySetState, KeysHeld, ReplayRecords } from '../token-exchange/instance.js';
import { KEY_SET_FETCH_OUTCOMES } from '../token-exchange/instance.js';
import { BoundedReading } from './bounded-reading.js';

/** From 0.2 ms to 2.5 s: a stage takes a fraction of a millisecond when all is well, seconds when a database is away. */
const STAGE_BUCKETS_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];

/** How the stream of audit events to one sink goes. */
export interface SinkReading {
  readonly sink: string;
  readonly delivered: number;
  readonly failures: number;
  /** Undefined where another process streams. */
  readonly backlog?: { readonly events: number; readonly seconds: number; readonly blockedSeconds: number };
}

/** A purge deletes faster than so many can gather; where there are more, how many more does not matter. */
const MOST_EXPIRED_COUNTED = 10_000;

const SHARED_MS = 1_000;

export const MEMBERSHIP_CHANGES = ['added', 'changed', 'removed'] as const;

/**
 * One registry per application.
 * @rule D91 Labels hold fixed words, and the names and issuers of trusted key entries: nothing that a client sent. Reading
 * metrics asks the database at most once in ten seconds, and is answered though the database is silent.
 */
export class Metrics {
  readonly registry = new Registry();

  readonly exchanges = new Counter({
    name: 'svc_token_exchanges_total',
    help: 'Token exchanges by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly idAssertions = new Counter({
    name: 'svc_id_assertions_total',
    help: 'Identity assertions by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly embedLogins = new Counter({
    name: 'svc_embed_logins_total',
    help: 'Embedded logins by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly membershipChanges = new Counter({
    name: 'svc_project_memberships_changed_total',
    help: 'Memberships of projects that claims of tokens have changed.',
    labelNames: ['change'] as const,
    registers: [this.registry],
  });

  readonly logouts = new Counter({
    name: 'svc_logouts_total',
    help: 'Back-channel logouts by outcome and, where refused, reason.',
    labelNames: ['outcome', 'reason'] as const,
    registers: [this.registry],
  });

  readonly stageDuration = new Histogram({
    name: 'svc_stage_duration_seconds',
    help: 'Time of each stage of a flow.',
    labelNames: ['flow', 'stage'] as const,
    buckets: STAGE_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  readonly throttled = new Counter({
    name: 'svc_throttle_refusals_total',
    help: 'Requests refused because their address, their trusted key entry, or at the API their caller, was over its limit.',
    labelNames: ['flow'] as const,
    registers: [this.registry],
  });

  readonly apiRefusals = new Counter({
    name: 'svc_api_refusals_total',
    help: 'Calls refused for their Bearer credential, by reason.',
    labelNames: ['reason'] as const,
    registers: [this.registry],
  });

  readonly throttleFailOpen = new Counter({
    name: 'svc_throttle_fail_open_total',
    help: 'Requests let through uncounted because the shared throttle store did not answer.',
    registers: [this.registry],
  });

  readonly refusals = new Counter({
    name: 'svc_request_refusals_total',
    help: 'Requests of a flow that were refused before a token was looked at, by reason.',
    labelNames: ['flow', 'reason'] as const,
    registers: [this.registry],
  });

  readonly databaseRefusals = new Counter({
    name: 'svc_database_refusals_total',
    help: 'Requests refused with 503 because the database could not serve them.',
    labelNames: ['flow'] as const,
    registers: [this.registry],
  });

  readonly unrecordedEvents = new Counter({
    name: 'svc_audit_unrecorded_total',
    help: 'Events that are not in the audit trail because the database could not serve.',
    registers: [this.registry],
  });

  readonly requestsShed = new Counter({
    name: 'svc_requests_shed_total',
    help: 'Requests answered 503 because there were too many in progress.',
    registers: [this.registry],
  });

  readonly connectionsRefused = new Counter({
    name: 'svc_connections_refused_total',
    help: 'Connections closed unanswered because there were too many.',
    registers: [this.registry],
  });

  readonly keySetFetches = new Counter({
    name: 'svc_jwks_fetches_total',
    help: 'Fetches of key sets by outcome.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });

  readonly replayPurges = new Counter({
    name: 'svc_replay_purges_total',
    help: 'Runs of the leader that delete expired replay records, by outcome.',
    labelNames: ['outcome'] as const,
    registers: [this.registry],
  });

  readonly replayRecordsPurged = new Counter({
    name: 'svc_replay_records_purged_total',
    help: 'Expired replay records that were deleted.',
    registers: [this.registry],
  });

  readonly operatorPasswordHashes = new Counter({
    name: 'svc_operator_password_hashes_total',
    help: "Passwords that were hashed or checked for the operator's page.",
    registers: [this.registry],
  });

  /** Of each flow. */
  readonly outcomes = {
    exchange: this.exchanges,
    embed: this.embedLogins,
    'id-jag': this.idAssertions,
    logout: this.logouts,
  };

  private shared: Promise<string> | undefined;

  /** @param ofAllWorkers undefined where this process is the instance; else brings the text of all */
  constructor(private readonly ofAllWorkers?: () => Promise<string>) {
    collectDefaultMetrics({ register: this.registry });
    this.gauge('svc_build_info', 'The version that runs; always 1.', ['version'], (gauge) => {
      gauge.set({ version: VERSION }, 1);
    });
    // A series that begins at its first event hides that event from queries of the increase.
    for (const outcome of KEY_SET_FETCH_OUTCOMES) this.keySetFetches.inc({ outcome }, 0);
    for (const change of MEMBERSHIP_CHANGES) this.membershipChanges.inc({ change }, 0);
    for (const outcome of ['succeeded', 'failed']) this.replayPurges.inc({ outcome }, 0);
    for (const flow of ['exchange', 'embed', 'logout', 'revocation', 'api', 'operator'])
      this.throttled.inc({ flow }, 0);
    for (const flow of ['exchange', 'embed', 'logout', 'revocation', 'api'])
      this.databaseRefusals.inc({ flow }, 0);
    for (const counter of [this.exchanges, this.embedLogins, this.logouts])
      counter.inc({ outcome: 'failed', reason: 'internal_error' }, 0);
  }

  /** Of the whole instance, in Prometheus' text format. */
  text(): Promise<string> {
    return this.ofAllWorkers?.() ?? this.registry.metrics();
  }

  /** The same text for all requests within a second, since it takes time to write. */
  sharedText(): Promise<string> {
    this.shared ??= this.text().finally(() => {
      setTimeout(() => (this.shared = undefined), SHARED_MS).unref();
    });
    return this.shared;
  }

  /** Registered only where there is a licence: without one nothing ends. */
  watchLicense(secondsLeft: () => number): void {
    new Gauge({
      name: 'svc_license_expires_seconds',
      help: 'Seconds until the licence ends; below 0 since it has ended.',
      registers: [this.registry],
      collect() {
        this.set(secondsLeft());
      },
    });
  }

  watchRequests(read: () => number): void {
    const help = 'Requests that are worked for.';
    this.gauge('svc_requests_in_progress', help, [], (gauge) => gauge.set(read()));
  }

  /** Counts keys whenever metrics are read, so that the number is never older than that. */
  watchKeys(read: () => readonly KeysHeld[]): void {
    const help = 'Usable keys of each trusted key entry.';
    this.gauge('svc_trusted_keys', help, ['entry', 'issuer'], (gauge) => {
      for (const { entry, issuer, count } of read()) gauge.inc({ entry, issuer }, count);
    });
  }

  watchKeySets(read: () => readonly KeySetState[]): void {
    const each = (name: string, help: string, valueOf: (state: KeySetState) => number | undefined) =>
      this.gauge(name, help, ['entry', 'issuer'], (gauge) => {
        for (const state of read()) {
          const { entry, issuer } = state;
          const value = valueOf(state);
          if (value !== undefined) gauge.set({ entry, issuer }, value);
        }
      });
    each(
      'svc_jwks_keys_age_seconds',
      'Time since the fetch that brought the keys of a JWKS entry.',
      ({ ageSeconds }) => ageSeconds,
    );
    each(
      'svc_jwks_next_refresh_seconds',
      'Time until the leader fetches the keys of a JWKS entry again; negative once that is overdue.',
      ({ nextRefreshSeconds }) => nextRefreshSeconds,
    );
    each('svc_jwks_failing', 'Whether the latest fetch of a JWKS entry failed.', ({ isFailing }) =>
      Number(isFailing),
    );
  }

  /** @param ask anything that the database answers */
  watchDatabase(pool: () => PoolState, ask: () => Promise<unknown>): void {
    const answer = new BoundedReading(() => ask().then(() => true));
    this.gauge('svc_database_up', 'Whether the database answers within two seconds.', [], async (gauge) => {
      gauge.set(Number((await answer.latest()) === true));
    });
    const connections = 'Connections of the pool to the database that are open, by state.';
    this.gauge('svc_database_pool_connections', connections, ['state'], (gauge) => {
      const { open, idle } = pool();
      gauge.set({ state: 'in_use' }, open - idle);
      gauge.set({ state: 'idle' }, idle);
    });
    this.gauge('svc_database_pool_size', 'Most connections that the pool may open.', [], (gauge) => {
      gauge.set(pool().most);
    });
    const waiting = 'Requests that wait for a connection of the pool.';
    this.gauge('svc_database_pool_waiting', waiting, [], (gauge) => gauge.set(pool().waiting));
  }

  watchLeader(isLeader: () => boolean): void {
    const help = 'Whether this instance is the leader, which fetches key sets and purges.';
    this.gauge('svc_leader', help, [], (gauge) => gauge.set(Number(isLeader())));
  }

  watchReplayRecords(read: (atMost: number) => Promise<ReplayRecords>): void {
    const reading = new BoundedReading(() => read(MOST_EXPIRED_COUNTED));
    const each = (name: string, help: string, valueOf: (records: ReplayRecords) => number) =>
      this.gauge(name, help, [], async (gauge) => {
        const records = await reading.latest();
        // No value is the truth while the database is silent.
        if (records === undefined) gauge.remove();
        else gauge.set(valueOf(records));
      });
    each('svc_replay_records', 'Replay records, as the database estimates.', ({ estimate }) => estimate);
    each(
      'svc_replay_records_expired',
      `Replay records that have expired and are not purged yet, counted up to ${MOST_EXPIRED_COUNTED}.`,
      ({ expired }) => expired,
    );
  }

  /** Makes a gauge whose values are set anew whenever metrics are read. */
  private gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (gauge: Gauge<Label>) => void | Promise<void>,
  ): void {
    new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [this.registry],
      async collect() {
        this.reset();
        await read(this);
      },
    });
  }

  /** How far behind the sinks of the audit trail are: of the process that streams to them, and as it has looked last. */
  watchSinks(read: () => readonly SinkReading[]): void {
    const collected = (name: string, help: string, of: (sink: SinkReading) => number | undefined) => ({
      name,
      help,
      labelNames: ['sink'] as const,
      registers: [this.registry],
      collect(this: Gauge<'sink'> | Counter<'sink'>) {
        this.reset();
        for (const one of read()) {
          const value = of(one);
          if (value !== undefined) this.inc({ sink: one.sink }, value);
        }
      },
    });
    new Counter(
      collected(
        'svc_audit_sink_events_total',
        'Events handed to a sink of the audit trail, repeated ones too.',
        (of) => of.delivered,
      ),
    );
    new Counter(
      collected(
        'svc_audit_sink_failures_total',
        'Failed attempts to hand events to a sink.',
        (of) => of.failures,
      ),
    );
    new Gauge(
      collected(
        'svc_audit_sink_lag_events',
        'Events that a sink has not had, counted up to 100,000.',
        (of) => of.backlog?.events,
      ),
    );
    new Gauge(
      collected(
        'svc_audit_sink_lag_seconds',
        'Age of the oldest event that a sink has not had.',
        (of) => of.backlog?.seconds,
      ),
    );
    new Gauge(
      collected(
        'svc_audit_sink_blocked_seconds',
        'Age of the oldest event that waits for an older transaction to end.',
        (of) => of.backlog?.blockedSeconds,
      ),
    );
  }
}
