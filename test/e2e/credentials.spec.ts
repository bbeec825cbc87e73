// Credentials over the API: creation, changes, lists, and that no response or log contains their data.
import { DataSource } from 'typeorm';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld, BASIC_AUTH } from '../support/api-world.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';

const SECRETS = ['correct horse', 'battery staple', 'hunter2'];

describeOnEachDatabase('credentials', (database) => {
  const service = TestService.forBlock(database, { environment: { SVC_LOG_LEVEL: 'debug' } });
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let token: string;

  beforeAll(async () => {
    token = await world.tokenOf('administrator');
  });
  const create = async (body: object = {}) => {
    const whole = { name: 'Mine', type: 'httpBasicAuth', data: BASIC_AUTH, ...body };
    return api.post('/api/v1/credentials', token, whole);
  };
  const created = async (body: object = {}): Promise<string> => (await create(body)).body.id;
  const patch = (id: string, body: object) => api.patch(`/api/v1/credentials/${id}`, token, body);

  it('are created in the personal project unless the request names another project', async () => {
    const personal = await world.personalProjectOf(world.idOf('administrator'));
    expect((await create()).body).toMatchObject({
      name: 'Mine',
      type: 'httpBasicAuth',
      project: { id: personal, type: 'personal' },
    });
    const projectId = await world.createProject();
    const named = await create({ projectId });
    expect(named.body.project).toEqual({ id: projectId, name: 'Team', type: 'team' });
    expect((await api.get(`/api/v1/credentials/${named.body.id}`, token)).body).toEqual(named.body);
    expect(await api.all('/api/v1/credentials', token)).toContainEqual(named.body);
  });

  it('[D45] are stored sealed, and cannot be unsealed in another row', async () => {
    const [one, other] = [await created(), await created()];
    const stored = await service.rows<{ id: string; sealed: Buffer }>(
      'SELECT id, sealed_data AS sealed FROM credential WHERE id IN ($1, $2)',
      [one, other],
    );
    for (const { sealed } of stored) expect(sealed.includes('horse')).toBe(false);
    expect(await world.credentialData(one)).toEqual(BASIC_AUTH);
    await service.rows(
      'UPDATE credential SET sealed_data = (SELECT sealed_data FROM credential WHERE id = $2) WHERE id = $1',
      [one, other],
    );
    await expect(world.credentialData(one)).rejects.toThrow('belongs to another place');
  });

  it('[D45] with tampered data cause a 500 that reveals nothing, and accept new data', async () => {
    const id = await created();
    await service.rows("UPDATE credential SET sealed_data = sealed_data || '\\x00' WHERE id = $1", [id]);
    const merge = { isPartialData: true, data: { user: 'eve' } };
    const answer = await service.fetch(`/api/v1/credentials/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(merge),
    });
    expect([answer.status, await answer.json()]).toEqual([
      500,
      { error: 'internal_error', message: 'Internal error', requestId: expect.any(String) },
    ]);
    expect((await patch(id, { data: BASIC_AUTH })).status).toBe(200);
    expect(await world.credentialData(id)).toEqual(BASIC_AUTH);
  });

  it.each([
    [{ data: { user: 'ben', password: 'hunter2' } }, { user: 'ben', password: 'hunter2' }],
    [
      { data: { password: 'hunter2' }, isPartialData: true },
      { user: 'ada', password: 'hunter2' },
    ],
    [{ data: {}, isPartialData: true }, BASIC_AUTH],
    [{ name: 'Renamed' }, BASIC_AUTH],
    [{ name: 'Renamed', isPartialData: false }, BASIC_AUTH],
    [{ type: 'httpBasicAuth' }, BASIC_AUTH],
    [{ type: 'httpBearerAuth', data: { token: 'battery staple' } }, { token: 'battery staple' }],
  ])('[4.5.1] after PATCH %j the data are %j', async (body, expected) => {
    const id = await created();
    const answer = await patch(id, body);
    expect(answer.status).toBe(200);
    expect(await world.credentialData(id)).toEqual(expected);
    expect(answer.body).toMatchObject({ id, ...('name' in body ? { name: body.name } : {}) });
  });

  it.each([
    [{}, 'name, type or data must be given'],
    [{ isPartialData: true }, 'data is required with isPartialData'],
    [{ data: { password: 'hunter2' } }, 'data.user is required'],
    [{ data: { password: 'hunter2' }, isPartialData: false }, 'data.user is required'],
    [{ data: { password: null }, isPartialData: true }, 'data.password is required'],
    [{ type: 'httpBearerAuth' }, 'data is required with another type'],
    [
      { type: 'httpBearerAuth', data: { token: 'hunter2' }, isPartialData: true },
      'isPartialData must not be true with another type',
    ],
  ])('[4.5.1] PATCH %j is refused and changes nothing: %s', async (body, message) => {
    const id = await created();
    const before = (await api.get(`/api/v1/credentials/${id}`, token)).body;
    const answer = await patch(id, body);
    expect([answer.status, answer.body.error, answer.body.message]).toEqual([400, 'bad_request', message]);
    expect(await world.credentialData(id)).toEqual(BASIC_AUTH);
    expect((await api.get(`/api/v1/credentials/${id}`, token)).body).toEqual(before);
  });

  it('[4.5.1] PATCH removes a property that is null if the type does not require it', async () => {
    const data = { host: 'db.example', database: 'd', user: 'u', password: 'hunter2', port: 5432 };
    const id = await created({ type: 'postgres', data });
    expect((await patch(id, { isPartialData: true, data: { port: null, ssl: 'require' } })).status).toBe(200);
    const { port, ...rest } = data;
    expect(port).toBe(5432);
    expect(await world.credentialData(id)).toEqual({ ...rest, ssl: 'require' });
  });

  it('[4.5.1] concurrent partial changes are all stored', async () => {
    const data = { host: 'db.example', database: 'd', user: 'u', password: 'hunter2' };
    const id = await created({ type: 'postgres', data });
    const changes = [
      { host: 'a' },
      { database: 'b' },
      { user: 'c' },
      { password: 'd' },
      { port: 1 },
      { ssl: 'allow' },
    ];
    const answers = await Promise.all(
      changes.map((change) => patch(id, { isPartialData: true, data: change })),
    );
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
    expect(await world.credentialData(id)).toEqual(Object.assign({}, ...changes));
  });

  it.each(['schema', 'Schema/postgres', 'constructor'])('GET with the id %s answers 404', async (id) => {
    expect((await api.get(`/api/v1/credentials/${id.replace('/', '%2F')}`, token)).status).toBe(404);
  });

  it('[D23] no response, log line or audit event contains a part of the data', async () => {
    const id = await created({ data: { user: 'ada', password: 'battery staple' } });
    const answers = [
      await api.get(`/api/v1/credentials/${id}`, token),
      await api.get('/api/v1/credentials', token),
      await patch(id, { data: { user: 'ada', password: 'hunter2', 'battery staple': 'battery staple' } }),
      await create({ type: 'postgres', data: { host: 'correct horse' } }),
      await create({ type: 'correct horse' }),
      await create({ data: 'correct horse' }),
      await api.call({ method: 'POST', path: '/api/v1/credentials', token, body: '{"data":"correct horse"' }),
    ];
    const audit = JSON.stringify(await service.rows('SELECT * FROM audit_event'));
    for (const text of [...answers.map(({ text }) => text), service.logText, audit])
      for (const secret of SECRETS) expect(text).not.toContain(secret);
  });

  it('[D23] the log of a failed statement contains no value of a request', async () => {
    const dataSource = service.part(DataSource);
    await dataSource.query('ALTER TABLE credential RENAME TO credential_elsewhere');
    await dataSource.query('ALTER TABLE user_account ADD CONSTRAINT nobody CHECK (id IS NULL) NOT VALID');
    const before = service.logText.length;
    const post = (path: string, body: object) =>
      service.fetch(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const statuses = [
      (await post('/api/v1/credentials', { name: 'n', type: 'httpBasicAuth', data: BASIC_AUTH })).status,
      (await post('/api/v1/users', { email: 'secret@b.example', givenName: 'Grace' })).status,
    ];
    await dataSource.query('ALTER TABLE user_account DROP CONSTRAINT nobody');
    await dataSource.query('ALTER TABLE credential_elsewhere RENAME TO credential');
    expect(statuses).toEqual([500, 500]);
    const written = service.logText.slice(before);
    expect(written).toContain('a request failed because of an internal error');
    expect(written).not.toMatch(/horse|secret@b|Grace/);
  });
});
