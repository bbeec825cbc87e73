// Fresh databases that hold nothing: a product's migrations make all that is in them.
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { describeUnless } from '../../support/describe-unless.js';
import { preparedInstallation } from './packed-package.js';

const PREPARATION_MS = 180_000;

export class EmptyDatabase {
  private constructor(
    private readonly server: string,
    readonly name: string,
  ) {}

  static async create(): Promise<EmptyDatabase> {
    const server = process.env['TEST_POSTGRES_URL'];
    if (server === undefined) throw new Error('no PostgreSQL server was started for this file');
    const database = new EmptyDatabase(server, `test_${randomBytes(8).toString('hex')}`);
    await query(server, `CREATE DATABASE ${database.name}`);
    return database;
  }

  get url(): string {
    const url = new URL(this.server);
    url.pathname = this.name;
    return url.href;
  }

  query<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return query<Row>(this.url, text, values);
  }

  /** FORCE: a host that a failing test left running must not keep it. */
  async remove(): Promise<void> {
    await query(this.server, `DROP DATABASE ${this.name} WITH (FORCE)`);
  }
}

async function query<Row>(connectionString: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Declares a block on a database of its own, for hosts of the packed package. */
export function describeOnEmptyDatabase(title: string, block: (database: () => EmptyDatabase) => void): void {
  describeUnless(process.env['TEST_POSTGRES_MISSING'], title, () => {
    let database: EmptyDatabase | undefined;
    beforeAll(() => void preparedInstallation(), PREPARATION_MS);
    beforeAll(async () => void (database = await EmptyDatabase.create()));
    block(() => {
      if (database === undefined) throw new Error('the database exists in hooks and tests only');
      return database;
    });
    afterAll(() => database?.remove());
  });
}

/** The same block for each kind of host. */
describeOnEmptyDatabase.each = <Kind extends { server: string; parts: string }>(
  kinds: readonly Kind[],
  block: (kind: Kind, database: () => EmptyDatabase) => void,
): void => {
  for (const kind of kinds)
    describeOnEmptyDatabase(`${kind.server} with ${kind.parts} parts`, (database) => block(kind, database));
};
