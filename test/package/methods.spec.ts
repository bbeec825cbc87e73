// Methods that servers hand to our routes although nobody asked for them.
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() => optionsOf(partner, { ...kind, databaseUrl: database().url }));

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
