// Which place a path names, and what the instance is asked for there.
import { EVERYTHING, filtersOf, fits, pathOf, placeOf } from '../../../../pages/frame/place.js';

describe('a page address', () => {
  it.each(['/', '/#workflow=1', '/#search=a+b&state=active&sort=name', '/#workflow=1&search=a'])(
    '%s is the path of its target',
    (path) => expect(pathOf(placeOf(path))).toBe(path),
  );

  it.each(['', '/nowhere', 'https://other.example/', '/#state=any&sort=any', '//other.example/#', '/#%'])(
    '%j is the unfiltered list',
    (path) => expect(placeOf(path)).toEqual({ workflow: null, list: EVERYTHING }),
  );

  it('limits a search as the instance does', () => {
    expect(placeOf(`/#search=${'a'.repeat(200)}`).list.search).toHaveLength(128);
  });

  it('sends its filters to the instance, and knows which apply', () => {
    const { list } = placeOf('/#search=a&state=inactive');
    expect(filtersOf(list)).toEqual({ search: 'a', active: 'false' });
    expect([fits(list, true), fits(list, false), fits(EVERYTHING, true)]).toEqual([false, true, true]);
  });
});
