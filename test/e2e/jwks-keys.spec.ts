// Keys of a key set that share a kid: their tokens over HTTP.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partnerWith = (kid: string) =>
  Partner.create({ issuer: 'https://partner.example', kid, audience: BASE_URL });
const good = partnerWith('good');

describeOnAnyDatabase('[D35][D37][K39] keys of a key set that share a kid', (database) => {
  const twins = [1, 2, 3, 4].map(() => partnerWith('twin'));
  const [first, second, third, fourth] = twins as [Partner, Partner, Partner, Partner];
  const rsa = Partner.create({
    ...{ issuer: good.issuer, kid: 'twin' },
    audience: BASE_URL,
    algorithm: 'RS256',
  });
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    jwks.publish({ keys: [first, first, second, rsa, third, fourth].flatMap((one) => one.jwks().keys) });
    const fetched = { type: 'jwks', url: jwks.url, issuer: good.issuer, expectedAudience: BASE_URL };
    return {
      trustedKeys: [fetched, good.staticEntry()],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    };
  });

  beforeAll(async () => {
    expect((await service.exchange({ subject_token: first.sign() })).status).toBe(200);
  });

  it('[D34] a refusal of an unknown kid reports the time of the next fetch', async () => {
    const answer = await service.exchange({ subject_token: partnerWith('unknown').sign() });
    const detail: unknown = expect.stringMatching(
      /^its key set is fetched again for an unknown kid in \d+ s$/,
    );
    expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason: 'kid_unknown', detail } }]);
  });

  it('are tried in turn, up to three of an algorithm', async () => {
    const answerTo = (partner: Partner) => service.exchange({ subject_token: partner.sign() });
    for (const partner of [first, second, rsa, third]) expect((await answerTo(partner)).status).toBe(200);
    const refused = await answerTo(fourth);
    const expected: unknown = expect.stringMatching(
      /^a signature by the key with the thumbprint \S+ or \S+ or \S+$/,
    );
    expect(await eventsOf(service, refused)).toMatchObject([
      { payload: { reason: 'signature_invalid', kid: 'twin', expected } },
    ]);
  });
});
