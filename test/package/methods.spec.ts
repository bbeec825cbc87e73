// Methods that servers hand to our routes although nobody asked for them.
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, optionsOf } from './support/host-process.js';
import type { Kind } from './support/journeys.js';
import type { Installation } from './support/packed-package.js';
import { preparedInstallation } from './support/packed-package.js';

const KINDS: readonly Kind[] = [
  { server: 'express', parts: 'defaults' },
  { server: 'fastify', parts: 'defaults' },
];

let installation: Installation;
beforeAll(() => void (installation = preparedInstallation()), 180_000);

describeOnEmptyDatabase.each(KINDS, (kind, database) => {
  const partner = newPartner();
  let host: HostProcess;

  beforeAll(async () => {
    host = await HostProcess.start(
      installation,
      optionsOf(partner, { ...kind, databaseUrl: database().url }),
    );
  });
  afterAll(() => host.stop());

  it('[D57] [D23] a HEAD signs no user in, and the login by GET that follows passes and reveals to no site its address', async () => {
    const path = `/rest/auth/embed?token=${partner.sign()}`;
    const head = await host.call(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect(head.headers.get('set-cookie')).toBeNull();
    const login = await host.call(path, { redirect: 'manual' });
    expect(login.status).toBe(303);
    expect(login.headers.get('referrer-policy')).toBe('no-referrer');
  });
});
