// A guard of the host's for all routes, which asks for a login of its own; surroundings.spec.ts has routes that are marked as public.
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() =>
    optionsOf(partner, { ...kind, databaseUrl: database().url, guard: 'without-exemption' }),
  );

  it('refuses what it asks a login of, in the bodies of both flows', async () => {
    expect(await host.exchange(partner.sign())).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', error_description: 'Sign in first' },
    });
    expect(await host.login(partner.sign())).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', message: 'Sign in first' },
    });
  });
});
