// Checks that what only the leader may change does not change under an old epoch, and that a take-over waits for what has begun.
import type { DataSource, QueryRunner } from 'typeorm';
import { AuditRetentionRepository } from '../../src/audit/retention/audit-retention.repository.js';
import { BEGINNING, EventStreamRepository } from '../../src/audit/sinks/event-stream.repository.js';
import { ThrottleCounterRepository } from '../../src/http/throttle/throttle-counter.repository.js';
import { OperatorSessionRepository } from '../../src/operator/accounts/operator-session.repository.js';
import { SignInFailureRepository } from '../../src/operator/accounts/sign-in-failure.repository.js';
import { JtiRepository } from '../../src/token-exchange/consumption/jti.repository.js';
import { Leader, SoleLeader } from '../../src/token-exchange/coordination/leader.js';
import { LEADS, LeaderTerm } from '../../src/token-exchange/coordination/leader-term.js';
import { Database } from '../../src/token-exchange/database/database.js';
import { JwksSnapshotRepository } from '../../src/token-exchange/keys/jwks/jwks-snapshot.repository.js';
import { RevocationRepository } from '../../src/token-exchange/revocation/revocation.repository.js';
import { SessionRepository } from '../../src/token-exchange/sessions/session.repository.js';
import { describeOnPostgresql } from '../support/databases.js';
import type { SourceFile } from '../support/source-files.js';
import { typescriptFiles } from '../support/source-files.js';
import { until } from '../support/until.js';

const MINE = '00000000-0000-4000-8000-000000000001';
const OTHERS = '00000000-0000-4000-8000-000000000002';
const SOON_MS = 20_000;
const ADDRESS = { urlHash: 'hash', url: 'https://partner.example/keys' };
const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const NOW = new Date();

/** A process that took the leadership once, and believes in it. */
class Believer extends Leader {
  readonly isLeader = true;

  constructor(private epoch: string) {
    super();
  }

  override get lease() {
    return { epoch: this.epoch, candidate: MINE };
  }

  leadAnew(epoch: string): void {
    this.epoch = epoch;
  }

  async stop(): Promise<void> {
    // It leads as long as the test.
  }
}

/** What the leader changes: how there comes to be something to change, and how it does. */
interface Kind {
  /** Where the statement stands. */
  readonly place: string;
  readonly table: string;
  readonly prepare: string;
  readonly change: (database: Database, term: LeaderTerm) => Promise<unknown>;
}

