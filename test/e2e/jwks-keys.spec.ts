// Keys that a key set should not have, or has no longer: their tokens are refused and audited on every way in.
import { Partner } from '../../demo/partner.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { JwksService } from '../../src/token-exchange/trust/jwks/jwks.service.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import { ENTRY_PATHS, INVALID_GRANT, outcomeOf } from '../support/entry-paths.js';
import { JwksServer, status } from '../support/jwks-server.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partnerWith = (kid: string) =>
  Partner.create({ issuer: 'https://partner.example', kid, audience: BASE_URL });
const good = partnerWith('good');
const UNSTORABLE_KIDS = ['with NUL \0', 'with a lone surrogate \ud800', '\udc00\ud800'];

/** Options of a service that fetches a server's keys and also trusts other entries. */
const optionsOf = (jwks: JwksServer, more: readonly object[] = []) => ({
  trustedKeys: [{ type: 'jwks', url: jwks.url, issuer: good.issuer, expectedAudience: BASE_URL }, ...more],
  environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
});

async function expectUnknownKey(
  service: TestService,
  answer: Response,
  flow: EntryPath['flow'],
  reason = 'kid_unknown',
): Promise<void> {
  expect(answer.status).toBe(flow === 'embed' ? 401 : 400);
  const body = await answer.text();
  if (flow === 'embed') expect(JSON.parse(body)).toMatchObject({ error: 'key_unknown' });
  else expect(body).toBe(INVALID_GRANT);
  expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason } }]);
}

describeOnAnyDatabase('keys of a key set that are not used', (database) => {
  const unstorable = UNSTORABLE_KIDS.map(partnerWith);
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    const keys = [...unstorable, good].flatMap((partner) => partner.jwks().keys);
    // RFC 8259 §8.1: a byte order mark may be ignored.
    jwks.answerWith((response) => response.end(`\ufeff${JSON.stringify({ keys })}`));
    return optionsOf(jwks);
  });

  beforeAll(async () => {
    // Whoever comes while the keys are first fetched waits for that fetch, and reserves no other.
    expect((await service.exchange({ subject_token: good.sign() })).status).toBe(200);
  });

  it('[D34] says when an unknown kid causes the next fetch', async () => {
    const answer = await service.exchange({ subject_token: partnerWith('unknown').sign() });
    const detail: unknown = expect.stringMatching(
      /^its key set is fetched again for an unknown kid in \d+ s$/,
    );
    expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason: 'kid_unknown', detail } }]);
  });

  describe.each(ENTRY_PATHS)('$name', (path) => {
    it.each(unstorable)(
      '[D35] a token of a key whose kid cannot be stored is refused and audited',
      async (partner) => {
        const answer = await path.send(service, partner.sign(), () => good.sign());
        await expectUnknownKey(service, answer, path.flow);
      },
    );

    it('[D35] a token of their neighbour is taken', async () => {
      expect(outcomeOf(await path.send(service, good.sign(), () => good.sign()))).toBe('accepted');
    });
  });
});

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
    return optionsOf(jwks, [good.staticEntry()]);
  });

  beforeAll(async () => {
    expect((await service.exchange({ subject_token: first.sign() })).status).toBe(200);
  });

  it.each(ENTRY_PATHS)('are tried in turn, three of an algorithm: $name', async (path) => {
    const answerTo = (partner: Partner) => path.send(service, partner.sign(), () => good.sign());
    for (const partner of [first, second, rsa, third])
      expect(outcomeOf(await answerTo(partner))).toBe('accepted');
    const refused = await answerTo(fourth);
    const expected: unknown = expect.stringMatching(
      /^a signature by the key with the thumbprint \S+ or \S+ or \S+$/,
    );
    expect(await eventsOf(service, refused)).toMatchObject([
      { payload: { reason: 'signature_invalid', kid: 'twin', expected } },
    ]);
  });

  it('[5.3.2] are all revoked with their kid', async () => {
    await service.part(RevocationService).revoke({ issuer: good.issuer, kid: 'twin' }, 'r');
    for (const partner of [first, second, rsa]) {
      const answer = await service.exchange({ subject_token: partner.sign() });
      expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason: 'trust_revoked' } }]);
    }
    expect((await service.exchange({ subject_token: good.sign() })).status).toBe(200);
  });
});

describeOnEachDatabase('an emptied key set', (database) => {
  const fetched = partnerWith('fetched');
  const clock = new TestClock();
  const jwks = JwksServer.forBlock();
  const service = TestService.forBlock(database, () => {
    jwks.publish(fetched.jwks(), { 'cache-control': 'max-age=60' });
    return { ...optionsOf(jwks, [good.staticEntry()]), clock };
  });

  const token = (partner: Partner) => partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()) }));
  const pass = async (seconds: number) => {
    clock.advance(seconds);
    // After such a leap a leader has to find out first that it still is one.
    await until('the instance leads', 60_000, () => service.part(Leader).isLeader);
    await service.part(JwksService).tick();
  };

  it('[D34] a failing endpoint keeps its keys, an emptied set has none at once, and a static key is untouched', async () => {
    expect((await service.embed({ token: token(fetched) })).status).toBe(303);
    jwks.answerWith(status(500));
    await pass(61);
    expect((await service.embed({ token: token(fetched) })).status).toBe(303);
    jwks.publish({ keys: [] });
    await pass(10);
    for (const path of ENTRY_PATHS) {
      const answer = await path.send(service, token(fetched), () => token(good));
      await expectUnknownKey(service, answer, path.flow, 'key_set_unavailable');
      expect(outcomeOf(await path.send(service, token(good), () => token(good)))).toBe('accepted');
    }
  });
});
