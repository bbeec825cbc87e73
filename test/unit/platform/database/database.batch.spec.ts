// Many requests, one statement: each gets its own answer, nothing is lost, and nothing is done twice.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { QueryFailedError } from 'typeorm';
import { Batch } from '../../../../src/platform/database/database.js';
import { until } from '../../../support/until.js';

const PATIENCE_MS = 60_000;

/** One statement that is under way until the test ends it. */
interface Statement {
  readonly items: readonly number[];
  succeed(): void;
  fail(error: unknown): void;
}

/** A batch whose statements wait for the test. The answer to an item is its text. */
class SlowDatabase {
  readonly statements: Statement[] = [];
  private readonly batch = new Batch<number, string>((items) => this.take(items));

  add(...items: number[]): Promise<string>[] {
    return items.map((item) => this.batch.add(item));
  }

  /** Waits until `count` statements were sent. */
  async hasSent(count: number): Promise<void> {
    while (this.statements.length < count) await nextTurn();
  }

  get sent(): (readonly number[])[] {
    return this.statements.map(({ items }) => items);
  }

  private take(items: readonly number[]): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.statements.push({ items, succeed: () => resolve(items.map(String)), fail: reject });
    });
  }
}

/** A table that some rows do not fit into. One of those fails its whole statement, as in a database. */
class StrictTable {
  readonly rows: number[] = [];
  readonly sizes: number[] = [];
  private readonly batch = new Batch<number, string>((items) => this.insert(items));

  constructor(
    private readonly isBad: (item: number) => boolean,
    private readonly errorOf: (item: number) => unknown = rowFault,
  ) {}

  add(items: readonly number[]): Promise<PromiseSettledResult<string>[]> {
    return Promise.allSettled(items.map((item) => this.batch.add(item)));
  }

