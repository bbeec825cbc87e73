// A user who is signed out everywhere or disabled: sessions and access tokens end for good, as subject and as actor.
import { randomUUID } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import { Partner } from '../../demo/partner.js';
import { SignOutService } from '../../src/token-exchange/login/sign-out.service.js';
import { jtiHashOf } from '../../src/token-exchange/replay/use.repository.js';
import { eventsOf } from '../support/audit.js';
import { untilOneIsBlocked } from '../support/blocked-transactions.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { linkedUser } from '../support/local-users.js';
import { bearerStatus, cookieOf, meStatus } from '../support/logins.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

describeOnEachDatabase('[D7] a user who is signed out everywhere', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], clock });

  const token = (sub: string) => partner.sign(partner.claims({ sub, iat: Math.floor(clock.nowSeconds()) }));
  const issued = (sub: string, actor?: string) =>
    service.accessToken({
      subject_token: token(sub),
      ...(actor === undefined ? {} : { actor_token: token(actor) }),
    });
  const opened = async (sub: string) => cookieOf(await service.embed({ token: token(sub) }));
  const bearer = (accessToken: string) => bearerStatus(service, accessToken);
  const signOut = async (sub: string, requestId = 'sign-out-everywhere') => {
    const user = await linkedUser(service, partner.issuer, sub);
    return service.part(SignOutService).signOutEverywhere(user?.id ?? '', requestId);
  };

  it('loses sessions and tokens, as subject and as actor, others keep theirs, and the user can sign in again', async () => {
    const sessions = [await opened('ada'), await opened('ada'), await opened('bob')];
    const tokens = [
      await issued('ada'),
      await issued('bob', 'ada'),
      await issued('ada', 'bob'),
      await issued('bob'),
    ];
    expect(await Promise.all(tokens.map(bearer))).toEqual([200, 200, 200, 200]);
    expect(await signOut('ada')).toBe(2);
    expect([await bearer(await issued('ada')), await meStatus(service, await opened('ada'))]).toEqual([
      200, 200,
    ]);
    expect(await Promise.all(tokens.map(bearer))).toEqual([401, 401, 401, 200]);
    expect(await Promise.all(sessions.map((cookie) => meStatus(service, cookie)))).toEqual([401, 401, 200]);
  });

  it('[D7] gets nothing back when disabled and enabled again by any means', async () => {
    const session = await opened('ida');
    const tokens = [await issued('ida'), await issued('bob', 'ida'), await issued('ida', 'bob')];
    const user = await linkedUser(service, partner.issuer, 'ida');
    for (const enabled of [false, true])
      await service.rows('UPDATE user_account SET enabled = $2 WHERE id = $1', [user?.id, enabled]);
    expect(await Promise.all(tokens.map(bearer))).toEqual([401, 401, 401]);
    expect(await meStatus(service, session)).toBe(401);
    expect([await bearer(await issued('ida')), await meStatus(service, await opened('ida'))]).toEqual([
      200, 200,
    ]);
  });

  it('has no session of a release that recorded no generation', async () => {
    const session = await opened('old');
    await service.rows('UPDATE token_exchange_session SET access_generation = NULL');
    expect(await meStatus(service, session)).toBe(401);
  });

  it('is in the audit trail, with the number of sessions', async () => {
    await opened('una');
    await signOut('una', 'end-of-una');
    const user = await linkedUser(service, partner.issuer, 'una');
    expect(await eventsOf(service, 'end-of-una')).toMatchObject([
      {
        name: 'svc.audit.token-exchange.user-signed-out',
        subjectUserId: user?.id,
        payload: { sessions: 1 },
      },
    ]);
  });
});

describeOnPostgresql('[D7] what is issued while access is being ended', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  let other: QueryRunner;
  let userId: string;

  beforeAll(async () => {
    await service.accessToken({ subject_token: partner.sign() });
    userId = (await linkedUser(service, partner.issuer, 'customer-1'))?.id ?? '';
    other = (await database.open()).dataSource.createQueryRunner();
  });
  afterAll(async () => {
    await other?.release();
  });

  const switchTo = (enabled: boolean) =>
    other.query('UPDATE user_account SET enabled = $2 WHERE id = $1', [userId, enabled]);
  const ENDS: readonly [string, () => Promise<unknown>][] = [
    ['a sign-out everywhere', () => service.part(SignOutService).signOutEverywhere(userId, 'end')],
    ['disabling, and enabling again', () => switchTo(false).then(() => switchTo(true))],
  ];
  const issue = async (jti: string) => {
    const token = await service.accessToken({ subject_token: partner.sign(partner.claims({ jti })) });
    return { authorization: `Bearer ${token}` };
  };
  const open = async (jti: string) => ({
    cookie: await service.sessionCookie(partner.sign(partner.claims({ jti }))),
  });
  const me = async (headers: Record<string, string>) => (await service.fetch('/rest/me', { headers })).status;

  /** Refreshes the service's memory of the user. The first of both requests may find it out of date. */
  const makeKnown = async () => {
    await issue(randomUUID());
    await issue(randomUUID());
  };

  it.each([
    ['a token', issue],
    ['a session', open],
  ])('is of no use: %s by a statement that runs before the end commits', async (_, hand) => {
    await makeKnown();
    await other.startTransaction();
    await switchTo(false);
    const credential = await hand(randomUUID());
    expect(await me(credential)).toBe(200);
    await other.commitTransaction();
    await switchTo(true);
    expect(await me(credential)).toBe(401);
  });

  it.each(
    ENDS.flatMap(([name, end]) => [
      ['a token', name, end, issue] as const,
      ['a session', name, end, open] as const,
    ]),
  )('is of no use: %s by a statement that has begun before %s', async (_, __, end, hand) => {
    await makeKnown();
    const jti = randomUUID();
    const holder = (await database.open()).dataSource.createQueryRunner();
    await holder.startTransaction();
    await holder.query('INSERT INTO token_exchange_used_jti VALUES ($1, now())', [jtiHashOf(jti)]);
    const handing = hand(jti);
    await untilOneIsBlocked((sql) => service.rows(sql));
    await end();
    await holder.rollbackTransaction();
    await holder.release();
    expect(await me(await handing)).toBe(401);
  });
});
