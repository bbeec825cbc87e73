// Notes inside the database which instance refreshes and which purges, whatever the instances themselves say.
import type { OpenDatabase } from '../../src/platform/database/data-source.js';

export type Deed = 'refresh' | 'purge';

/** One statement of an instance that reached the database. */
export interface Deeds {
  deed: Deed;
  /** How many rows it touched. */
  rows: number;
  /** On the database's clock, in milliseconds since the Unix epoch. */
  atMs: number;
}

/** Instances are told apart by the application name of their connections. */
export class Witness {
  private constructor(private readonly database: OpenDatabase) {}

  static async install(database: OpenDatabase): Promise<Witness> {
    for (const statement of TRIGGERS) await database.dataSource.query(statement);
    return new Witness(database);
  }

  /** What an instance did after a moment, oldest first. */
  async deedsOf(instance: string, afterMs = 0): Promise<Deeds[]> {
    return this.database.dataSource.query<Deeds[]>(
      `SELECT deed, rows, at_ms::float8 AS "atMs" FROM witnessed
       WHERE instance = $1 AND at_ms > $2 ORDER BY at_ms`,
      [instance, afterMs],
    );
  }

  /** How often an instance has refreshed and purged (something) after a moment. */
  async countOf(instance: string, afterMs = 0): Promise<Record<Deed, number>> {
    const deeds = (await this.deedsOf(instance, afterMs)).filter(({ rows }) => rows > 0);
    const count = (deed: Deed) => deeds.filter((one) => one.deed === deed).length;
    return { refresh: count('refresh'), purge: count('purge') };
  }

  async nowMs(): Promise<number> {
    const [row] = await this.database.dataSource.query<{ now: number }[]>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    );
    return row?.now ?? Number.NaN;
  }
}

const TRIGGERS = [
  `CREATE TABLE witnessed (
    instance text NOT NULL DEFAULT current_setting('application_name'),
    deed text NOT NULL,
    rows integer NOT NULL,
    at_ms double precision NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000
  )`,
  `CREATE FUNCTION witness_purge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witnessed (deed, rows) SELECT 'purge', count(*) FROM gone;
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION witness_refresh() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO witnessed (deed, rows) VALUES ('refresh', 1);
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER witness AFTER DELETE ON token_exchange_used_jti REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION witness_purge()`,
  `CREATE TRIGGER witness AFTER INSERT OR UPDATE OF revision ON token_exchange_jwks_snapshot
    FOR EACH ROW EXECUTE FUNCTION witness_refresh()`,
];
