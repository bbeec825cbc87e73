// Statements that the database parses and plans once per connection.
import { createHash } from 'node:crypto';
import type { Sql } from './sql.js';
import { writtenSql } from './sql.js';
import type { Statement } from './pool.js';

/** PostgreSQL cuts longer names, and might take two statements for one. */
const MAX_NAME_BYTES = 63;

/** The text of each name. */
const known = new Map<string, string>();

/** The name of a statement about a table that a host names: hosts of one process may name several. */
export function nameOn(table: object, name: string): string {
  return `${name}_${createHash('sha256').update(JSON.stringify(table)).digest('hex').slice(0, 8)}`;
}

/** A statement with a name of its own; under one name there is only ever one text. */
export class PreparedStatement<Input, Row> {
  /** Declares the type of the rows. It never has a value. */
  declare readonly row: Row;
  readonly text: string;
  /** The values of its parameters, in their order. */
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

/** A statement that concurrent requests share, and how its rows become the answer to each of its items. */
export class SharedStatement<Item, Row, Answer> extends PreparedStatement<readonly Item[], Row> {
  /** @param answers each item's answer, in the order of the items */
  constructor(
    name: string,
    statement: Sql<readonly Item[]>,
    readonly answers: (rows: readonly Row[], items: readonly Item[]) => readonly Answer[],
  ) {
    super(name, statement);
  }
}
