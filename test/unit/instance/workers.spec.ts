// What several workers need, and what of the configuration each of them has.
import { availableParallelism } from 'node:os';
import { readConfig } from '../../../src/config/load-config.js';
import { shareOf, workerProblems } from '../../../src/instance/workers.js';

const FITS = {
  SVC_WORKERS: '3',
  SVC_DATABASE_URL: 'postgres://db.example/instance',
  SVC_THROTTLE_STORE: 'database',
};
const problemsOf = (environment: Record<string, string>) => workerProblems(readConfig([environment]).config);

describe('[D123] the configuration of several workers', () => {
  it('has no problem with what they need, and one worker needs nothing', () => {
    expect(problemsOf(FITS)).toEqual([]);
    expect(problemsOf({ SVC_WORKERS: '1' })).toEqual([]);
    expect(problemsOf({})).toEqual([]);
  });

  it.each([
    [
      'the embedded database',
      { ...FITS, SVC_DATABASE_URL: '' },
      'SVC_WORKERS: must be 1 without SVC_DATABASE_URL',
    ],
    ['counts in memory', { ...FITS, SVC_THROTTLE_STORE: 'memory' }, 'SVC_THROTTLE_STORE: must be database'],
    [
      'too few connections',
      { ...FITS, SVC_DATABASE_POOL_SIZE: '2' },
      'SVC_DATABASE_POOL_SIZE: must be no less',
    ],
    ['too few clients', { ...FITS, SVC_MAX_CONNECTIONS: '2' }, 'SVC_MAX_CONNECTIONS: must be no less'],
  ])('refuses %s', (_, environment, problem) => {
    expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['1', 1],
    ['64', 64],
    ['auto', Math.min(availableParallelism(), 64)],
  ])('takes %s for a number of workers', (text, workers) => {
    expect(readConfig([{ SVC_WORKERS: text }]).config.workers).toBe(workers);
  });

  it.each(['0', '65', 'Auto', 'all', '1.5'])('does not take %s for one', (text) => {
    expect(readConfig([{ SVC_WORKERS: text }]).problems).toEqual([
      'SVC_WORKERS: must be a whole number from 1 to 64, or auto',
    ]);
  });

  it.each([1, 2, 3, 7])('is divided among %i so that it adds up', (of) => {
    const config = { databasePoolSize: 10, maxConnections: 10_000 };
    const shares = Array.from({ length: of }, (_, index) => shareOf(config, { number: index + 1, of }));
    for (const key of ['databasePoolSize', 'maxConnections'] as const) {
      const each = shares.map((share) => share[key]);
      expect(each.reduce((sum, share) => sum + share)).toBe(config[key]);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    }
  });
});
