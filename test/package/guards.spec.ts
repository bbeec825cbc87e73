// Global guards: the host's own, which requires a login (see surroundings.spec.ts for public routes), or the package's.
import { until } from '../support/until.js';
import { describeOnEmptyDatabase } from './support/empty-database.js';
import type { Wishes } from './support/host-process.js';
import { HostProcess, newPartner, ofParts, optionsOf } from './support/host-process.js';

const PATIENCE_MS = 10_000;

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const host = HostProcess.forBlock(() =>
    optionsOf(partner, { ...kind, databaseUrl: database().url, guard: 'without-exemption' }),
  );

  it('refuses both flows in their error formats if the host has no user', async () => {
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

describeOnEmptyDatabase.each(ofParts('defaults'), (kind, database) => {
  const partner = newPartner();
  const guarded = { path: 'orders', unmarked: true };
  const sealingKey = Buffer.alloc(32, 7).toString('base64');
  const optionsWith = (wishes: Partial<Wishes>) =>
    optionsOf(partner, { ...kind, databaseUrl: database().url, sealingKey, guarded, ...wishes });

  describe('a global TokenExchangeGuard', () => {
    const host = HostProcess.forBlock(() => optionsWith({ guard: 'of-the-package' }));

    it("allows the package's endpoints, and requires a token on every other route unless extended", async () => {
      const { status, body } = await host.exchange(partner.sign());
      expect(status).toBe(200);
      expect((await host.call('/.well-known/jwks.json')).status).toBe(200);
      const [own, marked] = [await host.call('/orders/unmarked'), await host.call('/orders/public')];
      expect([own.status, marked.status]).toEqual([401, 200]);
      const headers = { authorization: `Bearer ${String(body['access_token'])}` };
      const [user] = await database().query<{ id: string }>('SELECT id FROM product_user');
      const answer = await host.call('/orders/unmarked', { headers });
      expect([answer.status, answer.body]).toEqual([200, { id: user?.id, requestUser: user?.id }]);
    });
  });

  describe('a missing global guard', () => {
    const host = HostProcess.forBlock(() => optionsWith({}));

    it('makes a route with CurrentUser fail and log the cause', async () => {
      expect((await host.call('/orders/unmarked')).status).toBe(500);
      const cause = 'CurrentUser needs TokenExchangeAuth on the route or its controller';
      await until('the cause is logged', PATIENCE_MS, () => host.output.includes(cause));
    });
  });
});
