// The READMEs of the examples, followed with what npm installs from a registry with an empty cache.
import { rmSync } from 'node:fs';
import { copiesOf, emptyCache, emptyFolder } from '../../package/support/installed-package.js';
import { homeOf, manifestIn, PACKAGE, preparedInstallation } from '../../package/support/packed-package.js';
import { declareWalks } from '../../package/support/walks.js';
import { isWholeSeries } from '../../support/series.js';

if (!isWholeSeries) {
  it.skip('skipped: fetches packages, run it by `npm run test:long -- package`', () => undefined);
} else {
  describe('with a registry', () => {
    let parent: string;
    beforeAll(() => void (parent = emptyFolder('walks')));
    afterAll(() => rmSync(parent, { recursive: true, force: true }));

    declareWalks(
      preparedInstallation,
      () => parent,
      () => emptyCache(parent),
      ({ folder }) => {
        const names = [PACKAGE, ...Object.keys(manifestIn(homeOf(preparedInstallation())).peerDependencies)];
        const copies = Object.values(copiesOf(names, folder)).map(({ length }) => length);
        expect(copies).toEqual(names.map(() => 1));
      },
    );
  });
}
