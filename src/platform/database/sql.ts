// SQL whose parameters have a type and a function that reads the value, and statements that the database parses and
// plans once per connection.
import { createHash } from 'node:crypto';
import type { Statement } from './pool.js';

/** Adjacent parameter placeholders, separated by commas. */
interface Placeholders<Input> {
  readonly types: readonly string[];
  /** Reads one value per placeholder. */
  readonly read: (input: Input) => readonly unknown[];
}

/**
 * A piece of SQL, or a whole statement, that is run with an input. Only the functions of this file create it,
 * from strings in the source code. Its text never contains outside input.
 */
class Piece<Input> {
  /** Makes the type nominal. */
  protected readonly isSql = true;

  constructor(readonly parts: readonly (string | Placeholders<Input>)[]) {}
}

export type Sql<Input = unknown> = Piece<Input>;

/** The types of parameters. */
type SqlType =
  | 'bigint'
  | 'boolean'
  | 'bytea[]'
  | 'float8'
  | 'integer'
  | 'json'
  | 'jsonb'
  | 'text'
  | 'text[]'
  | 'uuid'
  | 'uuid[]';

/** A statement in the driver's format. */
interface WrittenSql<Input> {
  readonly text: string;
  /** In the order of their numbers in the text. */
  readonly values: (input: Input) => unknown[];
}

/** Builds SQL from a template. Only SQL can be inserted; values are added with `parameter`, never as text. */
export function sql<Input = unknown>(
  texts: TemplateStringsArray,
  ...pieces: readonly Sql<Input>[]
): Sql<Input> {
  const partsOf = (piece: Sql<Input>) => {
    if (!(piece instanceof Piece)) throw new TypeError('only SQL can be put into SQL');
    return piece.parts;
  };
  return new Piece(
    texts.flatMap((text, index) => [text, ...pieces.slice(index, index + 1).flatMap(partsOf)]),
  );
}

const NAME = /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?$/;

/**
 * The name of a table, column or type, optionally with its schema, from the host's source code.
 * @throws RangeError if it has other characters than lower-case letters, digits and `_`
 */
export function identifier(name: string): Sql {
  if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a plain name of the database`);
  return new Piece([name]);
}

/** Joins pieces with a separator. The result is empty if there are none. */
export function joined<Input>(pieces: readonly Sql<Input>[], separator: Sql<Input>): Sql<Input> {
  return new Piece(
    pieces.flatMap(({ parts }, index) => (index === 0 ? parts : [...separator.parts, ...parts])),
  );
}

/** A value that each run of a statement gets. A parameter that is used in several places is sent once. */
export function parameter<Input>(type: SqlType, read: (input: Input) => unknown): Sql<Input> {
  return new Piece([{ types: [type], read: (input: Input) => [read(input)] }]);
}

/** A column of given rows: its type, and its value in each row. */
export type Column<Row> = readonly [type: SqlType, read: (row: Row) => unknown];

/**
 * Rows that a statement gets, as one array per column: `unnest(…) AS NAME (COLUMNS)`.
 * @param position the name of an additional column that numbers the rows from 1
 */
export function givenRows<Input, Row>(
  name: string,
  rowsOf: (input: Input) => readonly Row[],
  columns: Readonly<Record<string, Column<Row>>>,
  position?: string,
): Sql<Input> {
  const given = Object.values(columns);
  const arrays: Placeholders<Input> = {
    types: given.map(([type]) => `${type}[]`),
    read: (input) => {
      const rows = rowsOf(input);
      return given.map(([, read]) => rows.map((row) => read(row)));
    },
  };
  const names = [...Object.keys(columns), ...(position === undefined ? [] : [position])].join(', ');
  return new Piece([
    'unnest(',
    arrays,
    `)${position === undefined ? '' : ' WITH ORDINALITY'} AS ${name} (${names})`,
  ]);
}

/** Writes the statement, and numbers the parameters in the order of their first use. */
export function writtenSql<Input>({ parts }: Sql<Input>): WrittenSql<Input> {
  const firstNumbers = new Map<Placeholders<Input>, number>();
  let count = 0;
  const write = (part: string | Placeholders<Input>) => {
    if (typeof part === 'string') return part;
    const first = firstNumbers.get(part) ?? count + 1;
    if (!firstNumbers.has(part)) count += part.types.length;
    firstNumbers.set(part, first);
    return part.types.map((type, index) => `$${first + index}::${type}`).join(', ');
  };
  const text = parts.map(write).join('');
  const given = [...firstNumbers.keys()];
  return { text, values: (input) => given.flatMap(({ read }) => read(input)) };
}

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
      throw new RangeError(`another statement already has the name ${name}`);
    known.set(name, this.text);
  }

  /** The statement with its values. */
  of(input: Input): Statement {
    return { name: this.name, text: this.text, values: this.values(input) };
  }
}

/** A statement that concurrent requests share. Turns its rows into one answer per item. */
export class SharedStatement<Item, Row, Answer> extends PreparedStatement<readonly Item[], Row> {
  /** @param answers one answer per item, in the order of the items; absent: the answers are undefined */
  constructor(
    name: string,
    statement: Sql<readonly Item[]>,
    readonly answers: (rows: readonly Row[], items: readonly Item[]) => readonly Answer[] = () => [],
  ) {
    super(name, statement);
  }
}
