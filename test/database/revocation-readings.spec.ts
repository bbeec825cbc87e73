// What instances read of revocations, in whichever order transactions commit.
import { randomUUID } from 'node:crypto';
import type { OpenDatabase } from '../../src/platform/database/data-source.js';
import { PostgresNotifications } from '../../src/platform/jobs/postgres.notifications.js';
import { SILENT } from '../../src/platform/log/log.js';
import { FROM_THE_BEGINNING } from '../../src/token-exchange/revocation/revocation.repository.js';
import { externalLoginOf } from '../../src/token-exchange/revocation/revocations.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { RevocationInstance } from '../support/revocation-instance.js';
import { until } from '../support/until.js';

const ISSUER = 'https://partner.example';
const UNREACHABLE = 'postgres://nobody@127.0.0.1:1/nowhere';
const later = () => new Date(Date.now() + 600_000);
const LIMIT_MS = 90_000;

describeOnPostgresql('[D59] another instance', (database) => {
  let instances: RevocationInstance[] = [];

  const start = async () => {
    const notifications = new PostgresNotifications({ connectionString: UNREACHABLE }, SILENT);
    const instance = new RevocationInstance(await database.open(), notifications);
    instances.push(instance);
    await instance.start();
    return instance;
  };
  afterEach(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    instances = [];
  });

  it('misses no ended token of a transaction that began first and committed last', async () => {
    const [writer, reader] = [await start(), await start()];
    const isEnded = (id: string) => reader.known.refusesToken({ id, keys: [], sinceMs: Date.now() });
    const [slow, fast] = [randomUUID(), randomUUID()];
    let commit = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (commit = resolve));
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const slowOne = writer.transactions.run(async (transaction) => {
      await writer.repository.endToken(transaction, slow, later());
      begun();
      await isHeld;
    });
    await hasBegun;
    await writer.transactions.run((transaction) => writer.repository.endToken(transaction, fast, later()));
    await until('the later one is known', LIMIT_MS, () => isEnded(fast));
    expect(isEnded(slow)).toBe(false);
    commit();
    await slowOne;
    await until('the earlier one is known', LIMIT_MS, () => isEnded(slow));
  });
});

