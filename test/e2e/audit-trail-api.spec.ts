// GET /api/v1/audit-events: who may read the trail, by which filters, page by page.
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { ApiClient } from '../support/api-client.js';
import { ApiWorld } from '../support/api-world.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const PATH = '/api/v1/audit-events';

interface Answered {
  id: string;
  event: string;
  requestId: string;
  clientRequestId?: string;
  subjectUserId: string | null;
  actorUserId: string | null;
  payload: Record<string, unknown>;
}

describeOnEachDatabase('[D84] the trail by the API', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const api = ApiClient.forBlock(service);
  const world = ApiWorld.forBlock(service);
  let token: string;
  let ada: string;

  beforeAll(async () => {
    token = await world.tokenOf('administrator');
    const sign = (claims: Members = {}) => partner.sign(partner.claims(claims));
    await service.embed({ token: sign({ sub: 'ada' }) }, { 'x-request-id': 'login-of-ada' });
    await service.exchange(
      { subject_token: sign({ sub: 'sue' }), actor_token: sign({ sub: 'ada' }) },
      { 'x-request-id': 'exchange-of-both' },
    );
    const replayed = sign({ sub: 'ada' });
    await service.exchange({ subject_token: replayed });
    await service.exchange({ subject_token: replayed }, { 'x-request-id': 'replay-of-ada' });
    await service.exchange({ subject_token: 'x' }, { 'x-request-id': 'nonsense-of-ada' });
    const [login] = await eventsOf(service, 'login-of-ada');
    ada = String(login?.subjectUserId);
  });
  const list = async (query: string, by = token) => {
    const { status, body } = await api.get(`${PATH}?${query}`, by);
    expect(status).toBe(200);
    return (body as { data: Answered[] }).data;
  };

  it('[D84] an event has all properties of its row, and the page reports its period', async () => {
    const [row] = await eventsOf(service, 'replay-of-ada');
    const { body } = await api.get(`${PATH}?requestId=replay-of-ada`, token);
    expect(body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^\d+$/),
          event: row?.name,
          occurredAt: expect.stringMatching(/^\d{4}-.*Z$/),
          requestId: 'replay-of-ada',
          subjectUserId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          actorUserId: null,
          payload: row?.payload,
        },
      ],
      nextCursor: null,
      since: null,
      until: null,
      lookedBackTo: null,
    });
    const { body: usual } = await api.get(PATH, token);
    const ago = Date.now() - Date.parse(usual.since);
    expect([Math.round(ago / 60_000), usual.until]).toEqual([24 * 60, null]);
  });

  it.each([
    ['event=token-exchange.failed', ['replay-of-ada', 'nonsense-of-ada']],
    ['reason=token_malformed', ['nonsense-of-ada']],
    ['issuer=https://partner.example/&event=token-exchange.*', []],
    [`since=${new Date(Date.now() - 3_600_000).toISOString()}&reason=token_replayed`, ['replay-of-ada']],
  ])('[D84] filter: %s', async (query, requests) => {
    const found = await list(query);
    expect(new Set(found.map(({ requestId }) => requestId))).toEqual(new Set(requests));
  });

  it('[D21] a request id finds requests of the service, and requests to which an untrusted client gave it', async () => {
    const name = (column: string | null) =>
      service.rows(`UPDATE audit_event SET client_request_id = $1 WHERE request_id = 'replay-of-ada'`, [
        column,
      ]);
    await name('login-of-ada');
    const found = await list('requestId=login-of-ada&event=token-exchange.*');
    expect(new Map(found.map(({ requestId, clientRequestId }) => [requestId, clientRequestId]))).toEqual(
      new Map([
        ['replay-of-ada', 'login-of-ada'],
        ['login-of-ada', undefined],
      ]),
    );
    await name(null);
  });

  it('[D84] filters by a user who is subject or actor, or by the subject alone', async () => {
    const either = await list(`userId=${ada}`);
    const subject = await list(`subjectUserId=${ada.toUpperCase()}`);
    expect(new Set(either.map(({ requestId }) => requestId))).toContain('exchange-of-both');
    expect(subject.map(({ requestId }) => requestId)).not.toContain('exchange-of-both');
    expect(subject.length).toBeGreaterThan(0);
    for (const { subjectUserId, actorUserId } of either) expect([subjectUserId, actorUserId]).toContain(ada);
    for (const { subjectUserId } of subject) expect(subjectUserId).toBe(ada);
  });

  it.each([
    ['event=svc.audit.nothing', 'event must be the name of an event, or the beginning of one and *'],
    ['reason=token_replay', 'reason must be the reason of a refusal; did you mean token_replayed?'],
    [`requestId=${'x'.repeat(2_049)}`, 'requestId must be a string of 1 to 2048 characters'],
    ['since=yesterday', 'since must be a date or a time with its zone, such as 2031-05-01T12:00:00Z'],
    ['since=2031-05-02&until=2031-05-01', 'since must be before until'],
    ['since=2001-05-02', 'since must be at most 31 days before until, which is now unless given'],
    [
      'user=ada',
      expect.stringContaining('The query has an unknown parameter; known are limit, cursor, event'),
    ],
  ])('[D84] refused: %s', async (query, message) => {
    const { status, body } = await api.get(`${PATH}?${query}`, token);
    expect([status, body]).toEqual([400, { error: 'bad_request', message, requestId: expect.any(String) }]);
  });

  it('[D84] each reading is in the trail, even by a session, whose other calls are not', async () => {
    const [cookie, bearer] = [await world.sessionOf('owner'), await world.tokenOf('owner')];
    const read = (requestId: string, path: string, headers: Record<string, string>) =>
      api.call({ method: 'GET', path, headers: { 'x-request-id': requestId, ...headers } });
    await read('trail-by-session', PATH, { cookie });
    await read('trail-by-token', PATH, { authorization: `Bearer ${bearer}` });
    await read('users-by-session', '/api/v1/users', { cookie });
    const [bySession] = await eventsOf(service, 'trail-by-session');
    const call = { method: 'GET', route: PATH, targets: {} };
    expect(bySession).toMatchObject({ name: 'svc.audit.api.called', subjectUserId: world.idOf('owner') });
    expect(bySession?.payload).toEqual({ ...call, sessionFamilyId: expect.any(String) });
    const [byToken] = await eventsOf(service, 'trail-by-token');
    expect(byToken?.payload).toEqual({ ...call, accessTokenId: expect.any(String) });
    expect(await eventsOf(service, 'users-by-session')).toEqual([]);
  });

  it('[D84] a page of another site can neither read it with a session nor have it recorded that it was read', async () => {
    const cookie = await world.sessionOf('owner');
    for (const [site, status] of [
      ['cross-site', 403],
      ['same-site', 403],
      ['same-origin', 200],
      ['none', 200],
    ] as const) {
      const headers = { cookie, 'sec-fetch-site': site, 'x-request-id': `read-${site}` };
      expect([site, (await service.fetch(PATH, { headers })).status]).toEqual([site, status]);
      expect(await eventsOf(service, `read-${site}`)).toHaveLength(status === 200 ? 1 : 0);
    }
  });
});
