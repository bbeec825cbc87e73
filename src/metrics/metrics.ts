// The service's metrics and their names.
import { setTimeout as pause } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SinkStatus } from '../audit/sinks/audit-streaming.js';
import type { PoolState } from '../platform/database/pool.js';
import { VERSION } from '../platform/version.js';
import type {
  EntryEnd,
  KeySetFigures,
  KeysHeld,
  OutcomeCounter,
  ReplayRecords,
  SeatsOfEntry,
} from '../token-exchange/instance.js';
import { KEY_SET_FETCH_OUTCOMES, KEY_SET_STATES, THROTTLED_FLOWS } from '../token-exchange/instance.js';

const KEPT_MS = 10_000;
const PATIENCE_MS = 2_000;

/**
 * Reads the source at most once in `KEPT_MS`, and never again before it has answered, however many callers
 * there are.
 */
export class BoundedReading<T> {
  private value: T | undefined;
  private begunAtMs = Number.NEGATIVE_INFINITY;
  private running: Promise<void> | undefined;

  /** @param read may reject, or never settle */
  constructor(private readonly read: () => Promise<T>) {}

  /** The value, at most `KEPT_MS` old; undefined if the read fails or takes longer than `PATIENCE_MS`. */
  async latest(): Promise<T | undefined> {
    const isOld = performance.now() - this.begunAtMs >= KEPT_MS;
    if (this.running === undefined && isOld) this.begin();
    await Promise.race([this.running, pause(PATIENCE_MS, undefined, { ref: false })]);
    return this.value;
  }

  private begin(): void {
    this.begunAtMs = performance.now();
    this.value = undefined;
    this.running = this.read()
      .then(
        (value) => {
          this.value = value;
        },
        () => undefined,
      )
      .finally(() => (this.running = undefined));
  }
}

/**
 * From 0.2 ms to 2.5 s: a stage normally takes a fraction of a millisecond, but seconds during a database
 * outage.
 */
const STAGE_BUCKETS_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];

/** Normally a purge prevents this many expired records. Above it, the exact number does not matter. */
const MAX_EXPIRED_COUNTED = 10_000;

export const MEMBERSHIP_CHANGES = ['added', 'changed', 'removed'] as const;

/**
 * One registry per application.
 * @rule D91 Labels contain fixed strings, and the names and issuers of trusted key entries, but nothing that
 * a client sent. Reading metrics queries the database at most once in ten seconds, and succeeds even if the
 * database is silent.
 */
export class Metrics {
  readonly registry = new Registry();

  /** By the name in the table of flows. */
  readonly outcomes = {
    exchange: this.outcomesOf('svc_token_exchanges_total', 'Token exchanges, including JWT assertions'),
    'id-jag': this.outcomesOf('svc_id_assertions_total', 'Identity assertions'),
    embed: this.outcomesOf('svc_embed_logins_total', 'Embedded logins'),
    logout: this.outcomesOf('svc_logouts_total', 'Back-channel logouts'),
  } satisfies Record<OutcomeCounter, Counter>;

  readonly membershipChanges = this.counter(
    'svc_project_memberships_changed_total',
    'Project memberships that tokens have changed.',
    ['change'],
  );

  readonly securityEvents = this.counter(
    'svc_security_events_total',
    'Accepted security events of known types.',
    ['event', 'effect'],
  );

