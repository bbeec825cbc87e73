// Statements that the database parses and plans once per connection.
import { createHash } from 'node:crypto';
import type { Sql } from './sql.js';
import { writtenSql } from './sql.js';
import type { Statement } from './pool.js';

/** PostgreSQL truncates longer names, and might confuse two statements. */
const MAX_NAME_BYTES = 63;

/** Each name's statement. */
const known = new Map<string, string>();

/**
 * A statement's name for a table that a host names: several hosts in one process may name different tables.
 */
export function nameOn(table: object, name: string): string {
  return `${name}_${createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 8)}`;
}

/** A statement with a unique name. */
export class PreparedStatement<Input, Row> {
  /** Declares the type of the rows. It never has a value. */
  declare readonly row: Row;
  readonly text: string;
  /** The values of its parameters, in order. */
  readonly values: (input: Input) => unknown[];

  constructor(
    readonly name: string,
    statement: Sql<Input>,
  ) {
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) throw new RangeError(`${name} is too long for a name`);
    ({ text: this.text, values: this.values } = writtenSql(statement));
    if ((known.get(name) ?? this.text) !== this.text)
      throw new RangeError(`there is another statement ${name} already`);
    known.set(name, this.text);
  }

  /** The statement with its values. */
  of(input: Input): Statement {
    return { name: this.name, text: this.text, values: this.values(input) };
  }
}

/** A statement that concurrent requests share. Turns its rows into one answer per item. */
export class SharedStatement<Item, Row, Answer> extends PreparedStatement<readonly Item[], Row> {
  /** @param answers one answer per item, in the order of the items */
  constructor(
    name: string,
    statement: Sql<readonly Item[]>,
    readonly answers: (rows: readonly Row[], items: readonly Item[]) => readonly Answer[],
  ) {
    super(name, statement);
  }
}
