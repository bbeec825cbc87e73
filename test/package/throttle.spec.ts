// Throttles of trusted key entries in a host, whose requests are counted in its memory.
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, optionsOf } from './support/host-process.js';
import type { Kind } from './support/journeys.js';
import type { Installation } from './support/packed-package.js';
import { preparedInstallation } from './support/packed-package.js';

const ADDRESS_LIMIT = 2;
const ENTRY_LIMIT = 5;
const KINDS: readonly Kind[] = [
  { server: 'express', parts: 'own' },
  { server: 'fastify', parts: 'defaults' },
];

let installation: Installation;
beforeAll(() => void (installation = preparedInstallation()), 180_000);

describeOnEmptyDatabase.each(KINDS, (kind, database) => {
  const partner = newPartner();
  let host: HostProcess;

  beforeAll(async () => {
    const settings = {
      strict: false,
      trustedKeys: JSON.stringify([partner.staticEntry({ perMinute: ENTRY_LIMIT })]),
      exchange: { perMinute: ADDRESS_LIMIT },
      embedLogin: { perMinute: ADDRESS_LIMIT },
    };
    const options = optionsOf(partner, { ...kind, databaseUrl: database().url });
    host = await HostProcess.start(installation, { ...options, settings });
  });
  afterAll(() => host.stop());

  it('[P.perMinute] counts both flows by the entry, and reports its limit', async () => {
    const found: unknown[] = [];
    for (let turn = 0; turn <= ENTRY_LIMIT; turn++) {
      const send = turn % 2 ? host.login.bind(host) : host.exchange.bind(host);
      const { status, headers } = await send(partner.sign());
      found.push([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]);
    }
    const limit = String(ENTRY_LIMIT);
    expect(found).toEqual([
      [200, limit, '4'],
      [303, limit, '3'],
      [200, limit, '2'],
      [303, limit, '1'],
      [200, limit, '0'],
      [429, limit, '0'],
    ]);
  });
});