  private async insert(items: readonly number[]): Promise<string[]> {
    this.sizes.push(items.length);
    await nextTurn();
    const bad = items.find(this.isBad);
    if (bad !== undefined) throw this.errorOf(bad);
    this.rows.push(...items);
    return items.map(String);
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const driverError = (code: unknown, text = '') => Object.assign(new Error(text), { code });
const rowFault = (item: number) => driverError('22P05', `row ${item}`);
const outcomeOf = (outcome: PromiseSettledResult<string> | undefined) =>
  outcome?.status === 'fulfilled' ? outcome.value : (outcome?.reason as Error | undefined)?.message;
describe('a batch', () => {
  afterEach(() => jest.useRealTimers());

  it('combines items that arrive during a statement into the next one, in the order of arrival', async () => {
    // On a busy machine the statement would count as hanging.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const database = new SlowDatabase();
    const answers = database.add(1);
    await database.hasSent(1);
    answers.push(...database.add(2));
    await nextTurn();
    answers.push(...database.add(3, 4));
    await nextTurn();
    expect(database.sent).toEqual([[1]]);
    database.statements[0]?.succeed();
    await database.hasSent(2);
    expect(database.sent).toEqual([[1], [2, 3, 4]]);
    database.statements[1]?.succeed();
    expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4']);
  });

  it('puts at most 256 items into a statement, and runs at most four at once', async () => {
    const sizes: number[] = [];
    let underWay = 0;
    let mostUnderWay = 0;
    const batch = new Batch<number, string>(async (items) => {
      sizes.push(items.length);
      mostUnderWay = Math.max(mostUnderWay, ++underWay);
      await nextTurn();
      underWay -= 1;
      return items.map(String);
    });
    const answers = await Promise.all(upTo(3_000).map((item) => batch.add(item)));
    expect(answers).toEqual(upTo(3_000).map(String));
    expect(Math.max(...sizes)).toBe(256);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3_000);
    expect(mostUnderWay).toBeLessThanOrEqual(4);
  });
});

describe('a bad row in a batch', () => {
  it.each([
    ['one of two', 2, [1]],
    ['two side by side across the middle', 100, [49, 50]],
    ['every other one of a full statement', 256, upTo(128).map((index) => 2 * index)],
    ['all but one', 64, upTo(64).filter((index) => index !== 40)],
    ['some of several statements', 700, [3, 255, 256, 511, 699]],
  ])('%s fails alone, and the others are written exactly once', async (_, count, bad) => {
    const table = new StrictTable((item) => bad.includes(item));
    const outcomes = await table.add(upTo(count));
    const expected = upTo(count).map((item) => (bad.includes(item) ? `row ${item}` : String(item)));
    expect(outcomes.map(outcomeOf)).toEqual(expected);
    const good = upTo(count).filter((item) => !bad.includes(item));
    expect(table.rows.toSorted((a, b) => a - b)).toEqual(good);
  });

  it.each(['22012', '22P05', '22P02', '23505', '23503', '23502'])(
    'is recognized by SQLSTATE %s',
    async (code) => {
      const errors = [
        driverError(code, 'row 2'),
        new QueryFailedError('INSERT', [], driverError(code, 'row 2')),
      ];
      for (const error of errors) {
        const table = new StrictTable(
          (item) => item === 2,
          () => error,
        );
        const outcomes = await table.add(upTo(5));
        expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
        expect(outcomes[2]).toMatchObject({ reason: error });
      }
    },
  );
});

describe('any other failure of a statement', () => {
  const FAILURES: [string, unknown][] = [
    ['a deadlock', driverError('40P01')],
    ['a lost connection', driverError('ECONNRESET')],
    ['a lost connection behind TypeORM', new QueryFailedError('INSERT', [], driverError('08006'))],
    ['an error without a code', new Error('Query read timeout')],
    ['a code that only looks like one of a row', driverError('2')],
    ['a code that is a number', driverError(22012)],
  ];

  it.each(FAILURES)('%s fails the whole batch, and nothing is run again', async (_, failure) => {
    const database = new SlowDatabase();
    const answers = Promise.allSettled(database.add(1, 2, 3));
    await database.hasSent(1);
    const others = Promise.allSettled(database.add(4, 5));
    database.statements[0]?.fail(failure);
    expect(await answers).toEqual(upTo(3).map(() => ({ status: 'rejected', reason: failure })));
    await database.hasSent(2);
    expect(database.sent).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    database.statements[1]?.succeed();
    expect((await others).map(outcomeOf)).toEqual(['4', '5']);
  });

  it('in one half of a split statement fails only that half', async () => {
    const runs: (readonly number[])[] = [];
    const lost = driverError('ECONNRESET', 'lost');
    const batch = new Batch<number, string>(async (items) => {
      runs.push(items);
      await nextTurn();
      if (items.length === 4) throw rowFault(3);
      if (items.includes(0)) throw lost;
      if (items.includes(3)) throw rowFault(3);
      return items.map(String);
    });
    const outcomes = await Promise.allSettled(upTo(4).map((item) => batch.add(item)));
    expect(outcomes.map(outcomeOf)).toEqual(['lost', 'lost', '2', 'row 3']);
    expect(runs).toEqual([[0, 1, 2, 3], [0, 1], [2, 3], [2], [3]]);
  });
});

describe('a hanging statement', () => {
  it('on every connection delays the rest until one returns, and no item is lost', async () => {
    const database = new SlowDatabase();
    const waves: Promise<string>[][] = [];
    for (let wave = 0; wave < 8; wave++) {
      waves.push(database.add(...upTo(40).map((item) => 40 * wave + item)));
      await database.hasSent(Math.min(wave + 1, 4));
    }
    expect(database.statements).toHaveLength(4);
    const settling = Promise.allSettled(waves.flat());
    database.statements[2]?.fail(new Error('time limit'));
    await database.hasSent(5);
    expect(database.sent[4]).toEqual(upTo(320).slice(160));
    [0, 1, 3, 4].forEach((index) => database.statements[index]?.succeed());
    const outcomes = await settling;
    const failed = new Set(database.sent[2]);
    expect(failed.size).toBe(40);
    outcomes.forEach((outcome, item) =>
      expect(outcomeOf(outcome)).toBe(failed.has(item) ? 'time limit' : String(item)),
    );
    expect(database.sent.flat().toSorted((a, b) => a - b)).toEqual(upTo(320));
  });
});

describe('a few items after a hanging statement', () => {
  it('are answered while it still hangs, even if no others arrive', async () => {
    let isHanging = false;
    const batch = new Batch<number, string>((items) => {
      if (!items.includes(0)) return Promise.resolve(items.map(String));
      isHanging = true;
      return new Promise(() => undefined);
    });
    void batch.add(0);
    await until('a statement hangs', PATIENCE_MS, () => isHanging);
    const answers: string[] = [];
    for (const item of [1, 2, 3]) void batch.add(item).then((answer) => answers.push(answer));
    await until('they are answered', PATIENCE_MS, () => answers.length === 3);
    void batch.add(4).then((answer) => answers.push(answer));
    await until('the next is answered', PATIENCE_MS, () => answers.length === 4);
    expect(answers).toEqual(['1', '2', '3', '4']);
  });
});