describeOnEachDatabase('[D61] a read', (database) => {
  let opened: OpenDatabase;
  let instance: RevocationInstance;

  beforeAll(async () => {
    opened = await database.open();
    instance = new RevocationInstance(opened);
  });

  it('returns what was written since the previous one, and all trust', async () => {
    const { repository, transactions } = instance;
    const end = (id: string) =>
      transactions.run((transaction) => repository.endToken(transaction, id, later()));
    await transactions.run((transaction) =>
      repository.revoke(transaction, { issuer: ISSUER, kid: null }, new Date(1_000)),
    );
    expect(await end('first')).toBe(true);
    expect(await end('first')).toBe(false);
    const all = await repository.read(FROM_THE_BEGINNING);
    expect(all).toMatchObject({
      trust: [{ issuer: ISSUER, kid: null, revokedAt: new Date(1_000), restoredAt: null }],
      endedTokens: [{ id: 'first' }],
    });
    // As long as a transaction is open anywhere on the server that began before these, they are told again.
    let { horizon } = all;
    await until('nothing is told again', LIMIT_MS, async () => {
      const again = await repository.read(horizon);
      ({ horizon } = again);
      return again.endedTokens.length === 0;
    });
    await end('second');
    const next = await repository.read(horizon);
    expect(next).toMatchObject({
      trust: [{ issuer: ISSUER }],
      endedTokens: [{ id: 'second' }],
    });
  });

  it("[D59] never reports a second revocation earlier than the first one's restoration", async () => {
    const { repository, transactions } = instance;
    const trust = { issuer: `${ISSUER}/again`, kid: null };
    const at = (ms: number) => new Date(1_800_000_000_000 + ms);
    await transactions.run((transaction) => repository.revoke(transaction, trust, at(1_000)));
    await transactions.run((transaction) => repository.restore(transaction, trust, at(9_000)));
    // By a clock that is behind.
    await transactions.run((transaction) => repository.revoke(transaction, trust, at(0)));
    const again = (await repository.list()).find(({ issuer }) => issuer === trust.issuer);
    expect(again).toMatchObject({ revokedAt: at(9_000), restoredAt: null });
  });

  it('[D131] returns the later time of each kind of two logouts by a key', async () => {
    const { repository, transactions } = instance;
    const end = (keys: string[], until: number, at: Date) =>
      transactions.run((transaction) =>
        repository.endLogins(transaction, { issuer: ISSUER, keys, until, at }),
      );
    await end(['b', 'a'], 20, new Date(1_000));
    await end(['a'], 10, new Date(2_000));
    const { logouts } = await repository.read(FROM_THE_BEGINNING);
    expect(logouts.toSorted((one, other) => (one.at < other.at ? -1 : 1))).toEqual([
      { issuer: ISSUER, keys: ['b'], until: 20, at: new Date(1_000) },
      { issuer: ISSUER, keys: ['a'], until: 20, at: new Date(2_000) },
    ]);
  });

  it('[D131] is paged, with the logouts of whole issuers on each page', async () => {
    const { repository, known } = instance;
    const issuer = `${ISSUER}/many`;
    const login = externalLoginOf({ iss: issuer, sub: 'ada', iat: 1 });
    await opened.dataSource.query(
      `INSERT INTO token_exchange_logout (issuer, login_key, issued_until, received_at)
       SELECT $1, 'key ' || n, 1, now() FROM generate_series(1, 25000) AS n UNION ALL VALUES ($1, '', 0, now()), ($1, $2, 1, now())`,
      [issuer, login.sub],
    );
    const sizes: number[] = [];
    let page = await repository.read(FROM_THE_BEGINNING);
    for (; page.last !== undefined; page = await repository.read(FROM_THE_BEGINNING, page.last)) {
      sizes.push(page.logouts.length);
      expect(
        page.logouts.filter((logout) => logout.issuer === issuer && logout.keys.length === 0),
      ).toHaveLength(1);
    }
    expect(sizes.map((size) => size <= 10_001)).toEqual([true, true]);
    expect(page.logouts.length).toBeGreaterThan(5_000);
    await instance.start();
    expect([known.isLoggedOut(login, [{ issuer, kid: 'k' }]), known.isKnown]).toEqual([true, true]);
    await instance.stop();
  });

  it('[D131] returns one row for more than 50,000 logouts of an issuer, and counting starts again', async () => {
    const { repository, transactions } = instance;
    const issuer = `${ISSUER}/too-many`;
    const kept = (ofIssuer: string) =>
      opened.dataSource.query<object[]>(
        `SELECT login_key, issued_until, received_at FROM token_exchange_logout WHERE issuer = $1 ORDER BY 1`,
        [ofIssuer],
      );
    const end = (key: string, until: number, at: Date, ofIssuer = issuer) =>
      transactions.run((transaction) =>
        repository.endLogins(transaction, { issuer: ofIssuer, keys: [key], until, at }),
      );
    await end('other', 1, new Date(1_000), `${issuer}/other`);
    await opened.dataSource.query(
      `INSERT INTO token_exchange_logout (issuer, login_key, issued_until, received_at)
       SELECT $1, 'key ' || n, 70, '1970-01-01T00:00:30Z' FROM generate_series(1, 49999) AS n`,
      [issuer],
    );
    expect(await end('last', 60, new Date(40_000))).toBe(false);
    expect(await end('one more', 50, new Date(20_000))).toBe(true);
    const ofAll = { login_key: '', issued_until: 70, received_at: new Date(40_000) };
    expect(await kept(issuer)).toEqual([ofAll]);
    expect(await end('next', 80, new Date(50_000))).toBe(false);
    expect(await kept(issuer)).toMatchObject([ofAll, { login_key: 'next' }]);
    expect(await kept(`${issuer}/other`)).toHaveLength(1);
  });

  it('[D59][D61] follows a recorded change; an unchanged state is none', async () => {
    const { service, known } = instance;
    const key = { issuer: `${ISSUER}/recorded`, kid: 'k' };
    await service.revoke(key, 'first');
    expect([known.isRevoked(key), await service.restore(key, 'first')]).toEqual([true, true]);
    expect([known.isRevoked(key), await service.restore(key, 'again')]).toEqual([false, false]);
    for (const requestId of ['first', 'again'])
      await service.endToken({ id: 'own', subjectUserId: randomUUID(), expiresAt: later() }, requestId);
    const events = await opened.dataSource.query<{ request_id: string; name: string; payload: object }[]>(
      'SELECT request_id, name, payload FROM audit_event ORDER BY id',
    );
    expect(events.map(({ request_id, name, payload }) => [request_id, name, payload])).toEqual([
      ['first', 'svc.audit.token-exchange.trust-revoked', key],
      ['first', 'svc.audit.token-exchange.trust-restored', key],
      ['first', 'svc.audit.token-exchange.token-revoked', { accessTokenId: 'own' }],
    ]);
  });

  it('[D60] that fails is logged once, and repeated until it succeeds', async () => {
    const errors: string[] = [];
    const log = { ...SILENT, error: (_: object, message: string) => void errors.push(message) };
    const other = new RevocationInstance(opened, undefined, log);
    await opened.dataSource.query('ALTER TABLE token_exchange_logout RENAME TO elsewhere');
    const readings = jest.spyOn(other.repository, 'read');
    await other.start();
    await until('it is repeated', LIMIT_MS, () => readings.mock.calls.length >= 3);
    expect([other.known.isKnown, errors.length]).toEqual([false, 1]);
    await opened.dataSource.query('ALTER TABLE elsewhere RENAME TO token_exchange_logout');
    await until('it is known', LIMIT_MS, () => other.known.isKnown);
    await other.stop();
  });
});