  readonly stageDuration = new Histogram({
    name: 'svc_stage_duration_seconds',
    help: 'Duration of each stage of a flow.',
    labelNames: ['flow', 'stage'] as const,
    buckets: STAGE_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  readonly throttled = this.counter('svc_throttle_refusals_total', 'Requests answered 429.', ['flow']);

  readonly apiRefusals = this.counter(
    'svc_api_refusals_total',
    'API calls with a refused access token or proof.',
    ['reason'],
  );

  readonly proofsForgotten = this.counter(
    'svc_dpop_proofs_forgotten_total',
    'DPoP proofs of API calls that were forgotten early.',
  );

  readonly throttleFailOpen = this.counter(
    'svc_throttle_fail_open_total',
    'Requests not throttled because of the database.',
  );

  readonly refusals = this.counter(
    'svc_request_refusals_total',
    'Requests refused before a token was read; refused introspections and security events; requests for a nonce.',
    ['flow', 'reason'],
  );

  readonly databaseRefusals = this.counter(
    'svc_database_refusals_total',
    'Requests answered 503 because of the database.',
    ['flow'],
  );

  readonly unrecordedEvents = this.counter(
    'svc_audit_unrecorded_total',
    'Audit events lost because of the database.',
  );

  readonly requestsShed = this.counter(
    'svc_requests_shed_total',
    'Requests answered 503 because of their number.',
  );

  readonly connectionsRefused = this.counter(
    'svc_connections_refused_total',
    'Connections closed because of their number or memory.',
  );

  readonly keySetFetches = this.counter('svc_jwks_fetches_total', 'Fetches of key sets.', ['outcome']);

  readonly replayPurges = this.counter('svc_replay_purges_total', 'Purges of expired replay records.', [
    'outcome',
  ]);

  readonly replayRecordsPurged = this.counter('svc_replay_records_purged_total', 'Deleted replay records.');

  readonly operatorPasswordHashes = this.counter(
    'svc_operator_password_hashes_total',
    "Password hashes computed for the operator's page.",
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.gauge('svc_build_info', 'Always 1.', ['version'], (gauge) => {
      gauge.set({ version: VERSION }, 1);
    });
    // A series that begins with its first event would hide that event from queries of the increase.
    for (const outcome of KEY_SET_FETCH_OUTCOMES) this.keySetFetches.inc({ outcome }, 0);
    for (const change of MEMBERSHIP_CHANGES) this.membershipChanges.inc({ change }, 0);
    for (const outcome of ['succeeded', 'failed']) this.replayPurges.inc({ outcome }, 0);
    for (const flow of [...THROTTLED_FLOWS, 'api', 'operator']) this.throttled.inc({ flow }, 0);
    for (const flow of [...THROTTLED_FLOWS, 'api']) this.databaseRefusals.inc({ flow }, 0);
    for (const counter of Object.values(this.outcomes))
      counter.inc({ outcome: 'failed', reason: 'internal_error' }, 0);
  }

  /** Registered only with a licence: otherwise nothing expires. */
  watchLicense(secondsLeft: () => number): void {
    const help = 'Seconds until the licence ends, negative afterwards.';
    this.value('svc_license_expires_seconds', help, secondsLeft);
  }

  watchRequests(read: () => number): void {
    this.value('svc_requests_in_progress', 'Requests in progress.', read);
  }

  /** Counts keys whenever metrics are read, so that the number is current. */
  watchKeys(read: () => readonly KeysHeld[]): void {
    const help = 'Usable keys of an entry.';
    this.gauge('svc_trusted_keys', help, ['entry', 'issuer'], (gauge) => {
      for (const { entry, issuer, count } of read()) gauge.inc({ entry, issuer }, count);
    });
  }

  watchEnds(read: () => readonly EntryEnd[]): void {
    const help = '`notAfter` in seconds since 1970.';
    this.gauge('svc_trusted_entry_end_timestamp_seconds', help, ['entry', 'issuer'], (gauge) => {
      for (const { entry, issuer, notAfter } of read())
        gauge.set({ entry, issuer }, notAfter.getTime() / 1000);
    });
  }

  watchSeats(read: () => Promise<readonly SeatsOfEntry[]>): void {
    const reading = new BoundedReading(read);
    const each = (name: string, help: string, valueOf: (seats: SeatsOfEntry) => number) =>
      this.gauge(name, help, ['entry', 'issuer'], async (gauge) => {
        for (const seats of (await reading.latest()) ?? [])
          gauge.set({ entry: seats.entry, issuer: seats.issuer }, valueOf(seats));
      });
    each(
      'svc_trusted_entry_users',
      'Taken seats of the issuer, if the entry has `maxUsers`.',
      ({ users }) => users,
    );
    each('svc_trusted_entry_max_users', 'Seats of the issuer (`maxUsers`).', ({ maxUsers }) => maxUsers);
  }

  watchKeySets(read: () => readonly KeySetFigures[]): void {
    const each = (name: string, help: string, valueOf: (state: KeySetFigures) => number | undefined) =>
      this.gauge(name, help, ['entry', 'issuer'], (gauge) => {
        for (const state of read()) {
          const { entry, issuer } = state;
          const value = valueOf(state);
          if (value !== undefined) gauge.set({ entry, issuer }, value);
        }
      });
    each(
      'svc_jwks_keys_age_seconds',
      'Seconds since the last successful fetch.',
      ({ ageSeconds }) => ageSeconds,
    );
    each(
      'svc_jwks_next_refresh_seconds',
      'Seconds until the next fetch, negative if overdue.',
      ({ nextRefreshSeconds }) => nextRefreshSeconds,
    );
    const help = '1 for the present state of the key set.';
    this.gauge('svc_jwks_state', help, ['entry', 'issuer', 'state'], (gauge) => {
      for (const { entry, issuer, state: present } of read())
        for (const state of KEY_SET_STATES) gauge.set({ entry, issuer, state }, Number(state === present));
    });
  }

  /** @param ask any query that the database answers */
  watchDatabase(pool: () => PoolState, ask: () => Promise<unknown>): void {
    const answer = new BoundedReading(() => ask().then(() => true));
    this.gauge('svc_database_up', '1 if the database answers within two seconds.', [], async (gauge) => {
      gauge.set(Number((await answer.latest()) === true));
    });
    const connections = 'Open connections of the pool.';
    this.gauge('svc_database_pool_connections', connections, ['state'], (gauge) => {
      const { open, idle } = pool();
      gauge.set({ state: 'in_use' }, open - idle);
      gauge.set({ state: 'idle' }, idle);
    });
    this.value('svc_database_pool_size', 'Maximum number of connections.', () => pool().most);
    const waiting = 'Requests that wait for a connection.';
    this.value('svc_database_pool_waiting', waiting, () => pool().waiting);
  }

  watchLeader(isLeader: () => boolean): void {
    const help = '1 if this instance is the leader.';
    this.value('svc_leader', help, () => Number(isLeader()));
  }

  watchReplayRecords(read: (atMost: number) => Promise<ReplayRecords>): void {
    const reading = new BoundedReading(() => read(MAX_EXPIRED_COUNTED));
    const each = (name: string, help: string, valueOf: (records: ReplayRecords) => number) =>
      this.gauge(name, help, [], async (gauge) => {
        const records = await reading.latest();
        // While the database is silent, no value is better than an old one.
        if (records === undefined) gauge.remove();
        else gauge.set(valueOf(records));
      });
    each('svc_replay_records', 'Replay records, estimated by ANALYZE.', ({ estimate }) => estimate);
    each(
      'svc_replay_records_expired',
      `Expired replay records, at most ${MAX_EXPIRED_COUNTED}.`,
      ({ expired }) => expired,
    );
  }

  private counter<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private outcomesOf(name: string, what: string): Counter<'outcome' | 'reason'> {
    return this.counter(name, `${what}.`, ['outcome', 'reason']);
  }

  private value(name: string, help: string, read: () => number): void {
    this.gauge(name, help, [], (gauge) => gauge.set(read()));
  }

  /** Creates a gauge whose values are set whenever metrics are read. */
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

  /** The backlog of the audit trail's sinks, from the process that streams to them, at its last check. */
  watchSinks(read: () => readonly SinkStatus[]): void {
    const each = (
      Kind: typeof Counter | typeof Gauge,
      name: string,
      help: string,
      of: (sink: SinkStatus) => number | undefined,
    ) =>
      new Kind({
        name,
        help,
        labelNames: ['sink'],
        registers: [this.registry],
        collect(this: Gauge<'sink'> | Counter<'sink'>) {
          this.reset();
          for (const one of read()) {
            const value = of(one);
            if (value !== undefined) this.inc({ sink: one.sink }, value);
          }
        },
      });
    const events = 'Events sent by this process, with repetitions.';
    each(Counter, 'svc_audit_sink_events_total', events, ({ delivered }) => delivered);
    const failures = 'Failed attempts to send events.';
    each(Counter, 'svc_audit_sink_failures_total', failures, (sink) => sink.failures);
    const lag = 'Events that a sink has not received, at most 100,000.';
    each(Gauge, 'svc_audit_sink_lag_events', lag, ({ backlog }) => backlog?.events);
    const age = 'Age of the oldest event that a sink has not received.';
    each(Gauge, 'svc_audit_sink_lag_seconds', age, ({ backlog }) => backlog?.seconds);
    const blocked = 'Age of the oldest event that waits for an older transaction.';
    each(Gauge, 'svc_audit_sink_blocked_seconds', blocked, ({ backlog }) => backlog?.blockedSeconds);
  }
}
