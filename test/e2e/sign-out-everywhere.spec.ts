// A user who is signed out everywhere: sessions and access tokens end, as subject and as actor, and a new login passes.
import { Partner } from '../../demo/partner.js';
import { SignOutService } from '../../src/token-exchange/sessions/sign-out.service.js';
import { auditRows } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { linkedUser } from '../support/local-users.js';
import { cookieOf, meStatus } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnEachDatabase('[D62] a user who is signed out everywhere', (database) => {
  const clock = new TestClock();
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start(database, { trustedKeys: [partner.staticEntry()], clock });
  });
  afterAll(() => service?.stop());

  const token = (sub: string) => partner.sign(partner.claims({ sub, iat: Math.floor(clock.nowSeconds()) }));
  const issued = (sub: string, actor?: string) =>
    service.accessToken({
      subject_token: token(sub),
      ...(actor === undefined ? {} : { actor_token: token(actor) }),
    });
  const opened = async (sub: string) => cookieOf(await service.embed({ token: token(sub) }));
  const bearer = async (accessToken: string) =>
    (await service.fetch('/rest/me', { headers: { authorization: `Bearer ${accessToken}` } })).status;
  const signOut = async (sub: string, requestId = 'sign-out-everywhere') => {
    const user = await linkedUser(service, partner.issuer, sub);
    return service.part(SignOutService).signOutEverywhere(user?.id ?? '', requestId);
  };

  it('loses sessions and tokens, as subject and as actor; others keep theirs', async () => {
    const sessions = [await opened('ada'), await opened('ada'), await opened('bob')];
    const tokens = [
      await issued('ada'),
      await issued('bob', 'ada'),
      await issued('ada', 'bob'),
      await issued('bob'),
    ];
    expect(await Promise.all(tokens.map(bearer))).toEqual([200, 200, 200, 200]);
    expect(await signOut('ada')).toBe(2);
    expect(await Promise.all(tokens.map(bearer))).toEqual([401, 401, 401, 200]);
    expect(await Promise.all(sessions.map((cookie) => meStatus(service, cookie)))).toEqual([401, 401, 200]);
  });

  it('comes in again by a new login, while what was issued before stays ended', async () => {
    const before = await issued('eve');
    await signOut('eve');
    expect(await bearer(await issued('eve'))).toBe(401);
    clock.advance(1);
    expect([await bearer(await issued('eve')), await meStatus(service, await opened('eve'))]).toEqual([
      200, 200,
    ]);
    expect(await bearer(before)).toBe(401);
  });

  it('ends a session too that was being opened, and that nobody could see', async () => {
    const session = await opened('ida');
    const user = await linkedUser(service, partner.issuer, 'ida');
    const [row] = (await service.rows('DELETE FROM token_exchange_session WHERE user_id = $1 RETURNING *', [
      user?.id,
    ])) as unknown as [Record<string, unknown>[]];
    await signOut('ida');
    const { id_hash, family_id, created_at, expires_at } = row[0] ?? {};
    await service.rows(
      `INSERT INTO token_exchange_session (id_hash, user_id, family_id, created_at, expires_at, vouched_by)
       VALUES ($1, $2, $3, $4, $5, '[]')`,
      [id_hash, user?.id, family_id, created_at, expires_at],
    );
    expect(await meStatus(service, session)).toBe(401);
  });

  it('is told to the audit trail, with the number of sessions', async () => {
    await opened('una');
    await signOut('una', 'end-of-una');
    const user = await linkedUser(service, partner.issuer, 'una');
    expect(await auditRows(service, 'end-of-una')).toMatchObject([
      {
        name: 'svc.audit.token-exchange.user-signed-out',
        subject_user_id: user?.id,
        payload: { sessions: 1 },
      },
    ]);
  });
});
