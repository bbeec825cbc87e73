// What a product does with the package, from the first login on: declared for every installation and both servers.
import type { JSONWebKeySet } from 'jose';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import type { Partner } from '../../../demo/partner.js';
import { body, JwksServer } from '../../support/jwks-server.js';
import { cookieOf } from '../../support/logins.js';
import { until } from '../../support/until.js';
import { describeOnEmptyDatabase } from './empty-database.js';
import type { Kind } from './host-process.js';
import { BASE_URL, exchangeForm, HostProcess, newPartner, optionsOf } from './host-process.js';
import type { Installation } from './packed-package.js';

const SAME_TOKENS = 50;
const ROTATION_LIMIT_MS = 60_000;

/** The main job, the replay race, the rotation of keys and the end of a user. */
export function declareJourneys(installed: () => Installation, kinds: readonly Kind[]): void {
  for (const kind of kinds) {
    describeOnEmptyDatabase(`${kind.server} with ${kind.parts} parts`, (database) => {
      const partner = newPartner();
      const options = () => optionsOf(partner, { ...kind, databaseUrl: database().url });
      const host = HostProcess.forBlock(options, installed);

      declareMainJob(host, partner, kind);
      declareReplayRace(host, partner);

      it('forgets a user whom the host has deleted, and creates a new one at the next login', async () => {
        const claims = { sub: 'leaver', email: 'leaver@partner.example' };
        const first = await host.exchange(partner.sign(partner.claims(claims)));
        const id = subjectOf(first.body);
        await database().query('DELETE FROM product_user WHERE id::text = $1', [id]);
        expect((await host.apiMe(first.body['access_token'])).status).toBe(401);
        const second = await host.exchange(partner.sign(partner.claims(claims)));
        expect(second.status).toBe(200);
        expect(subjectOf(second.body)).not.toBe(id);
        const links = await database().query<{ user_id: string }>(
          `SELECT user_id FROM token_exchange_identity_link WHERE subject = 'leaver'`,
        );
        expect(links).toEqual([{ user_id: subjectOf(second.body) }]);
      });
    });

    declareRotation(installed, kind);
  }
}

function declareMainJob(host: HostProcess, partner: Partner, { parts }: Kind): void {
  const idForm = parts === 'own' ? /^[1-9]\d*$/ : /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

  it('exchanges a token for an access token that opens the API', async () => {
    const answer = await host.exchange(partner.sign());
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { sub } = decodeJwt(String(answer.body['access_token']));
    expect(sub).toMatch(idForm);
    const me = await host.apiMe(answer.body['access_token']);
    expect(me).toMatchObject({ status: 200, body: { subject: { email: 'customer-1@partner.example' } } });
    expect(String((me.body['subject'] as { id: unknown }).id)).toBe(sub);
    expect((await host.apiMe(partner.sign())).status).toBe(401);
  });

  if (parts === 'defaults')
    it('publishes the keys to verify its access tokens', async () => {
      const { body: answer } = await host.exchange(partner.sign());
      const { body: keySet } = await host.call('/.well-known/jwks.json');
      const keys = createLocalJWKSet(keySet as unknown as JSONWebKeySet);
      const expected = { issuer: BASE_URL, audience: BASE_URL, typ: 'at+jwt' };
      const { payload } = await jwtVerify(String(answer['access_token']), keys, expected);
      expect(payload.sub).toBe(subjectOf(answer));
    });

  it('exchanges for an actor who acts for the subject', async () => {
    const actor = partner.sign(partner.claims({ sub: 'actor' }));
    const { body: answer } = await host.exchange(partner.sign(), actor);
    const { sub, act } = decodeJwt(String(answer['access_token']));
    expect((act as { sub: string }).sub).toMatch(idForm);
    expect((act as { sub: string }).sub).not.toBe(sub);
    const me = await host.apiMe(answer['access_token']);
    expect(me.body).toMatchObject({
      subject: { email: 'customer-1@partner.example' },
      actor: { email: 'actor@partner.example' },
    });
  });

  it("signs a browser in, with the product's session", async () => {
    const answer = await host.login(partner.sign());
    expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
      status: 303,
      location: '/',
    });
    const cookie = cookieOf(answer);
    expect(cookie).toMatch(parts === 'own' ? /^product_session=/ : /^__Host-svc-session=/);
    const page = await host.call('/', { headers: { cookie } });
    expect(page.text).toContain('Welcome, customer-1@partner.example');
    expect((await host.call('/')).status).toBe(401);
  });

  it("notifies the host of events, with the host's ids", async () => {
    const claims = { sub: 'told', role: 'admin' };
    const { body: answer } = await host.exchange(partner.sign(partner.claims(claims)));
    const ofSubject = () => host.events.filter(({ subjectUserId }) => subjectUserId === subjectOf(answer));
    await until('both events are told', 60_000, () => ofSubject().length === 2);
    expect(ofSubject()).toMatchObject([
      {
        name: 'svc.audit.token-exchange.user-provisioned',
        payload: { userId: subjectOf(answer), role: 'admin' },
      },
      { name: 'svc.audit.token-exchange.succeeded', payload: { issuer: partner.issuer } },
    ]);
  });
}

function declareReplayRace(host: HostProcess, partner: Partner): void {
  it(`accepts one of ${SAME_TOKENS} parallel uses of one token, for known and unknown users`, async () => {
    for (const sub of ['customer-1', 'newcomer']) {
      const token = partner.sign(partner.claims({ sub }));
      const answers = await Promise.all(Array.from({ length: SAME_TOKENS }, () => host.exchange(token)));
      const passed = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ body: { error } }) => error === 'invalid_grant');
      expect([passed.length, refused.length]).toEqual([1, SAME_TOKENS - 1]);
    }
  });
}

function declareRotation(installed: () => Installation, kind: Kind): void {
  describeOnEmptyDatabase(
    `keys that a partner publishes to ${kind.server} with ${kind.parts} parts`,
    (database) => {
      const partner = newPartner();
      const keys = JwksServer.forBlock();
      const host = HostProcess.forBlock(() => {
        keys.publish(partner.jwks(), { 'cache-control': 'max-age=1' });
        const entry = { type: 'jwks', url: keys.url, issuer: partner.issuer, expectedAudience: BASE_URL };
        const options = optionsOf(partner, { ...kind, databaseUrl: database().url });
        const settings = { trustedKeys: JSON.stringify([entry]), jwks: { allowHttp: true } };
        return { ...options, settings: { ...options.settings, ...settings } };
      }, installed);

      const isTaken = async (token: string) => (await host.exchange(token)).status === 200;

      it('are rotated without a restart: the new one is accepted, and the old one no longer', async () => {
        await until('the first key is fetched', ROTATION_LIMIT_MS, () => isTaken(partner.sign()));
        const late = Array.from({ length: 40 }, () => partner.sign());
        partner.rotate();
        const [newest] = partner.jwks().keys;
        keys.answerWith(body(JSON.stringify({ keys: [newest] }), { 'cache-control': 'max-age=1' }));
        await until('the new key is taken', ROTATION_LIMIT_MS, () => isTaken(partner.sign()));
        expect(await isTaken(late.pop() ?? '')).toBe(false);
        expect(await host.post('/rest/auth/oauth/token', exchangeForm(late.pop() ?? ''))).toMatchObject({
          status: 400,
          body: { error: 'invalid_grant' },
        });
      });
    },
  );
}

function subjectOf(answer: Record<string, unknown>): string {
  return String(decodeJwt(String(answer['access_token'])).sub);
}
