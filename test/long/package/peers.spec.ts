// The packed package with other versions of its peers, installed from a registry with an empty cache: the main job in hosts on both servers.
import { rmSync } from 'node:fs';
import { HostProcess, KINDS, newPartner, optionsOf } from '../../package/support/host-process.js';
import { declareHostTable } from '../../package/support/host-table.js';
import { copiesOf, emptyCache, emptyFolder, installed } from '../../package/support/installed-package.js';
import { declareJourneys } from '../../package/support/journeys.js';
import type { Installation } from '../../package/support/packed-package.js';
import { PACKAGE, preparedInstallation } from '../../package/support/packed-package.js';
import { LOWEST_OF_11, PEER_SETS } from '../../package/support/peer-versions.js';
import { isWholeSeries } from '../../support/series.js';

const INSTALLATION_MS = 600_000;

if (!isWholeSeries) {
  it.skip('skipped: fetches packages, run it by `npm run test:long -- package`', () => undefined);
} else {
  describe.each(PEER_SETS)('$title', (set) => {
    const folders: string[] = [];
    let installation: Installation;

    beforeAll(() => {
      const cache = emptyFolder('cache');
      folders.push(cache);
      installation = installed(preparedInstallation(), set, emptyCache(cache));
      folders.push(installation.folder);
    }, INSTALLATION_MS);
    afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

    it('installs one copy of the package and of each peer', () => {
      const names = [PACKAGE, ...Object.keys(set.peers)];
      const wanted = Object.entries(set.peers).map(([name, version]) => [name, [`${name}@${version}`]]);
      expect(copiesOf(names, installation.folder)).toEqual({
        ...Object.fromEntries(wanted),
        [PACKAGE]: [expect.stringContaining(PACKAGE)],
      });
    });

    declareJourneys(() => installation, KINDS.slice(0, 2));
    declareHostTable(() => installation, { expressTakesUtf8Alone: set === LOWEST_OF_11 });

    it('refuses a database other than PostgreSQL, and reports it', async () => {
      const wishes = { server: 'express', parts: 'own', driver: 'sqljs', databaseUrl: '' } as const;
      const { exitCode, output } = await HostProcess.failing(optionsOf(newPartner(), wishes), installation);
      expect(output).toContain('token exchange needs PostgreSQL, and the data source is of type "sqljs"');
      expect(exitCode).not.toBe(0);
    });
  });
}
