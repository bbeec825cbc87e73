// Names that a host sets: the path prefix of the endpoints, the cookie's name, and the prefix of event names.
import { cookieOf } from '../support/logins.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

const PATH_PREFIX = '/auth/Partners';

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() => {
    const options = optionsOf(partner, { ...kind, databaseUrl: database().url, isVersioned: true });
    const sessions = { cookieName: '__Host-product' };
    const names = { pathPrefix: PATH_PREFIX, eventPrefix: 'product.', sessions };
    return { ...options, settings: { ...options.settings, ...names } };
  });

  it('has endpoints only if the host enables them, and versioned routes of its own', async () => {
    expect((await host.exchange(partner.sign())).status).toBe(404);
    expect((await host.call('/v1/api/me')).status).toBe(401);
  });

  it('names the cookie, and finds the session by it', async () => {
    const login = await host.post(
      `${PATH_PREFIX}/embed`,
      new URLSearchParams({ token: partner.sign() }).toString(),
    );
    const cookie = cookieOf(login);
    expect([login.status, cookie]).toEqual([303, expect.stringMatching(/^__Host-product=[\w-]{43}$/)]);
    const renewal = { cookie };
    await host.post(
      `${PATH_PREFIX}/embed`,
      new URLSearchParams({ token: partner.sign() }).toString(),
      renewal,
    );
    expect(host.printed('emitted')).toBe('product.token-exchange.embed-login');
    expect(host.events.at(-1)).toMatchObject({ name: 'svc.audit.token-exchange.embed-login' });
    const sessions = await database().query<{ families: string }>(
      'SELECT count(DISTINCT family_id)::text AS families FROM token_exchange_session',
    );
    expect(sessions).toEqual([{ families: '1' }]);
  });
});
