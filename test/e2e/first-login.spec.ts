// First logins whose users are made, each whole or not at all.
import { Partner } from '../../demo/partner.js';
import { eventsOf, onEveryEvent } from '../support/audit.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const trustedKeys = [partner.staticEntry()];
const tokenOf = (sub: string, email = `${sub}@partner.example`) =>
  partner.sign(partner.claims({ sub, email }));

/** How many users, links, personal projects, members and provisionings there are of addresses that begin so. */
async function madeFor(service: TestService, beginning: string): Promise<number[]> {
  const [row] = await service.rows<Record<string, number>>(
    `WITH made AS (SELECT id FROM user_account WHERE starts_with(email, $1))
     SELECT (SELECT count(*) FROM made)::int AS users,
       (SELECT count(*) FROM token_exchange_identity_link WHERE user_id IN (SELECT id FROM made))::int AS links,
       (SELECT count(*) FROM project WHERE personal_owner_id IN (SELECT id FROM made))::int AS projects,
       (SELECT count(*) FROM project_member WHERE role = 'project:admin' AND user_id IN (SELECT id FROM made))::int AS members,
       (SELECT count(*) FROM audit_event WHERE name LIKE '%.user-provisioned'
          AND subject_user_id IN (SELECT id FROM made))::int AS told`,
    [beginning],
  );
  return Object.values(row ?? {});
}

describeOnEachDatabase('[4.4.3] first logins', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const exchange = (token: string, requestId = 'first-login') =>
    service.exchange({ subject_token: token }, { 'x-request-id': requestId });
  const statuses = async (tokens: readonly string[]) =>
    (await Promise.all(tokens.map((token) => exchange(token)))).map(({ status }) => status);

  it('[6.5] say that the user was made before the success, in the trail and to listeners', async () => {
    const heard: string[] = [];
    onEveryEvent(service, ({ name, requestId }) => {
      if (requestId === 'telling-login') heard.push(name);
    });
    await Promise.all([
      exchange(tokenOf('telling'), 'telling-login'),
      ...Array.from({ length: 30 }, (_, index) =>
        exchange(tokenOf(`beside-${index}`), `beside-${index}-login`),
      ),
    ]);
    const names = ['user-provisioned', 'succeeded'].map((name) => `svc.audit.token-exchange.${name}`);
    expect(heard).toEqual(names);
    for (const requestId of [
      'telling-login',
      ...Array.from({ length: 30 }, (_, index) => `beside-${index}-login`),
    ]) {
      const rows = await eventsOf(service, requestId);
      expect(rows.map(({ name }) => name)).toEqual(names);
      expect(new Set(rows.map((row) => row.subjectUserId)).size).toBe(1);
      expect(rows[0]?.payload).toMatchObject({ userId: rows[0]?.subjectUserId, role: 'global:member' });
    }
  });

  it('[D6] of one identity at once make one user, and all succeed', async () => {
    expect(await statuses(Array.from({ length: 20 }, () => tokenOf('same')))).toEqual(Array(20).fill(200));
    expect(await madeFor(service, 'same')).toEqual([1, 1, 1, 1, 1]);
  });

  it('[D6][2.5.1] of one identity with two addresses at once leave no user without a link', async () => {
    const tokens = Array.from({ length: 20 }, (_, index) =>
      tokenOf('wavering', `wavering-${index % 2}@partner.example`),
    );
    expect(await statuses(tokens)).toEqual(Array(20).fill(200));
    expect(await madeFor(service, 'wavering')).toEqual([1, 1, 1, 1, 1]);
  });

  it('[D6] of two identities with one address at once make one user with two links', async () => {
    const tokens = ['left', 'right'].map((sub) => tokenOf(sub, 'shared@partner.example'));
    expect(await statuses(tokens)).toEqual([200, 200]);
    expect(await madeFor(service, 'shared')).toEqual([1, 2, 1, 1, 1]);
  });
});

describeOnPostgresql('[D102] a rush of first logins', (database) => {
  const service = TestService.forBlock(database, { trustedKeys });
  const statusOf = async (sub: string) => (await service.exchange({ subject_token: tokenOf(sub) })).status;

  it('[D102] refuses no known user meanwhile, and makes each user whole or not at all', async () => {
    await statusOf('regular');
    let isOver = false;
    const firsts = Array.from({ length: 300 }, (_, index) => statusOf(`rush-${index}`));
    const rush = Promise.all(firsts).finally(() => (isOver = true));
    const known: number[] = [];
    while (!isOver) known.push(await statusOf('regular'));
    expect(new Set(known)).toEqual(new Set([200]));
    const made = (await rush).filter((status) => status === 200).length;
    expect(new Set(await rush)).not.toContain(500);
    const [users = 0, ...parts] = await madeFor(service, 'rush-');
    expect(users).toBeGreaterThanOrEqual(made);
    expect(parts).toEqual(parts.map(() => users));
  });
});
