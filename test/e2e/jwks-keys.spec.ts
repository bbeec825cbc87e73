// Keys that a key set should not have, or has no longer: their tokens are refused and audited on every way in.
import { visible } from '../../src/platform/text/printable.js';
import { randomBytes } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { Leader } from '../../src/platform/jobs/leader.js';
import { JwksKeyProvider } from '../../src/token-exchange/trust/jwks/jwks-key.provider.js';
import { eventsOf } from '../support/census.js';
import { describeOnAnyDatabase, describeOnEachDatabase } from '../support/databases.js';
import type { EntryPath } from '../support/entry-paths.js';
import { ENTRY_PATHS, INVALID_GRANT, outcomeOf } from '../support/entry-paths.js';
import { JwksServer, status } from '../support/jwks-server.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { SMALL_ORDER_KEYS, forgeSignature, jwkOf } from '../support/weak-ed25519-keys.js';

const partnerWith = (kid: string) =>
  Partner.create({ issuer: 'https://partner.example', kid, audience: BASE_URL });
const good = partnerWith('good');
const UNSTORABLE_KIDS = ['with NUL \0', 'with a lone surrogate \ud800', '\udc00\ud800'];

/** A token that nobody's private key has signed; Node.js 24 and later take no such signature, and the key is unknown all the same. */
function forgedToken(point: string, kid: string): string {
  const encoded = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const signingInput = `${encoded({ alg: 'EdDSA', kid })}.${encoded(good.claims())}`;
  const signature = forgeSignature(point, Buffer.from(signingInput)) ?? randomBytes(64);
  return `${signingInput}.${signature.toString('base64url')}`;
}

async function expectUnknownKey(
  service: TestService,
  answer: Response,
  flow: EntryPath['flow'],
): Promise<void> {
  expect(answer.status).toBe(flow === 'embed' ? 401 : 400);
  const body = await answer.text();
  if (flow === 'embed') expect(JSON.parse(body)).toMatchObject({ error: 'key_unknown' });
  else expect(body).toBe(INVALID_GRANT);
  expect(await eventsOf(service, answer)).toMatchObject([{ payload: { reason: 'kid_unknown' } }]);
}

describeOnAnyDatabase('keys of a key set that are not used', (database) => {
  const unstorable = UNSTORABLE_KIDS.map(partnerWith);
  const weak = SMALL_ORDER_KEYS.map((point, at) => ({ ...jwkOf(point), point, kid: `weak-${at}` }));
  const jwks = JwksServer.forBlock();
  let service: TestService;

  beforeAll(async () => {
    jwks.publish({ keys: [...[...unstorable, good].flatMap((partner) => partner.jwks().keys), ...weak] });
    service = await TestService.start(database, {
      trustedKeys: [{ type: 'jwks', url: jwks.url, issuer: good.issuer, expectedAudience: BASE_URL }],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    });
    // Whoever comes while the keys are first fetched waits for that fetch, and reserves no other.
    expect((await service.exchange({ subject_token: good.sign() })).status).toBe(200);
  });
  afterAll(() => service?.stop());

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

    it.each(weak)(
      '[D35] a token that anybody can sign for key $kid is refused and audited',
      async ({ point, kid }) => {
        const answer = await path.send(service, forgedToken(point, kid), () => good.sign());
        await expectUnknownKey(service, answer, path.flow);
      },
    );

    it('[D35] a token of their neighbour is taken', async () => {
      expect(outcomeOf(await path.send(service, good.sign(), () => good.sign()))).toBe('accepted');
    });
  });

  it('[D35] each such key is reported once', () => {
    const told = service.log.filter(({ msg }) => msg === 'a key of a JWKS is not used');
    expect(told.map(({ warning }) => warning)).toEqual([
      ...UNSTORABLE_KIDS.map(
        (kid, at) => `key ${at} (kid "${visible(kid)}") has a kid with NUL or a lone surrogate`,
      ),
      ...weak.map(
        ({ kid }, at) =>
          `key ${UNSTORABLE_KIDS.length + 1 + at} (kid "${kid}") is a point of small order, or not written in its only form`,
      ),
    ]);
  });
});

describeOnEachDatabase('an emptied key set', (database) => {
  const fetched = partnerWith('fetched');
  const clock = new TestClock();
  const jwks = JwksServer.forBlock();
  let service: TestService;

  beforeAll(async () => {
    jwks.publish(fetched.jwks(), { 'cache-control': 'max-age=60' });
    service = await TestService.start(database, {
      trustedKeys: [
        { type: 'jwks', url: jwks.url, issuer: good.issuer, expectedAudience: BASE_URL },
        good.staticEntry(),
      ],
      environment: { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
      clock,
    });
  });
  afterAll(() => service?.stop());

  const token = (partner: Partner) => partner.sign(partner.claims({ iat: Math.floor(clock.nowSeconds()) }));
  const pass = async (seconds: number) => {
    clock.advance(seconds);
    // After such a leap a leader has to find out first that it still is one.
    await until('the instance leads', 10_000, () => service.part(Leader).isLeader);
    await service.part(JwksKeyProvider).tick();
  };

  it('[D34] a failing endpoint keeps its keys, an emptied set has none at once, and a static key is untouched', async () => {
    expect((await service.embed({ token: token(fetched) })).status).toBe(303);
    jwks.answerWith(status(500));
    await pass(61);
    expect((await service.embed({ token: token(fetched) })).status).toBe(303);
    jwks.publish({ keys: [] });
    await pass(10);
    for (const path of ENTRY_PATHS) {
      await expectUnknownKey(service, await path.send(service, token(fetched), () => token(good)), path.flow);
      expect(outcomeOf(await path.send(service, token(good), () => token(good)))).toBe('accepted');
    }
  });
});