const CURSOR = `INSERT INTO audit_sink_cursor (name, transaction_id, event_id) VALUES ('sink', 0, 0)`;
const KINDS: readonly Kind[] = [
  {
    place: 'jti.repository.ts purge',
    table: 'token_exchange_used_jti',
    prepare: `INSERT INTO token_exchange_used_jti VALUES (sha256('a'), now() - interval '1 day')`,
    change: (database, term) => new JtiRepository(database).purge(term, { until: NOW.toISOString() }, 10),
  },
  {
    place: 'jti.repository.ts announcePurge',
    table: 'token_exchange_replay_horizon',
    prepare: `INSERT INTO token_exchange_used_jti VALUES (sha256('b'), now() - interval '1 day')`,
    change: (database, term) => new JtiRepository(database).announcePurge(term, NOW, 0),
  },
  {
    place: 'revocation.repository.ts purgeTokens',
    table: 'token_exchange_ended_token',
    prepare: `INSERT INTO token_exchange_ended_token VALUES ('a', now() - interval '1 day')`,
    change: (database, term) => new RevocationRepository(database).purgeTokens(term, NOW, 0, 10),
  },
  {
    place: 'revocation.repository.ts purgeSignOuts',
    table: 'token_exchange_user_sign_out',
    prepare: `INSERT INTO token_exchange_user_sign_out VALUES ('a', now() - interval '1 day')`,
    change: (database, term) => new RevocationRepository(database).purgeSignOuts(term, NOW, 0, 10),
  },
  {
    place: 'session.repository.ts purge',
    table: 'token_exchange_session',
    prepare: `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at)
      SELECT sha256('a'), id, '${OTHERS}', now(), now() - interval '1 day' FROM user_account`,
    change: (database, term) => new SessionRepository(database).purge(term, NOW),
  },
  {
    place: 'operator-session.repository.ts purge',
    table: 'operator_session',
    prepare: `INSERT INTO operator_session (id, secret_hash, user_id, opened_at, last_used_at, expires_at, client_address)
      SELECT '${OTHERS}', sha256('a'), id, now(), now(), now() - interval '1 day', '192.0.2.1' FROM user_account`,
    change: (database, term) =>
      new OperatorSessionRepository(database).purge(term, { now: NOW, idleSince: LONG_AGO }, 10),
  },
  {
    place: 'sign-in-failure.repository.ts purge',
    table: 'operator_sign_in_failure',
    prepare: `INSERT INTO operator_sign_in_failure VALUES (sha256('a'), 1, now(), now() - interval '1 day')`,
    change: (database, term) => new SignInFailureRepository(database).purge(term, NOW, 10),
  },
  {
    place: 'throttle-counter.repository.ts purge',
    table: 'throttle_counter',
    prepare: `INSERT INTO throttle_counter VALUES ('a', 1, now() - interval '1 day')`,
    change: (database, term) => new ThrottleCounterRepository(database).purge(term, 10),
  },
  {
    place: 'audit-retention.repository.ts deleteWindow',
    table: 'audit_event',
    prepare: `INSERT INTO audit_event (name, occurred_at, request_id, payload)
      VALUES ('svc.audit.api.called', now() - interval '1 day', 'a', '{}')`,
    change: (database, term) =>
      new AuditRetentionRepository(database).deleteWindow(term, '0', 10, {
        now: NOW,
        before: NOW,
        sinks: [],
      }),
  },
  {
    place: 'event-stream.repository.ts begin',
    table: 'audit_sink_cursor',
    prepare: 'SELECT',
    change: (database, term) => new EventStreamRepository(database).begin(term, 'sink', 'now'),
  },
  {
    place: 'event-stream.repository.ts noteAhead',
    table: 'audit_sink_cursor',
    prepare: `INSERT INTO audit_sink_cursor (name, transaction_id, event_id) VALUES ('sink', 9000000000000000, 0)`,
    change: (database, term) => new EventStreamRepository(database).noteAhead(term, 'sink'),
  },
  {
    place: 'event-stream.repository.ts move',
    table: 'audit_sink_cursor',
    prepare: CURSOR,
    change: (database, term) =>
      new EventStreamRepository(database).move(term, 'sink', BEGINNING, {
        transactionId: '1',
        eventId: '1',
      }),
  },
  {
    place: 'jwks-snapshot.repository.ts recordSuccess',
    table: 'token_exchange_jwks_snapshot',
    prepare: `INSERT INTO token_exchange_jwks_snapshot (url_hash, url) VALUES ('hash', 'https://partner.example/keys')`,
    change: (database, term) =>
      new JwksSnapshotRepository(database).recordSuccess(
        term,
        ADDRESS,
        { keySet: '{}', startedAt: LONG_AGO, freshUntil: NOW, nextRefreshAt: NOW },
        NOW,
      ),
  },
  {
    place: 'jwks-snapshot.repository.ts recordFailure',
    table: 'token_exchange_jwks_snapshot',
    prepare: `INSERT INTO token_exchange_jwks_snapshot (url_hash, url) VALUES ('hash', 'https://partner.example/keys')`,
    change: (database, term) =>
      new JwksSnapshotRepository(database).recordFailure(
        term,
        ADDRESS,
        { startedAt: LONG_AGO, reason: 'it does not answer', consecutiveFailures: 1, nextRefreshAt: NOW },
        NOW,
      ),
  },
];
const [PURGE] = KINDS;

describe('[D94] the statements of the leader', () => {
  it('are those of which each is tried here', () => {
    expect(placesOfStatements().sort()).toEqual(KINDS.map(({ place }) => place).sort());
  });

  it('are refused where they do not ask whether it leads', () => {
    const term = new LeaderTerm(new SoleLeader());
    const nowhere = {} as Database;
    expect(() => term.change(nowhere, 'DELETE FROM audit_event')).toThrow('does not ask whether it leads');
    expect(() => term.query(nowhere, 'DELETE FROM audit_event')).toThrow('does not ask whether it leads');
  });
});

describe('[D94] a piece of work', () => {
  it('may not go on under another epoch than that in which it began', () => {
    const leader = new Believer('7');
    const term = new LeaderTerm(leader);
    expect(term.mayGoOn()).toBe(true);
    leader.leadAnew('9');
    expect(term.mayGoOn()).toBe(false);
    expect(new LeaderTerm(leader).mayGoOn()).toBe(true);
  });
});

