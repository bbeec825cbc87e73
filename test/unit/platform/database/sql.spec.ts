// SQL with its parameters: what text and which values the database is given.
import type { Sql } from '../../../../src/platform/database/sql.js';
import { givenRows, joined, parameter, sql, writtenSql } from '../../../../src/platform/database/sql.js';

interface Input {
  readonly name: string;
  readonly limit: number;
  readonly rows: readonly { readonly id: string; readonly rank: number }[];
}

const NAME = parameter('text', ({ name }: Input) => name);
const LIMIT = parameter('bigint', ({ limit }: Input) => limit);
const INPUT: Input = { name: 'Ada', limit: 20, rows: [] };

function written(statement: Sql<Input>, input = INPUT): [text: string, values: unknown[]] {
  const { text, values } = writtenSql(statement);
  return [text, values(input)];
}

describe('SQL', () => {
  it('numbers its parameters as they come, each with its type, and has their values in that order', () => {
    expect(written(sql`SELECT ${NAME} LIMIT ${LIMIT}`)).toEqual([
      'SELECT $1::text LIMIT $2::bigint',
      ['Ada', 20],
    ]);
    expect(written(sql`SELECT ${LIMIT}, ${NAME}`)).toEqual(['SELECT $1::bigint, $2::text', [20, 'Ada']]);
  });

  it('gives a parameter once that stands in several places', () => {
    expect(written(sql`${LIMIT} + ${NAME} + ${LIMIT}`)).toEqual([
      '$1::bigint + $2::text + $1::bigint',
      [20, 'Ada'],
    ]);
  });

  it('gives two parameters of one type and one value twice', () => {
    const another = parameter('text', ({ name }: Input) => name);
    expect(written(sql`${NAME} || ${another}`)).toEqual(['$1::text || $2::text', ['Ada', 'Ada']]);
  });

  it('gives a list as one value', () => {
    const list = parameter('text[]', ({ name }: Input) => [name, name]);
    expect(written(sql`${list}, ${LIMIT}`)).toEqual(['$1::text[], $2::bigint', [['Ada', 'Ada'], 20]]);
  });

  it('takes pieces in, with what they hold', () => {
    const condition = sql`name = ${NAME}`;
    expect(written(sql`SELECT ${LIMIT} WHERE ${sql`NOT ${condition}`}${sql``};`)).toEqual([
      'SELECT $1::bigint WHERE NOT name = $2::text;',
      [20, 'Ada'],
    ]);
  });

  it('reads its values at each run', () => {
    const { values } = writtenSql(sql`${NAME}`);
    expect([values(INPUT), values({ ...INPUT, name: "'; --" })]).toEqual([['Ada'], ["'; --"]]);
  });

  it('writes nothing where nothing is joined', () => {
    expect(written(joined<Input>([], sql`, `))).toEqual(['', []]);
    expect(written(joined([NAME], sql`, `))).toEqual(['$1::text', ['Ada']]);
    expect(written(joined([NAME, LIMIT, NAME], sql`, `))).toEqual([
      '$1::text, $2::bigint, $1::text',
      ['Ada', 20],
    ]);
  });
});

describe('rows that a statement is given', () => {
  const columns = {
    id: ['uuid', ({ id }: Input['rows'][number]) => id],
    rank: ['integer', ({ rank }: Input['rows'][number]) => rank],
  } as const;
  const rows = [
    { id: 'a', rank: 2 },
    { id: 'b', rank: 1 },
  ];

  it('come as an array for each column, after and before other parameters', () => {
    const asked = givenRows('asked', (input: Input) => input.rows, columns);
    expect(written(sql`SELECT ${NAME} FROM ${asked} LIMIT ${LIMIT}`, { ...INPUT, rows })).toEqual([
      'SELECT $1::text FROM unnest($2::uuid[], $3::integer[]) AS asked (id, rank) LIMIT $4::bigint',
      ['Ada', ['a', 'b'], [2, 1], 20],
    ]);
  });

  it('can be counted', () => {
    const asked = givenRows('asked', (input: Input) => input.rows, columns, 'position');
    expect(written(asked)).toEqual([
      'unnest($1::uuid[], $2::integer[]) WITH ORDINALITY AS asked (id, rank, position)',
      [[], []],
    ]);
  });

  it('are read once for all columns', () => {
    let reads = 0;
    const asked = givenRows('asked', (input: Input) => [...input.rows.slice(reads++)], columns);
    expect(written(asked, { ...INPUT, rows })[1]).toEqual([
      ['a', 'b'],
      [2, 1],
    ]);
    expect(reads).toBe(1);
  });
});
