// What ends when trust in a key is taken back, what stays, and what comes back when it is given again.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { meStatus } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const ISSUER = 'https://partner.example';

describeOnEachDatabase('[D59] trust that is revoked', (database) => {
  const clock = new TestClock();
  const partner = Partner.create({ issuer: ISSUER, kid: 'first', audience: BASE_URL });
  const second = Partner.create({ issuer: ISSUER, kid: 'second', audience: BASE_URL });
  const other = Partner.create({ issuer: 'https://other.example', kid: 'first', audience: BASE_URL });
  const trustedKeys = [partner, second, other].map((one) => one.staticEntry());
  const service = TestService.forBlock(database, { trustedKeys, clock });
  let requests = 0;

  afterEach(async () => {
    for (const { issuer, kid } of await revocations().list())
      await revocations().restore({ issuer, kid }, requestId());
    clock.advance(2);
  });
  const revocations = () => service.part(RevocationService);
  const requestId = () => `revocation-${++requests}`;
  const revoke = (issuer: string, kid: string | null = null) =>
    revocations().revoke({ issuer, kid }, requestId());
  const token = (from: Partner, claims: Members = {}) =>
    from.sign(from.claims({ iat: Math.floor(clock.nowSeconds()), ...claims }));
  const opened = (from: Partner, cookie?: string) =>
    service
      .embed({ token: token(from) }, cookie === undefined ? {} : { cookie })
      .then((answer) => (answer.headers.get('set-cookie') ?? `${answer.status}`).split(';', 1)[0] ?? '');

  describe('if sessions are renewed', () => {
    it('a renewal by another key ends with either: with the key of before too', async () => {
      const first = await opened(partner);
      const renewed = await opened(second, first);
      const apart = await opened(second);
      await revoke(ISSUER, 'first');
      expect([await meStatus(service, renewed), await meStatus(service, apart)]).toEqual([401, 200]);
    });

    it('a login that carries a revoked session begins a family of its own', async () => {
      const first = await opened(partner);
      await revoke(ISSUER, 'first');
      const next = await opened(second, first);
      expect([await meStatus(service, first), await meStatus(service, next)]).toEqual([401, 200]);
      const families = await service.rows<{ keys: { kid: string }[] }>(
        'SELECT vouched_by AS keys FROM token_exchange_session ORDER BY created_at DESC, vouched_by::text DESC LIMIT 1',
      );
      expect(families[0]?.keys).toEqual([{ iss: ISSUER, kid: 'second' }]);
    });
  });
});
