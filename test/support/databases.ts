// Runs blocks of tests on both databases, each block on a fresh, migrated one of its own.
import { SCHEMA } from '../../src/instance/schema.js';
import type { DatabaseSettings, OpenDatabase, Schema } from '../../src/platform/database/data-source.js';
import { openDatabase } from '../../src/platform/database/data-source.js';
import { describeUnless } from './describe-unless.js';
import { createEmbeddedDatabase } from './embedded-database.js';
import { createPostgresqlDatabase } from './postgresql-database.js';

export type DatabaseKind = DatabaseSettings['kind'];

/** The settings of a fresh database, and its removal. */
export interface FreshDatabase {
  settings: DatabaseSettings;
  /** The SVC_* variables that lead the service to it. */
  environment: Record<string, string>;
  remove(): Promise<void>;
}

/**
 * A database of the tests. It exists between `create` and `remove`, which `describeOnEachDatabase` calls before and
 * after all hooks of its block.
 */
export class TestDatabase {
  private fresh: FreshDatabase | undefined;
  private readonly opened: OpenDatabase[] = [];

  constructor(readonly kind: DatabaseKind) {}

  /** The service starts five times as fast on PostgreSQL; the embedded database exists on every machine. */
  static ofAnyKind(): TestDatabase {
    return new TestDatabase(process.env['TEST_POSTGRES_URL'] === undefined ? 'embedded' : 'postgresql');
  }

  async create(): Promise<void> {
    this.fresh = await (this.kind === 'embedded' ? createEmbeddedDatabase() : createPostgresqlDatabase());
  }

  /** The options of production's `openDatabase`, for tests that change some, such as the pool size. */
  get settings(): DatabaseSettings {
    return this.existing().settings;
  }

  /** The SVC_* variables that make the service, as a process or by `createApplication`, run on it. */
  get environment(): Record<string, string> {
    return { ...this.existing().environment };
  }

  /**
   * Opens the database as production does. Closed with the block if not before. PostgreSQL may be opened several
   * times at once, as by several instances.
   * @throws DataDirectoryLockedError when the embedded database is open already
   */
  async open(schema: Schema = SCHEMA): Promise<OpenDatabase> {
    const database = await openDatabase(this.settings, schema);
    this.opened.push(database);
    return database;
  }

  /** Closes all connections and removes the database. */
  async remove(): Promise<void> {
    for (const database of this.opened.splice(0)) await database.close();
    await this.fresh?.remove();
    this.fresh = undefined;
  }

  private existing(): FreshDatabase {
    if (this.fresh === undefined)
      throw new Error('The database exists in hooks and tests only, not while they are declared.');
    return this.fresh;
  }
}

/**
 * Declares a block of tests for both databases. `npm test` runs it on PostgreSQL if that is installed.
 * `npm run test:all` also runs it on the embedded database. A file that is run by itself uses both.
 * @param title begins with the rule, like every title; the name of the database is appended
 * @param block declares hooks and tests; its hooks run while the database exists
 */
export function describeOnEachDatabase(title: string, block: (database: TestDatabase) => void): void {
  const scope = process.env['TEST_SCOPE'];
  if (scope === 'main') return describeOnAnyDatabase(title, block);
  describeOnDatabase(`${title} (embedded)`, new TestDatabase('embedded'), block);
  if (scope !== 'rest') describeOnPostgresql(`${title} (PostgreSQL)`, block);
}

/** Declares a block of tests once, for rules in which neither database has a part. */
export function describeOnAnyDatabase(title: string, block: (database: TestDatabase) => void): void {
  describeOnDatabase(title, TestDatabase.ofAnyKind(), block);
}

/** Declares a block about properties of the embedded database alone: its directory, and the one process that has it. */
export function describeOnEmbedded(title: string, block: (database: TestDatabase) => void): void {
  describeOnDatabase(title, new TestDatabase('embedded'), block);
}

/**
 * For what the embedded database cannot do, such as several instances on one database. Where PostgreSQL is missing,
 * a skipped test in the block's place says why.
 */
export function describeOnPostgresql(title: string, block: (database: TestDatabase) => void): void {
  const missing = process.env['TEST_POSTGRES_MISSING'];
  describeOnDatabase(title, new TestDatabase('postgresql'), block, missing);
}

/** A server that is busy with other files' databases may take its time. */
const DATABASE_TIMEOUT_MS = 90_000;

/** Jest runs hooks in the order of their declaration, so the database goes after the block's own last hook. */
function describeOnDatabase(
  title: string,
  database: TestDatabase,
  block: (database: TestDatabase) => void,
  missing?: string,
): void {
  describeUnless(missing, title, () => {
    beforeAll(() => database.create(), DATABASE_TIMEOUT_MS);
    block(database);
    afterAll(() => database.remove(), DATABASE_TIMEOUT_MS);
  });
}