describeOnPostgresql('[D94] under the epoch of the lease', (opened) => {
  let dataSource: DataSource;
  let database: Database;
  let other: QueryRunner;

  beforeAll(async () => {
    ({ dataSource } = await opened.open());
    database = new Database(dataSource);
    await dataSource.query(
      `INSERT INTO user_account (id, email, normalized_email, role) VALUES ($1, 'a@b.example', 'a@b.example', 'global:member')`,
      [MINE],
    );
  });
  beforeEach(async () => {
    const tables = [...new Set(KINDS.map(({ table }) => table)), 'token_exchange_leader_lease'];
    await dataSource.query(`TRUNCATE ${tables.join(', ')} CASCADE`);
    await dataSource.query(
      `INSERT INTO token_exchange_leader_lease (epoch, candidate, expires_at) VALUES (7, $1, now() + interval '1 hour')`,
      [MINE],
    );
    other = dataSource.createQueryRunner();
    await other.connect();
  });
  afterEach(async () => {
    if (other.isTransactionActive) await other.rollbackTransaction();
    await other.release();
  });

  /** As whoever takes the lease does, of this release and of the one before. */
  const takeOver = (by: { query(text: string, values: unknown[]): Promise<unknown> }) =>
    by.query('UPDATE token_exchange_leader_lease SET epoch = epoch + 1, candidate = $1', [OTHERS]);
  const renew = () =>
    dataSource.query(`UPDATE token_exchange_leader_lease SET expires_at = now() + interval '2 hours'`);
  const rowsOf = ({ table }: Kind) =>
    dataSource.query<{ row: string }[]>(`SELECT ${table}::text AS row FROM ${table} ORDER BY 1`);
  const termOf = (epoch: string) => new LeaderTerm(new Believer(epoch));
  const waiting = async () => {
    const [row] = await dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return row?.count ?? 0;
  };

  describe.each(KINDS)('$place', (kind) => {
    /** A snapshot that was never stored cannot be read back: that is told, and nothing else comes of it. */
    const change = (term: LeaderTerm) => kind.change(database, term).catch((error: unknown) => error);

    it('changes something under the present one, whoever renews it', async () => {
      await dataSource.query(kind.prepare);
      const before = await rowsOf(kind);
      await renew();
      await kind.change(database, termOf('7'));
      expect(await rowsOf(kind)).not.toEqual(before);
    });

    it('changes nothing under an old one', async () => {
      await dataSource.query(kind.prepare);
      const before = await rowsOf(kind);
      await takeOver(dataSource);
      await change(termOf('7'));
      expect(await rowsOf(kind)).toEqual(before);
    });

    it('changes nothing under the same number that another has, as after a fail-over that lost some commits', async () => {
      await dataSource.query(kind.prepare);
      const before = await rowsOf(kind);
      await dataSource.query('UPDATE token_exchange_leader_lease SET candidate = $1', [OTHERS]);
      await change(termOf('7'));
      expect(await rowsOf(kind)).toEqual(before);
    });

    it('waits for who is taking it over, and changes nothing then', async () => {
      await dataSource.query(kind.prepare);
      const before = await rowsOf(kind);
      await other.startTransaction();
      await takeOver(other);
      const changing = change(termOf('7'));
      await until('it waits', SOON_MS, async () => (await waiting()) === 1);
      await other.commitTransaction();
      await changing;
      expect(await rowsOf(kind)).toEqual(before);
    });
  });

  it('a change that has begun is waited for by who takes it over, and by no renewal', async () => {
    await dataSource.query(PURGE!.prepare);
    await other.startTransaction();
    const inTransaction = { query: (text: string, values: unknown[]) => other.query(text, values) };
    await termOf('7').query(
      inTransaction as Database,
      `DELETE FROM ${PURGE!.table} WHERE ${LEADS} RETURNING 1`,
    );
    await renew();
    let isTaken = false;
    const taking = takeOver(dataSource).then(() => (isTaken = true));
    await until('it waits', SOON_MS, async () => (await waiting()) === 1);
    expect(isTaken).toBe(false);
    await other.commitTransaction();
    await taking;
    expect(await rowsOf(PURGE!)).toEqual([]);
  });
});

/** Of all statements that are run by a term: file and method. */
function placesOfStatements(): string[] {
  return typescriptFiles('src')
    .filter(({ path }) => !path.endsWith('leader-term.ts'))
    .flatMap(placesIn);
}

function placesIn({ path, text }: SourceFile): string[] {
  const lines = text.split('\n');
  const name = path.split('/').at(-1)!;
  let method = '';
  return lines.flatMap((line) => {
    method = /^ {2}(?:private )?(?:async )?(\w+)\(/.exec(line)?.[1] ?? method;
    return /\bterm\s*\.(change|query)\b/.test(line) ? [`${name} ${method}`] : [];
  });
}
