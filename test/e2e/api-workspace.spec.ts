// Users, projects, members and workflows over the API: the effects and refusals of each call.
import { randomUUID } from 'node:crypto';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

describeOnEachDatabase('the public API', (database) => {
  const service = TestService.forBlock(database);
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let admin: string;

  beforeAll(async () => {
    admin = await world.tokenOf('administrator');
  });
  describe('users', () => {
    it('[D47] have a personal project as soon as they are created', async () => {
      const email = world.freshEmail();
      const made = await api.post('/api/v1/users', admin, {
        email,
        givenName: 'Grace',
        familyName: 'Hopper',
      });
      expect([made.status, made.body]).toMatchObject([
        201,
        { email, givenName: 'Grace', familyName: 'Hopper', role: 'global:member', enabled: true },
      ]);
      const own = await api.all('/api/v1/projects', await world.token(made.body.id));
      expect(own).toMatchObject([{ type: 'personal' }]);
      expect((await api.get(`/api/v1/users/${made.body.id.toUpperCase()}`, admin)).body).toEqual(made.body);
    });

    it('[D4] only one of two concurrent requests with the same e-mail address creates a user', async () => {
      const email = world.freshEmail();
      const make = (text: string) => api.post('/api/v1/users', admin, { email: text });
      const answers = await Promise.all([make(email), make(email.toUpperCase()), make(email)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.error).toBe('email_taken');
    });

    it.each([{ role: 'global:owner' }, { role: 'global:king' }, { role: null }, { enabled: 'no' }, {}])(
      '[D47] the change %j is refused',
      async (change) => {
        const id = await world.createUser();
        const answer = await api.patch(`/api/v1/users/${id}`, admin, change);
        expect([answer.status, answer.body.error]).toEqual([400, 'bad_request']);
        expect((await api.get(`/api/v1/users/${id}`, admin)).body).toMatchObject({
          role: 'global:member',
          enabled: true,
        });
      },
    );

    it("[D47] nobody can change the owner's role or state, nor their own", async () => {
      const owner = world.idOf('owner');
      for (const change of [{ role: 'global:member' }, { enabled: false }]) {
        for (const token of [admin, await world.tokenOf('owner')])
          expect((await api.patch(`/api/v1/users/${owner}`, token, change)).body.error).toBe(
            'owner_protected',
          );
        expect(
          (await api.patch(`/api/v1/users/${world.idOf('administrator')}`, admin, change)).body.error,
        ).toBe('own_account');
      }
      expect((await api.get(`/api/v1/users/${owner}`, admin)).body).toMatchObject({
        role: 'global:owner',
        enabled: true,
      });
    });

    it('all users see their own account, and members no other', async () => {
      const [own, other] = [world.idOf('stranger'), world.idOf('viewer')];
      const token = await world.tokenOf('stranger');
      expect((await api.get(`/api/v1/users/${own}`, token)).body.id).toBe(own);
      expect((await api.get(`/api/v1/users/${other}`, token)).status).toBe(404);
    });
  });

  describe('projects', () => {
    it('are created with the acting user as administrator, renamed, and deleted with their contents', async () => {
      const made = await api.post('/api/v1/projects', admin, { name: 'Sales' });
      const path = `/api/v1/projects/${made.body.id}`;
      expect([made.status, made.body]).toMatchObject([201, { type: 'team', name: 'Sales' }]);
      expect((await api.all(`${path}/users`, admin)).map(({ id, role }) => [id, role])).toEqual([
        [world.idOf('administrator'), 'project:admin'],
      ]);
      const renamed = await api.patch(path, admin, { name: 'Marketing' });
      expect(renamed.body).toMatchObject({ id: made.body.id, name: 'Marketing' });
      const workflow = `/api/v1/workflows/${await world.createWorkflow(made.body.id)}`;
      const credential = `/api/v1/credentials/${await world.createCredential(made.body.id)}`;
      expect((await api.delete(path, admin)).status).toBe(204);
      for (const gone of [path, workflow, credential]) {
        expect([gone, (await api.get(gone, admin)).status]).toEqual([gone, 404]);
      }
      expect((await api.delete(path, admin)).status).toBe(404);
    });

    it('[D47] a personal project cannot be renamed, deleted or shared', async () => {
      const owner = world.idOf('viewer');
      const path = `/api/v1/projects/${await world.personalProjectOf(owner)}`;
      const answers = [
        await api.patch(path, admin, { name: 'Ours' }),
        await api.delete(path, admin),
        await api.post(`${path}/users`, admin, { userId: world.idOf('stranger'), role: 'project:viewer' }),
        await api.patch(`${path}/users/${owner}`, admin, { role: 'project:viewer' }),
        await api.delete(`${path}/users/${owner}`, admin),
      ];
      expect(answers.map(({ body }) => body.error)).toEqual(answers.map(() => 'personal_project'));
      expect(await api.all(`${path}/users`, admin)).toMatchObject([{ id: owner, role: 'project:admin' }]);
    });
  });

  describe('members of projects', () => {
    it('[4.5.2] are listed in pages with their roles', async () => {
      const path = `/api/v1/projects/${await world.createProject()}/users`;
      const members = await api.all(path, await world.tokenOf('viewer'), 1);
      expect(new Map(members.map(({ id, role }) => [id, role]))).toEqual(
        new Map([
          [world.idOf('project administrator'), 'project:admin'],
          [world.idOf('editor'), 'project:editor'],
          [world.idOf('viewer'), 'project:viewer'],
        ]),
      );
      expect(members[0]).toMatchObject({
        givenName: 'Ada',
        familyName: 'Lovelace',
        email: expect.any(String),
      });
      expect((await api.get(path, await world.tokenOf('stranger'))).status).toBe(404);
    });

    it('[4.5.2] are added, changed and removed by the project administrator', async () => {
      const path = `/api/v1/projects/${await world.createProject()}/users`;
      const token = await world.tokenOf('project administrator');
      const userId = await world.createUser();
      const added = await api.post(path, token, { userId, role: 'project:viewer' });
      expect([added.status, added.body]).toMatchObject([201, { id: userId, role: 'project:viewer' }]);
      expect((await api.post(path, token, { userId, role: 'project:admin' })).body.error).toBe(
        'already_member',
      );
      const changed = await api.patch(`${path}/${userId}`, token, { role: 'project:editor' });
      expect(changed.body).toEqual({ ...added.body, role: 'project:editor' });
      expect((await api.delete(`${path}/${userId}`, token)).status).toBe(204);
      expect((await api.delete(`${path}/${userId}`, token)).status).toBe(404);
      expect((await api.patch(`${path}/${userId}`, token, { role: 'project:admin' })).status).toBe(404);
    });

    it('[D134] cannot change their own role, and administrators may leave', async () => {
      const path = `/api/v1/projects/${await world.createProject()}/users`;
      const [own, member] = [world.idOf('project administrator'), await world.createUser()];
      const token = await world.tokenOf('project administrator');
      const both = await world.token(world.idOf('project administrator'), world.idOf('administrator'), {
        rights: 'both',
      });
      await service.rows(`UPDATE project_member SET issuer = 'https://partner.example' WHERE user_id = $1`, [
        own,
      ]);
      for (const by of [token, both])
        expect(await api.patch(`${path}/${own}`, by, { role: 'project:admin' })).toMatchObject({
          status: 409,
          body: { error: 'own_account', message: 'You cannot give yourself a role in a project' },
        });
      const ofAdmin = { userId: world.idOf('administrator'), role: 'project:viewer' };
      expect((await api.post(path, admin, ofAdmin)).body.error).toBe('own_account');
      expect((await api.post(path, token, { userId: member, role: 'project:admin' })).status).toBe(201);
      expect((await api.delete(`${path}/${own}`, token)).status).toBe(204);
    });

    it('must be existing users', async () => {
      const path = `/api/v1/projects/${await world.createProject()}/users`;
      const answer = await api.post(path, admin, { userId: randomUUID(), role: 'project:viewer' });
      expect([answer.status, answer.body.message]).toEqual([400, 'userId must be the id of a user']);
    });
  });

  describe('workflows', () => {
    const nodes = [{ z: 'sché\u2028ma', a: [1, { deep: null }], 'with "quotes"': 0.1 }];
    const connections = { x: { main: [[{ node: 'y', index: 0 }]] } };

    it('[4.3] are stored exactly as sent, and change as requested', async () => {
      const made = await api.post('/api/v1/workflows', admin, { name: 'Flow', nodes, connections });
      const path = `/api/v1/workflows/${made.body.id}`;
      expect([made.status, made.body]).toMatchObject([
        201,
        { name: 'Flow', active: false, nodes, connections },
      ]);
      expect(made.text).toContain(JSON.stringify({ nodes, connections }).slice(1, -1));
      expect((await api.get(path, admin)).text).toBe(made.text);
      const renamed = await api.patch(path, admin, { name: 'Other' });
      expect(renamed.body).toMatchObject({ name: 'Other', nodes, connections });
      expect((await api.patch(path, admin, { nodes: [] })).body).toMatchObject({ nodes: [], connections });
      expect((await api.post(`${path}/activate`, admin)).body.active).toBe(true);
      expect((await api.post(`${path}/activate`, admin)).body.active).toBe(true);
      expect((await api.post(`${path}/deactivate`, admin)).body.active).toBe(false);
      expect((await api.delete(path, admin)).status).toBe(204);
      expect((await api.get(path, admin)).status).toBe(404);
    });

    it('[B.list][K34] are listed without their nodes and connections', async () => {
      const made = await api.post('/api/v1/workflows', admin, { name: 'Listed', nodes, connections });
      const listed = (await api.all('/api/v1/workflows', admin)).find(({ id }) => id === made.body.id);
      expect(listed).not.toHaveProperty('nodes');
      expect(listed).not.toHaveProperty('connections');
      expect({ ...listed, nodes, connections }).toEqual(made.body);
    });

    it.each([
      [{ name: 'a', nodes: [1] }, 'each value in nodes must be an object'],
      [{ name: 'a', connections: [] }, 'connections must be an object'],
      [{ name: 'x'.repeat(129) }, 'name must be a string of 1 to 128 characters'],
    ])('are refused with the body %j: %s', async (body, message) => {
      const answer = await api.post('/api/v1/workflows', admin, body);
      expect([answer.status, answer.body.message]).toEqual([400, message]);
    });
  });

  describe('the audit trail', () => {
    it('[4.2.3] records subject, actor, method, route and ids of each call with an exchanged token', async () => {
      const projectId = await world.createProject();
      const [subject, actor] = [world.idOf('viewer'), world.idOf('administrator')];
      const token = await world.token(subject, actor);
      const answer = await service.fetch(`/api/v1/projects/${projectId}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      });
      expect(answer.status).toBe(204);
      expect(await eventsOf(service, answer)).toEqual([
        {
          name: 'svc.audit.api.called',
          requestId: answer.headers.get('x-request-id'),
          subjectUserId: subject,
          actorUserId: actor,
          payload: {
            method: 'DELETE',
            route: '/api/v1/projects/:projectId',
            targets: { projectId },
            accessTokenId: expect.any(String),
          },
        },
      ]);
    });

    it.each([
      ['refused by the role', 'GET', '/api/v1/users', 403],
      ['to an unknown project', 'GET', '/api/v1/projects/secret', 404],
      ['with a bad body', 'POST', '/api/v1/workflows', 415],
    ])('[4.2.3] records calls %s too, without their content', async (_, method, path, status) => {
      const headers = { authorization: `Bearer ${await world.tokenOf('stranger')}` };
      const answer = await service.fetch(path, {
        method,
        headers,
        ...(method === 'POST' ? { body: 'secret' } : {}),
      });
      const events = await eventsOf(service, answer);
      expect([answer.status, events.length]).toEqual([status, 1]);
      expect(events[0]).toMatchObject({ subjectUserId: world.idOf('stranger'), payload: { targets: {} } });
      expect(JSON.stringify(events)).not.toContain('secret');
    });
  });
});
