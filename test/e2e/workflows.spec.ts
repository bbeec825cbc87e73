// GET /api/v1/workflows: who sees what, page by page, and exactly as it was stored.
import { Partner } from '../../demo/partner.js';
import type { Members } from '../../demo/partner.js';
import type { User } from '../../src/users/user.repository.js';
import { jsonOf } from '../support/answers.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { addWorkflows, createUser } from '../support/residents.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });

interface Page {
  data: { id: string; name: string }[];
  nextCursor: string | null;
}

/** Members in an order, and with numbers, that a parser and a binary JSON column would not leave alone. */
const AS_SENT = {
  name: 'as sent',
  active: true,
  nodes: [{ z: 1, a: [null, { b: 'ü\u2028"\\' }], 'm m': '', 10: 'ten', 2: 'two' }, {}],
  connections: { z: { main: [[{ node: 'a', index: 0 }]] }, a: {} },
};

describeOnEachDatabase('[D47] workflows', (database) => {
  const clock = new TestClock();
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], clock });
  let users: Record<'member' | 'other' | 'admin' | 'owner', User>;
  let teamWorkflowId: string;

  beforeAll(async () => {
    const create = (name: string, role: User['role']) =>
      createUser(service, { email: `${name}@partner.example`, role });
    users = {
      member: await create('member', 'global:member'),
      other: await create('other', 'global:member'),
      admin: await create('admin', 'global:admin'),
      owner: await create('owner', 'global:owner'),
    };
    await addWorkflows(service, users.member.id, [{ name: 'one' }, { name: 'two' }, AS_SENT]);
    await addWorkflows(service, users.other.id, [{ name: 'foreign' }]);
    teamWorkflowId = await addTeam(service, users.other.id);
  });
  const bearer = async (sub: string, fields: Members = {}) => {
    const subject = partner.sign(partner.claims({ sub, iat: clock.nowSeconds() }));
    return `Bearer ${await service.accessToken({ subject_token: subject, ...fields })}`;
  };
  const list = async (authorization: string, query = '') =>
    service.fetch(`/api/v1/workflows${query}`, { headers: { authorization } });
  const namesFor = async (authorization: string) => {
    const answer = await list(authorization);
    expect(answer.status).toBe(200);
    return (await jsonOf<Page>(answer)).data.map(({ name }) => name).sort();
  };
  const pageOf = async (authorization: string, query: string) =>
    jsonOf<Page>(await list(authorization, query));

  const ALL = ['as sent', 'foreign', 'one', 'team', 'two'];

  it.each([
    ['a member', 'member', ['as sent', 'one', 'two']],
    ['another member, of a team too', 'other', ['foreign', 'team']],
    ['an administrator', 'admin', ALL],
    ['the owner', 'owner', ALL],
    ['somebody provisioned just now', 'newcomer', []],
  ])('[D47] %s sees the right ones', async (_, sub, names) => {
    expect(await namesFor(await bearer(sub))).toEqual(names);
  });

  it('[D30] with an actor the actor sees, not the subject', async () => {
    const actorToken = (sub: string) => partner.sign(partner.claims({ sub, iat: clock.nowSeconds() }));
    expect(await namesFor(await bearer('member', { actor_token: actorToken('admin') }))).toEqual(ALL);
    const asOther = await bearer('owner', { actor_token: actorToken('other') });
    expect(await namesFor(asOther)).toEqual(['foreign', 'team']);
  });

  it('[D30] a role that changes counts for a token that was issued before', async () => {
    const authorization = await bearer('member');
    await service.rows(`UPDATE user_account SET role = 'global:admin' WHERE id = $1`, [users.member.id]);
    expect(await namesFor(authorization)).toEqual(ALL);
    await service.rows(`UPDATE user_account SET role = 'global:member' WHERE id = $1`, [users.member.id]);
    expect(await namesFor(authorization)).toEqual(['as sent', 'one', 'two']);
  });

  it('[4.3] a token works until it expires, and its external token makes no other', async () => {
    const subject = partner.sign(partner.claims({ sub: 'member', iat: clock.nowSeconds() }));
    const authorization = `Bearer ${await service.accessToken({ subject_token: subject })}`;
    const me = await service.fetch('/rest/me', { headers: { authorization } });
    const { expiresAt } = await jsonOf<{ expiresAt: string }>(me);
    clock.advance((Date.parse(expiresAt) - clock.nowMs()) / 1000 - 1);
    expect((await list(authorization)).status).toBe(200);
    clock.advance(1);
    expect((await list(authorization)).status).toBe(401);
    expect((await service.exchange({ subject_token: subject })).status).toBe(400);
  });

  it('[4.3] a session reads them too', async () => {
    const cookie = await service.sessionCookie(
      partner.sign(partner.claims({ sub: 'other', iat: clock.nowSeconds() })),
    );
    const answer = await service.fetch('/api/v1/workflows', { headers: { cookie } });
    expect((await jsonOf<Page>(answer)).data.map(({ id }) => id)).toContain(teamWorkflowId);
  });

  it('a list reports a workflow all but its nodes and connections, which it answers by itself, as they were sent', async () => {
    const authorization = await bearer('member');
    const { data } = await jsonOf<{ data: { id: string; name: string }[] }>(await list(authorization));
    const listed = data.find(({ name }) => name === AS_SENT.name);
    const { nodes, connections, ...rest } = AS_SENT;
    const head = {
      ...rest,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    };
    expect(listed).toEqual({ ...head, canEdit: true });
    const answer = await service.fetch(`/api/v1/workflows/${listed?.id}`, { headers: { authorization } });
    const text = await answer.text();
    expect(text).toContain(`"nodes":${JSON.stringify(nodes)}`);
    expect(text).toContain(`"connections":${JSON.stringify(connections)}`);
    expect(JSON.parse(text)).toEqual({ ...head, canEdit: true, nodes, connections });
  });

  it('pages hold what was asked for, each workflow once, and the last one says so', async () => {
    const authorization = await bearer('admin');
    const names: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${encodeURIComponent(cursor)}`;
      const page: Page = await pageOf(authorization, query);
      names.push(...page.data.map(({ name }) => name));
      sizes.push(page.data.length);
      cursor = page.nextCursor;
    }
    expect(sizes).toEqual([2, 2, 1]);
    expect(names.sort()).toEqual(ALL);
  });

  it('a page that ends with the last workflow has no next one', async () => {
    const exact = await pageOf(await bearer('admin'), `?limit=${ALL.length}`);
    expect([exact.data.length, exact.nextCursor]).toEqual([ALL.length, null]);
  });

  it('a cursor of a user who sees all shows a member nothing more', async () => {
    const { nextCursor } = await pageOf(await bearer('admin'), '?limit=1');
    const page = await pageOf(await bearer('other'), `?cursor=${nextCursor}`);
    for (const { name } of page.data) expect(['foreign', 'team']).toContain(name);
  });

  it.each([
    'limit=0',
    'limit=-1',
    'limit=251',
    'limit=1.5',
    'limit=',
    'limit=ten',
    'limit=0x10',
    'limit=1e2',
    'limit=1&limit=2',
    'limit=%00',
    'cursor=',
    'cursor=x',
    'cursor=%00',
    'cursor=a&cursor=b',
    `cursor=${Buffer.from("' OR 1=1 --").toString('base64url')}`,
    `cursor=${'A'.repeat(5000)}`,
  ])('?%s: 400 in JSON', async (query) => {
    const answer = await list(await bearer('member'), `?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'bad_request', message: expect.any(String) });
  });

  it('[D47] every user has one personal project from the moment of creation', async () => {
    await bearer('brand-new');
    const projects = await service.rows(
      `SELECT project.type, member.role FROM user_account JOIN project_member member ON member.user_id = user_account.id
       JOIN project ON project.id = member.project_id AND project.personal_owner_id = user_account.id
       WHERE email = 'brand-new@partner.example'`,
    );
    expect(projects).toEqual([{ type: 'personal', role: 'project:admin' }]);
  });

  it('limits of 1 and 250 are taken', async () => {
    const authorization = await bearer('member');
    expect((await pageOf(authorization, '?limit=1')).data).toHaveLength(1);
    expect((await list(authorization, '?limit=250')).status).toBe(200);
  });
});

/** A team project with one workflow and one member; returns the workflow's id. */
async function addTeam(service: TestService, memberId: string): Promise<string> {
  const [{ project = '', workflow = '' } = {}] = await service.rows<{ project: string; workflow: string }>(
    'SELECT gen_random_uuid() AS project, gen_random_uuid() AS workflow',
  );
  await service.rows(`INSERT INTO project (id, type, name) VALUES ($1, 'team', 'Team')`, [project]);
  await service.rows(`INSERT INTO project_member VALUES ($1, $2, 'project:viewer')`, [project, memberId]);
  await service.rows(
    `INSERT INTO workflow (id, project_id, name, nodes, connections) VALUES ($1, $2, 'team', '[]', '{}')`,
    [workflow, project],
  );
  return workflow;
}
