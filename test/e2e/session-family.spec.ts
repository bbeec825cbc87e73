// The chain of logins of one user in one browser: what a renewal leaves, and what sign-out and another user's login end.
import { Partner } from '../../demo/partner.js';
import { RevocationService } from '../../src/token-exchange/revocation/revocation.service.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { cookieOf, meStatus, sessionHashOf, sessionIdOf } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const GRACE_SECONDS = 30;
/** Short, since licences end as well. */
const LIFE_SECONDS = 120;

/** Two keys of one issuer. */
const twoKeys = (issuer: string) =>
  ['first', 'second'].map((kid) => Partner.create({ issuer, kid, audience: BASE_URL })) as [Partner, Partner];
const [renewed, begun] = [twoKeys('https://renewed.example'), twoKeys('https://begun.example')];

describeOnEachDatabase('[D28] a family of sessions', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, {
    trustedKeys: [partner, ...renewed, ...begun].map((one) => one.staticEntry()),
    environment: { SVC_EMBED_SESSION_TTL_SECONDS: String(LIFE_SECONDS) },
    clock,
  });

  const token = (sub: string, by = partner) => {
    const iat = clock.nowSeconds();
    return by.sign(by.claims({ sub, iat, exp: iat + 60 }));
  };
  /** Logs in with a `Cookie` header. @returns the `Cookie` header of the new session */
  const login = async (sub: string, cookie?: string, requestId = 'some-login', by = partner) => {
    const headers = { 'x-request-id': requestId, ...(cookie === undefined ? {} : { cookie }) };
    const answer = await service.embed({ token: token(sub, by) }, headers);
    expect(answer.status).toBe(303);
    return cookieOf(answer);
  };
  const signOut = async (cookie: string, requestId = 'some-sign-out') =>
    (await service.post('/rest/auth/logout', {}, { cookie, origin: BASE_URL, 'x-request-id': requestId }))
      .status;
  const statuses = (cookies: readonly string[]) =>
    Promise.all(cookies.map((cookie) => meStatus(service, cookie)));
  /** Ten logins, each with the cookie of the one before. */
  const tenRenewals = async (sub: string) => {
    const cookies = [await login(sub)];
    for (let renewal = 1; renewal <= 10; renewal++) cookies.push(await login(sub, cookies.at(-1)));
    return cookies;
  };
  const userOf = async (cookie: string) => {
    const answer = await service.fetch('/rest/me', { headers: { cookie } });
    return ((await answer.json()) as { user?: { email: string } }).user?.email;
  };
  const familyOf = async (cookie: string) => {
    const columns = 'SELECT family_id AS "familyId" FROM token_exchange_session WHERE id_hash = $1';
    return (await service.rows<{ familyId: string }>(columns, [sessionHashOf(cookie)]))[0]?.familyId;
  };
  const endedIn = async (requestId: string) =>
    (await eventsOf(service, requestId)).filter(({ name }) => name === 'svc.audit.session.ended');

  it.each([
    ['the newest cookie', 10],
    ['one in its grace', 3],
  ])('[D28] ten renewals, then sign-out with %s: every cookie ever set answers 401', async (_, which) => {
    const cookies = await tenRenewals(`out-${which}`);
    expect(new Set(cookies).size).toBe(11);
    expect(await signOut(cookies[which]!)).toBe(204);
    expect(await statuses(cookies)).toEqual(cookies.map(() => 401));
    clock.advance(GRACE_SECONDS);
    expect(await statuses(cookies)).toEqual(cookies.map(() => 401));
  });

  it('[D26] after a renewal the predecessor works for 30 seconds and then answers 401', async () => {
    const first = await login('renewing');
    const second = await login('renewing', first);
    clock.advance(GRACE_SECONDS - 1);
    expect(await statuses([first, second])).toEqual([200, 200]);
    clock.advance(1);
    expect(await statuses([first, second])).toEqual([401, 200]);
    clock.advance(LIFE_SECONDS - GRACE_SECONDS - 1);
    expect(await statuses([second])).toEqual([200]);
    clock.advance(1);
    expect(await statuses([second])).toEqual([401]);
  });

  it('[D26] a renewal prolongs no session: neither a grace under way nor a session about to end', async () => {
    const first = await login('again');
    const second = await login('again', first);
    clock.advance(GRACE_SECONDS - 10);
    const third = await login('again', first);
    clock.advance(10);
    expect(await statuses([first, second, third])).toEqual([401, 200, 200]);
    clock.advance(LIFE_SECONDS - GRACE_SECONDS - 5);
    const fourth = await login('again', second);
    clock.advance(5);
    expect(await statuses([second, third, fourth])).toEqual([401, 200, 200]);
  });

  it('[D28] a login without a live cookie begins a new family', async () => {
    const first = await login('fresh');
    const second = await login('fresh', first);
    clock.advance(GRACE_SECONDS);
    const others = [
      await login('fresh'),
      await login('fresh', first),
      await login('fresh', `__Host-svc-session=${'A'.repeat(43)}`),
      await login('fresh', `x=${sessionIdOf(second)}`),
    ];
    const families = await Promise.all([second, ...others].map(familyOf));
    expect(new Set(families).size).toBe(5);
    expect(await signOut(second)).toBe(204);
    expect(await statuses([second, ...others])).toEqual([401, 200, 200, 200, 200]);
  });

  it('[D28] a login of another user ends the whole family at once, including predecessors', async () => {
    const cookies = await tenRenewals('anna');
    const elsewhere = await login('anna');
    const bert = await login('bert', cookies[10]);
    expect(await statuses([...cookies, elsewhere, bert])).toEqual([...cookies.map(() => 401), 200, 200]);
    expect(await userOf(bert)).toBe('bert@partner.example');
    expect(await familyOf(bert)).not.toBe(await familyOf(elsewhere));
  });

  it('[D28] a failed login changes nothing', async () => {
    const first = await login('steady');
    const second = await login('steady', first);
    const used = token('steady');
    await service.embed({ token: used });
    await service.rows(`UPDATE user_account SET enabled = false WHERE email = 'bert@partner.example'`);
    for (const refused of [used, 'x', token('bert'), partner.sign(partner.claims({ exp: 1 }))]) {
      expect((await service.embed({ token: refused }, { cookie: second })).status).toBe(401);
    }
    clock.advance(GRACE_SECONDS - 1);
    expect(await statuses([first, second])).toEqual([200, 200]);
    clock.advance(1);
    expect(await statuses([first, second])).toEqual([401, 200]);
  });

  describe('with several cookies of the name, as browsers send them from two jars', () => {
    const both = (...cookies: string[]) => cookies.join('; ');

    it('[D28] the latest login is used, in any order', async () => {
      const old = await login('jar-old');
      clock.advance(1);
      const latest = await login('jar-new');
      expect(await userOf(both(old, latest))).toBe('jar-new@partner.example');
      expect(await userOf(both(latest, old))).toBe('jar-new@partner.example');
      expect(await userOf(both('a=b', `__Host-svc-session=`, '__Host-svc-session', old))).toBe(
        'jar-old@partner.example',
      );
    });

    it('[D28] one that has ended does not hide the live one', async () => {
      const first = await login('hidden');
      const second = await login('hidden', first);
      clock.advance(GRACE_SECONDS);
      expect(await statuses([both(first, second), both(second, first)])).toEqual([200, 200]);
    });

    it('[D28] sign-out ends the families of all of them', async () => {
      const [one, other, third] = [await login('jars'), await login('jars'), await login('guest')];
      expect(await signOut(both(one, other, third), 'jars-out')).toBe(204);
      expect(await statuses([one, other, third])).toEqual([401, 401, 401]);
      expect((await endedIn('jars-out')).map(({ payload }) => payload['sessions']).sort()).toEqual([1, 2]);
    });

    it('[D28] a login continues the latest session of its user, and ends the other families', async () => {
      const [own, others] = [await login('owning'), await login('foreign')];
      clock.advance(1);
      const latest = await login('owning');
      const next = await login('owning', both(own, others, latest));
      expect(await statuses([own, others, latest, next])).toEqual([401, 401, 200, 200]);
      expect(await familyOf(next)).toBe(await familyOf(latest));
    });

    it('[D28] at most four are read', async () => {
      const strangers = Array.from({ length: 4 }, (_, n) => `__Host-svc-session=${String(n).repeat(43)}`);
      const own = await login('fifth');
      expect(await statuses([both(...strangers.slice(1), own), both(...strangers, own)])).toEqual([200, 401]);
    });
  });

  describe('[D59] whose key is revoked', () => {
    const loginBy = (by: Partner, cookie?: string) => login('vouched', cookie, undefined, by);
    const revoke = ({ issuer, kid }: Partner) =>
      service.part(RevocationService).revoke({ issuer, kid }, 'revocation');

    it('[D59] ends with the key of an earlier login too, and a family by the other key continues', async () => {
      const [first, second] = renewed;
      const family = await loginBy(second, await loginBy(first));
      const apart = await loginBy(second);
      await revoke(first);
      expect(await statuses([family, apart])).toEqual([401, 200]);
    });

    it('[D59] is not continued by a login with its cookie, which begins a family of its own', async () => {
      const [first, second] = begun;
      const ended = await loginBy(first);
      await revoke(first);
      const next = await loginBy(second, ended);
      expect(await statuses([ended, next])).toEqual([401, 200]);
      const [row] = await service.rows(
        'SELECT vouched_by AS keys FROM token_exchange_session WHERE id_hash = $1',
        [sessionHashOf(next)],
      );
      expect(row).toEqual({ keys: [{ iss: second.issuer, kid: 'second' }] });
    });
  });

  describe('in the audit trail', () => {
    it("[D28] a login reports another user's sessions that it ended, and a renewal of none", async () => {
      const eva = await login('eva');
      const again = await login('eva', eva, 'eva-renews');
      expect(await endedIn('eva-renews')).toEqual([]);
      await login('fred', again, 'fred-comes');
      const rows = await eventsOf(service, 'fred-comes');
      const [ended] = await endedIn('fred-comes');
      expect(ended).toMatchObject({ payload: { sessions: 2, cause: 'replaced' } });
      const [{ id } = { id: '' }] = await service.rows<{ id: string }>(
        `SELECT id FROM user_account WHERE email = 'eva@partner.example'`,
      );
      expect(ended?.subjectUserId).toBe(id);
      const names = ['user-provisioned', 'embed-login', 'session.ended'];
      expect(rows.map(({ name }) => name.replace(/^svc\.audit\.(token-exchange\.)?/, '')).sort()).toEqual(
        names.sort(),
      );
    });
  });
});
