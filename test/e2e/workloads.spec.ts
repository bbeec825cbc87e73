// Jobs and services whose entry names the user: whom they act as, which get in, and what stops them later.
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { StoredEntryService } from '../../src/token-exchange/trust/stored/stored-entry.service.js';
import { ADMIN_ROLE, MEMBER_ROLE, OWNER_ROLE } from '../../src/users/role.js';
import { jsonOf } from '../support/answers.js';
import { eventsOf, requestIdOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { explain } from '../support/explanations.js';
import { changeUser, createUser, deleteUser, linkUser } from '../support/local-users.js';
import type { Platform } from '../support/platforms.js';
import { github, GITHUB_SUB, gitlab, kubernetes } from '../support/platforms.js';
import { TestService } from '../support/test-service.js';

const SUCCEEDED = 'svc.audit.token-exchange.succeeded';

describeOnAnyDatabase('jobs and services', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [] });
  const entries = () => service.part(StoredEntryService);

  /** Each test uses its own platform, because an issuer's entry covers all its keys. */
  async function trusted(platform: Platform, policy: Members): Promise<string> {
    const name = `job-${randomUUID()}`;
    await entries().add(platform.entry({ name, ...policy }));
    return name;
  }

  async function failed(answer: Response): Promise<Record<string, unknown>> {
    expect(answer.status).toBe(400);
    const [row, ...others] = await eventsOf(service, answer);
    expect(others).toEqual([]);
    return row?.payload ?? {};
  }

  const deployer = () => createUser(service, { email: `${randomUUID()}@acme.example` });
  const exchange = (token: string) => service.exchange({ subject_token: token });

  it.each<[string, () => Platform, Members]>([
    ['GitHub', github, { subjects: [GITHUB_SUB], claims: { repository_id: '456789' } }],
    [
      'GitLab',
      gitlab,
      {
        subjects: ['project_path:acme/group/flows:ref_type:branch:ref:*'],
        claims: { project_id: '20', ref_protected: 'true', runner_id: 1 },
      },
    ],
    ['Kubernetes', kubernetes, { subjects: ['system:serviceaccount:ci:deployer'] }],
  ])(
    '[P.signInAs][D145] a job of %s puts a workflow into the instance as the user of its entry',
    async (_, make, policy) => {
      const platform = make();
      const userId = await deployer();
      await trusted(platform, { ...policy, signInAs: userId });
      const before = await census(service);
      const answer = await exchange(platform.token());
      const { access_token: token, scope } = await jsonOf(answer);
      expect([answer.status, scope]).toEqual([200, 'workflow:write']);
      const { iss, sub } = decodeJwt(platform.token());
      const workloads = [{ iss, sub }];
      expect(decodeJwt(String(token))).toMatchObject({ sub: userId, client_id: iss, workloads });
      const headers = { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ name: 'deployed' });
      const made = await service.fetch('/api/v1/workflows', { method: 'POST', headers, body });
      expect(made.status).toBe(201);
      const rows = await eventsOf(service, answer);
      expect(rows).toMatchObject([
        { name: SUCCEEDED, subjectUserId: userId, payload: { issuer: iss, workloads } },
      ]);
      expect(
        service.log.find(({ requestId, msg }) => requestId === requestIdOf(answer) && msg === 'audit'),
      ).toMatchObject({
        payload: { workloads },
      });
      // Nobody is linked or created.
      expect(await census(service)).toMatchObject({ users: before.users, links: before.links });
    },
  );

  it('[P.signInAs] role, projects and names of a token have no effect, nor has an earlier link', async () => {
    const platform = github();
    const userId = await deployer();
    const name = await trusted(platform, { subjects: [GITHUB_SUB], signInAs: userId });
    const claims = {
      ...{
        role: ADMIN_ROLE,
        projects: ['crown:project:admin'],
        given_name: 'Mallory',
        family_name: 'Mallory',
      },
      ...{ email: 'owner@acme.example', email_verified: true },
    };
    const answer = await exchange(platform.token(claims));
    expect(decodeJwt(String((await jsonOf(answer))['access_token'])).sub).toBe(userId);
    expect((await eventsOf(service, answer)).map((row) => row.name)).toEqual([SUCCEEDED]);
    const [user] = await service.rows(`SELECT role, given_name FROM user_account WHERE id = '${userId}'`);
    expect(user).toMatchObject({ role: MEMBER_ROLE });
    expect(user?.['given_name']).not.toBe('Mallory');
    const other = await deployer();
    await linkUser(service, platform.issuer.issuer, GITHUB_SUB, other);
    const again = await exchange(platform.token());
    expect(decodeJwt(String((await jsonOf(again))['access_token'])).sub).toBe(userId);
    await entries().remove(name);
  });

  describe('a token that is not of the job', () => {
    const platform = gitlab();
    beforeAll(async () => {
      const subjects = ['project_path:acme/group/flows:ref_type:branch:ref:release-*'];
      const claims = { project_id: '20', runner_id: 1 };
      await trusted(platform, { subjects, claims, signInAs: await deployer() });
    });
    const sub = 'project_path:acme/group/flows:ref_type:branch:ref:release-1';

    it.each<[string, Members, string, string, string]>([
      [
        'another project',
        { sub: sub.replace('flows', 'other') },
        'subject_not_allowed',
        'release-*',
        'group/other',
      ],
      ['another project of that name', { project_id: '21' }, 'claim_not_allowed', 'project_id 20', '21'],
    ])(
      '[P.subjects][P.claims] is refused with %s, and the member is named',
      async (_, change, reason, expected, found) => {
        const before = await census(service);
        const token = platform.token({ sub, ...change });
        const payload = await failed(await exchange(token));
        expect(payload).toMatchObject({
          reason,
          expected: expect.stringContaining(expected),
          found: expect.stringContaining(found),
          workloads: [{ iss: platform.issuer.issuer, sub: change['sub'] ?? sub }],
        });
        expect(await census(service)).toMatchObject({ usedJtis: before.usedJtis });
        const explained = await explain(service, { flow: 'exchange', token });
        const about = reason === 'subject_not_allowed' ? 'subjects' : 'claims';
        expect(explained.checks.filter(({ state }) => state === 'failed')).toMatchObject([
          { about, expected: payload['expected'], found: payload['found'] },
        ]);
      },
    );
  });

  describe('the user of an entry', () => {
    it.each<[string, (userId: string) => Promise<unknown>, string]>([
      ['was disabled', (id) => changeUser(service, id, { enabled: false }), 'user_disabled'],
      ['was deleted', (id) => deleteUser(service, id), 'named_user_unknown'],
      ['became the owner', (id) => changeUser(service, id, { role: OWNER_ROLE }), 'owner_excluded'],
    ])('[P.signInAs][D144] who %s is refused', async (_, change, reason) => {
      const platform = github();
      const userId = await deployer();
      const name = await trusted(platform, { subjects: [GITHUB_SUB], signInAs: userId });
      expect((await exchange(platform.token())).status).toBe(200);
      await change(userId);
      const token = platform.token();
      expect((await explain(service, { flow: 'exchange', token })).refusal).toMatchObject({ reason });
      expect(await failed(await exchange(token))).toMatchObject({ reason, userId });
      await changeUser(service, userId, { role: MEMBER_ROLE });
      await entries().remove(name);
    });
  });

  it('[P.signInAs] acts for others as an actor, and the trail names it', async () => {
    const [person, job] = [github(), gitlab()];
    const [subjectId, actorId] = [await deployer(), await deployer()];
    await trusted(person, { subjects: [GITHUB_SUB], signInAs: subjectId });
    await trusted(job, {
      subjects: ['project_path:acme/group/flows:*:*:*:*'],
      signInAs: actorId,
      actFor: [person.issuer.issuer],
    });
    const answer = await service.exchange({ subject_token: person.token(), actor_token: job.token() });
    const claims = decodeJwt(String((await jsonOf(answer))['access_token']));
    expect(claims).toMatchObject({ sub: subjectId, act: { sub: actorId } });
    const subs = (claims['workloads'] as { sub: string }[]).map((one) => one.sub);
    expect(subs).toEqual([GITHUB_SUB, 'project_path:acme/group/flows:ref_type:branch:ref:main']);
  });
});
