// "Add a partner" by the operator's API: keys that are to be trusted, and the wait for the first token.
import { Partner } from '../../demo/partner.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer, status } from '../support/jwks-server.js';
import type { OperatorBrowser } from '../support/operators.js';
import { createOperator, errorOf, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const ISSUER = 'https://partner.example';
const partner = Partner.create({ issuer: ISSUER, audience: BASE_URL });
const stranger = Partner.create({ issuer: 'https://partner.example/', audience: BASE_URL });
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });

interface Request {
  readonly of: string;
  readonly succeeded: boolean;
  readonly own: boolean;
  readonly reason: string | null;
  readonly cause: string | null;
  readonly found: string | null;
}

describeOnAnyDatabase('[D109] "Add a partner" by the operator\'s API', (database) => {
  const clock = new TestClock();
  const keySet = JwksServer.forBlock();
  const service = TestService.forBlock(database, {
    clock,
    environment: { ...OPERATOR_ENVIRONMENT, SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' },
    trustedKeys: [partner.staticEntry(), other.staticEntry()],
  });
  let browser: OperatorBrowser;

  beforeAll(async () => {
    await createOperator(service, 'ada@example.com', 'global:owner');
    browser = await signedIn(service, 'ada@example.com');
  });
  const post = async <T>(path: string, body: object): Promise<T> => {
    const answer = await browser.send('POST', `partners/${path}`, body);
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  };

  it('reads a public key as PEM and as JWK, with its kid and algorithm', async () => {
    const key = partner.publicKeyPem();
    expect(await post('key', { text: key })).toMatchObject({ problem: null, key, algorithms: ['ES256'] });
    const [jwk] = partner.jwks().keys;
    const read = await post('key', { text: JSON.stringify({ ...jwk, kid: 'k 1' }) });
    expect(read).toEqual({ problem: null, kid: 'k 1', algorithms: ['ES256'], key });
  });

  it.each([
    ['a private key', () => partner.privateKeyPem(), 'is a private key, which only its owner may have'],
    [
      'a private JWK',
      () => JSON.stringify({ kty: 'EC', d: 'secret' }),
      'is a private key, which only its owner may have',
    ],
    ['a shared secret', () => JSON.stringify({ kty: 'oct', k: 'secret' }), 'is a private key'],
    ['a key set', () => JSON.stringify(partner.jwks()), 'is a key set'],
    ['half a JWK', () => '{"kty":"EC"', 'is not valid JSON, so it is no JWK'],
    [
      'a JWK of another kind',
      () => '{"kty":"EC","crv":"secp256k2"}',
      'is a JWK of a kind that is not supported',
    ],
    ['nothing', () => ' ', 'is empty'],
  ])('says what %s is, and repeats nothing of it', async (_, text, problem) => {
    const read = await post<{ problem: string }>('key', { text: text() });
    expect(read).toEqual({ problem: expect.stringContaining(problem) });
    expect(read.problem).not.toContain('secret');
  });

  it('fetches a key set once, and stores nothing', async () => {
    keySet.publish(partner.jwks());
    const { url } = keySet;
    const fetched = await post('key-set', { url });
    expect(fetched).toMatchObject({ keys: [{ kid: partner.kid, algorithms: ['ES256'] }], failure: null });
    keySet.answerWith(status(404));
    expect(await post('key-set', { url })).toMatchObject({ keys: [], failure: 'status 404' });
    const refused = await browser.send('POST', 'partners/key-set', { url: 'somewhere' });
    expect(await errorOf(refused)).toEqual([400, 'bad_request']);
    const { data } = (await (await browser.get('entries')).json()) as { data: object[] };
    expect(data).toHaveLength(2);
  });

  it('shows requests of an issuer and of unknown issuers since the wait began, and no others', async () => {
    const since = clock.now().toISOString();
    const now = () => ({ iat: clock.nowMs() / 1000 });
    await service.exchange({ subject_token: partner.sign(partner.claims({ ...now(), exp: 1 })) });
    clock.advance(1);
    await service.exchange({ subject_token: stranger.sign(stranger.claims(now())) });
    await service.accessToken({ subject_token: other.sign(other.claims(now())) });
    clock.advance(1);
    await service.accessToken({ subject_token: partner.sign(partner.claims(now())) });
    const { data } = await post<{ data: Request[] }>('requests', { issuer: ISSUER, since });
    expect(data).toMatchObject([
      { of: 'exchange', succeeded: true, own: true, reason: null },
      {
        ...{ of: 'exchange', succeeded: false, own: false, reason: 'issuer_unknown' },
        found: expect.stringContaining('the same except'),
      },
      { of: 'exchange', succeeded: false, own: true, cause: expect.any(String), remedy: expect.any(String) },
    ]);
    clock.advance(11 * 60);
    expect(await post('requests', { issuer: ISSUER, since })).toEqual({ data: [] });
  });

  it('[D113] waits without extending the sign-in, which ends half an hour after its last use', async () => {
    const waiting = await signedIn(service, 'ada@example.com', '192.0.2.9');
    const wait = { issuer: ISSUER, since: clock.now().toISOString() };
    for (let minutes = 0; minutes < 25; minutes += 5) {
      clock.advance(5 * 60);
      expect((await waiting.send('POST', 'partners/requests', wait)).status).toBe(200);
    }
    clock.advance(6 * 60);
    expect(await errorOf(await waiting.send('POST', 'partners/requests', wait))).toEqual([
      401,
      'sign_in_required',
    ]);
  });

  it('[D109] answers nobody who is not signed in', async () => {
    for (const path of ['key', 'key-set', 'requests']) {
      const headers = { cookie: undefined };
      const answer = await browser.send('POST', `partners/${path}`, {}, headers);
      expect(await errorOf(answer)).toEqual([401, 'sign_in_required']);
    }
  });
});
