// Keys that a key set should not have: their tokens are refused and audited on every way in, and the other keys serve.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/census.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { ENTRY_PATHS, INVALID_GRANT, isAccepted } from '../support/entry-paths.js';
import { JwksServer } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partnerWith = (kid: string) =>
  Partner.create({ issuer: 'https://partner.example', kid, audience: BASE_URL });
const good = partnerWith('good');
const UNSTORABLE_KIDS = ['with NUL \0', 'with a lone surrogate \ud800', '\udc00\ud800'];

describeOnEachDatabase('keys of a key set that are not used', (database) => {
  const unstorable = UNSTORABLE_KIDS.map(partnerWith);
  let jwks: JwksServer;
  let service: TestService;

  beforeAll(async () => {
    jwks = await JwksServer.listen();
    jwks.publish({ keys: [...unstorable, good].flatMap((partner) => partner.jwks().keys) });
    service = await TestService.start(database, {
      trustedKeys: [{ type: 'jwks', url: jwks.url, issuer: good.issuer, expectedAudience: BASE_URL }],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await jwks?.close();
  });

  describe.each(ENTRY_PATHS)('$name', (path) => {
    it.each(unstorable)(
      '[D35] a token of a key whose kid cannot be stored is refused and audited',
      async (partner) => {
        const answer = await path.send(service, partner.sign(), () => good.sign());
        expect(answer.status).toBe(path.flow === 'embed' ? 401 : 400);
        const body = await answer.text();
        if (path.flow === 'embed') expect(JSON.parse(body)).toMatchObject({ error: 'key_unknown' });
        else expect(body).toBe(INVALID_GRANT);
        expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason: 'key_unknown' } }]);
      },
    );

    it('[D35] a token of its neighbour is taken', async () => {
      expect(isAccepted(await path.send(service, good.sign(), () => good.sign()))).toBe(true);
    });
  });

  it('[D35] each such key is told of once', () => {
    const told = service.log.filter(({ msg }) => msg === 'a key of a JWKS is not used');
    expect(told.map(({ warning }) => warning)).toEqual(
      UNSTORABLE_KIDS.map(
        (kid, at) => `key ${at} (kid ${JSON.stringify(kid)}) has a kid with NUL or a lone surrogate`,
      ),
    );
  });
});
