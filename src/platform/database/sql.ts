// SQL whose parameters stand where they are used, each with its type and with where its value comes from.

/** Placeholders of parameters that stand beside each other, commas between them. */
interface Placeholders<Input> {
  readonly types: readonly string[];
  /** A value for each. */
  readonly read: (input: Input) => readonly unknown[];
}

/**
 * A piece of SQL, or a whole statement, that is run with an input. The functions of this file make it, of texts, names and types
 * that stand in the source: nothing from outside is ever a part of its text.
 */
class Piece<Input> {
  /** No other object has its type. */
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

/** A statement as the driver takes it. */
interface WrittenSql<Input> {
  readonly text: string;
  /** In the order of the numbers in the text. */
  readonly values: (input: Input) => unknown[];
}

/** Writes SQL down. What is put into it is SQL itself: a value goes in by `parameter`, and never as text. */
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
 * The name of a table, column or type, with its schema where it has one, as the host's source gives it.
 * @throws RangeError where it is not made of lower-case letters, digits and `_`
 */
export function identifier(name: string): Sql {
  if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a plain name of the database`);
  return new Piece([name]);
}

/** Joins pieces by a separator; nothing where there are none. */
export function joined<Input>(pieces: readonly Sql<Input>[], separator: Sql<Input>): Sql<Input> {
  return new Piece(
    pieces.flatMap(({ parts }, index) => (index === 0 ? parts : [...separator.parts, ...parts])),
  );
}

/** One value that a statement is given at each run. The same parameter in several places is given once. */
export function parameter<Input>(type: SqlType, read: (input: Input) => unknown): Sql<Input> {
  return new Piece([{ types: [type], read: (input: Input) => [read(input)] }]);
}

/** A column of rows that a statement is given: its type, and its value in each row. */
export type Column<Row> = readonly [type: SqlType, read: (row: Row) => unknown];

/**
 * Rows that a statement is given, an array for each column: `unnest(…) AS NAME (COLUMNS)`.
 * @param position names one column more, which counts the rows from 1
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

/** Numbers the parameters in the order in which they first appear. */
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
