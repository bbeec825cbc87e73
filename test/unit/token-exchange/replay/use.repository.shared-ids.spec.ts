// How requests that want the same ids share them out.
import { shareOut } from '../../../../src/token-exchange/replay/use.repository.js';

it('[D2][D3] the first request for an id uses it; a later one is a replay, and its other ids are used up', () => {
  const use = (jti: string, exp: number) => ({ jti, exp });
  const requests = [[use('a', 1)], [use('a', 2), use('b', 3)], [use('c', 4), use('c', 5)], [use('d', 6)]];
  const { asked, replayed } = shareOut(requests);
  expect(asked.map(({ hash, exp, request }) => [hash.slice(0, 8), exp, request])).toEqual([
    ['18ac3e73', 6, 3],
    ['2e7d2c03', 4, 2],
    ['3e23e816', 3, 1],
    ['ca978112', 1, 0],
  ]);
  expect(replayed).toEqual(new Set([1, 2]));
});
