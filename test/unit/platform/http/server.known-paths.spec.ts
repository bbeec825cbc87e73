// Which methods a path has, for requests that no route has matched.
import { KnownPaths } from '../../../../src/platform/http/server.js';
import { quickestMs } from '../../../support/quickest.js';

const paths = new KnownPaths(
  (url, method) => url === '/gone' || (url === '/things/schema' && method === 'HEAD'),
);
paths.add('/', 'GET');
paths.add('/things', 'GET');
paths.add('/things', 'POST');
paths.add('/things/:id', ['GET', 'DELETE']);
paths.add('/things/schema', ['GET', 'HEAD']);
paths.add('/things/:id/parts/:part', 'PATCH');
paths.add('/gone', 'POST');

it.each([
  ['/', ['GET']],
  ['/things', ['GET', 'POST']],
  ['/things?id=/x/y', ['GET', 'POST']],
  ['/things/1', ['GET', 'DELETE']],
  ['/things/schema', ['GET', 'DELETE']],
  ['/things/1/parts/2', ['PATCH']],
])('[D57] %s has methods', (target, methods) => expect(paths.methodsAt(target)).toEqual(methods));

it.each(['', '*', '/thing', '/Things', '/things/', '/things/1/parts', '/things;x=1', '/gone'])(
  '[D57] %j is not a known path',
  (target) => expect(paths.methodsAt(target)).toEqual([]),
);

it('[B.work] the longest path takes no noticeable time', () => {
  const path = '/'.repeat(65_536);
  const askOften = () => {
    for (let count = 0; count < 3_000; count += 1) paths.methodsAt(path);
  };
  expect(paths.methodsAt(path)).toEqual([]);
  // It takes milliseconds. Checking all parts of the path would take seconds.
  expect(quickestMs(500, askOften)).toBeLessThan(500);
});
