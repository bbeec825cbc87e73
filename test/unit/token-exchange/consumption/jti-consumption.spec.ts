// What becomes of a statement that loses its race again and again: it ends, and costs the others none of their ids.
import { randomUUID } from 'node:crypto';
import type { Verdict } from '../../../../src/token-exchange/consumption/consumption-statement.js';
import { ConsumptionBatch } from '../../../../src/token-exchange/consumption/jti-consumption.js';
import type { TokenUse } from '../../../../src/token-exchange/host/settlements.js';

interface Request {
  readonly uses: readonly TokenUse[];
}

const requestOf = (...jtis: string[]): Request => ({ uses: jtis.map((jti) => ({ jti, exp: 0 })) });

/** A database in which somebody else uses an id of the pairs each time, between the lookup and the insertion. */
class LostRaces {
  statements = 0;
  readonly batch: ConsumptionBatch<Request, Verdict>;

  constructor(isLost: (request: Request, statements: number) => boolean) {
    this.batch = new ConsumptionBatch(({ requests }) => {
      this.statements += 1;
      if (requests.some((request) => isLost(request, this.statements)))
        return Promise.reject(Object.assign(new Error('division by zero'), { code: '22012' }));
      return Promise.resolve(requests.map(() => ({ isAccepted: true, usedPositions: null })));
    });
  }

  outcomes(requests: readonly Request[]): Promise<string[]> {
    return Promise.all(
      requests.map((request) =>
        this.batch.consume(request).then(
          () => 'accepted',
          (error: Error) => error.message,
        ),
      ),
    );
  }
}

const singles = (count: number) => Array.from({ length: count }, () => requestOf(randomUUID()));

describe('[D3] a race that is lost', () => {
  it('[D3] once or thrice: the same statement is run again, and nobody notices', async () => {
    for (const losses of [1, 3]) {
      const database = new LostRaces(({ uses }, statements) => uses.length > 1 && statements <= losses);
      expect(await database.outcomes([...singles(30), requestOf('a', 'b')])).toEqual(
        Array(31).fill('accepted'),
      );
      expect(database.statements).toBe(losses + 1);
    }
  });

  it('[D3] every time by one pair: it is refused, its neighbours are not, and it ends', async () => {
    const database = new LostRaces(({ uses }) => uses[0]?.jti === 'lost');
    const requests = [
      ...singles(100),
      requestOf('lost', 'free'),
      requestOf('other', 'pair'),
      ...singles(100),
    ];
    const expected = requests.map(({ uses }) => (uses[0]?.jti === 'lost' ? 'token_replayed' : 'accepted'));
    expect(await database.outcomes(requests)).toEqual(expected);
    // Four runs of each half that holds the pair, and one of each that does not.
    expect(database.statements).toBeLessThanOrEqual(5 * 9);
  });

  it('[D3] by a pair that others wait for: they have their own answers', async () => {
    const database = new LostRaces(({ uses }) => uses[0]?.jti === 'lost');
    const requests = [requestOf('lost', 'free'), requestOf('free', 'x'), requestOf('y')];
    expect(await database.outcomes(requests)).toEqual(['token_replayed', 'accepted', 'accepted']);
  });
});
