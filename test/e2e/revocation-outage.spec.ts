// An instance that cannot read revocations answers 503 after ten seconds, and recovers by itself.
import { Partner } from '../../demo/partner.js';
import { RevocationFollower } from '../../src/token-exchange/revocation/revocation.follower.js';
import { DatabaseBehindProxy } from '../support/database-behind-proxy.js';
import { describeOnPostgresql } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const MESSAGE = 'Revocations cannot be read at present';

describeOnPostgresql('[D60] an instance whose network to the database is cut', (database) => {
  let behind: DatabaseBehindProxy;
  let service: TestService;

  beforeAll(async () => {
    behind = await DatabaseBehindProxy.open(database);
    service = await TestService.start(behind, {
      trustedKeys: [partner.staticEntry()],
    });
  });
  afterAll(async () => {
    behind?.proxy.resume();
    await service?.stop();
    await behind?.close();
  });

  it('takes no credential and issues none after ten seconds, and does both again once it is back', async () => {
    const accessToken = await service.accessToken({ subject_token: partner.sign() });
    const cookie = await service.sessionCookie(partner.sign());
    let [kept, keptLogin] = ['', ''];
    const ask = {
      bearer: () => service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } }),
      api: () => service.fetch('/api/v1/workflows', { headers: { authorization: `Bearer ${accessToken}` } }),
      session: () => service.fetch('/rest/me', { headers: { cookie } }),
      exchange: () => service.exchange({ subject_token: kept }),
      embed: () => service.embed({ token: keptLogin }),
      end: () => service.revoke('any'),
    };
    expect((await ask.bearer()).status).toBe(200);
    await service.part(RevocationFollower).followNews();
    behind.proxy.silence();
    const silentSince = performance.now();
    // It asks nothing of the database: until it is refused, it would wait for it.
    const stillKnows = async () => (await service.revoke('any')).status === 200;
    await until('it does not know any more', 60_000, async () => !(await stillKnows()));
    // From the latest reading before.
    expect(performance.now() - silentSince).toBeGreaterThan(7_000);

    // They live for less than a minute.
    [kept, keptLogin] = [partner.sign(), partner.sign()];
    const answers = Object.fromEntries(
      await Promise.all(Object.entries(ask).map(async ([name, send]) => [name, await send()] as const)),
    );
    for (const [name, answer] of Object.entries(answers)) {
      expect([name, answer.status, answer.headers.get('retry-after')]).toEqual([name, 503, '5']);
    }
    const oauth = { error: 'temporarily_unavailable', error_description: MESSAGE };
    const plain = { error: 'temporarily_unavailable', message: MESSAGE };
    expect(await answers['exchange']?.json()).toEqual(oauth);
    expect(await answers['end']?.json()).toEqual(oauth);
    expect(await answers['embed']?.json()).toEqual(plain);
    expect(await answers['session']?.json()).toMatchObject(plain);
    expect(await answers['bearer']?.json()).toMatchObject(plain);
    expect(await answers['api']?.json()).toMatchObject(plain);

    behind.proxy.resume();
    await until('it knows again', 60_000, async () => (await ask.bearer()).status === 200);
    // Neither token was used up.
    const after = [(await ask.session()).status, (await ask.exchange()).status, (await ask.embed()).status];
    expect(after).toEqual([200, 200, 303]);
  });
});
