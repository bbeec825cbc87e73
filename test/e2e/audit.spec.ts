// The audit trail: which events, with whom, in which order, and never of what did not happen.
import { decodeJwt } from 'jose';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { auditLines, EVENT, eventsOf, onEveryEvent } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { createUser } from '../support/local-users.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const ORIGIN = { issuer: partner.issuer, kid: partner.kid };
const UUID = /^[0-9a-f-]{36}$/;

describeOnEachDatabase('[6.1] the audit trail', (database) => {
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  let requests = 0;

  const token = (claims: Members = {}) => partner.sign(partner.claims(claims));
  const idOf = async (email: string) =>
    (await service.rows<{ id: string }>('SELECT id FROM user_account WHERE email = $1', [email]))[0]?.id;
  /** A request under an id of its own: its rows, and the answer. */
  const traced = async (request: (headers: Record<string, string>) => Promise<Response>) => {
    const requestId = `audit-request-${++requests}`;
    const answer = await request({ 'x-request-id': requestId });
    return { requestId, answer, rows: await eventsOf(service, requestId) };
  };
  const exchange = (fields: Record<string, string>) => traced((headers) => service.exchange(fields, headers));
  const embed = (claims: Members) => traced((headers) => service.embed({ token: token(claims) }, headers));
  const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name.replace(EVENT, ''));

  it('[6.1] an exchange: one event with origin, token id, life, scope and resource', async () => {
    await embed({ sub: 'ada' });
    const { answer, rows } = await exchange({
      subject_token: token({ sub: 'ada' }),
      scope: 'read "x"',
      resource: 'https://a.example https://b.example',
    });
    const { expires_in: lifetimeSeconds, access_token: issued } = (await answer.json()) as {
      expires_in: number;
      access_token: string;
    };
    const { jti } = decodeJwt(issued);
    expect(rows).toEqual([
      {
        name: `${EVENT}succeeded`,
        requestId: expect.any(String),
        subjectUserId: await idOf('ada@partner.example'),
        actorUserId: null,
        payload: {
          ...ORIGIN,
          clientAddress: '127.0.0.1',
          accessTokenId: jti,
          lifetimeSeconds,
          scope: 'read "x"',
          resource: ['https://a.example', 'https://b.example'],
        },
      },
    ]);
  });

  it('[4.2.3] with an actor every event of the exchange holds both', async () => {
    const { rows } = await exchange({
      subject_token: token({ sub: 'sue' }),
      actor_token: token({ sub: 'act' }),
    });
    const [subject, actor] = [await idOf('sue@partner.example'), await idOf('act@partner.example')];
    expect(namesOf(rows)).toEqual(['user-provisioned', 'user-provisioned', 'succeeded']);
    expect(rows.map(({ payload }) => payload['userId'])).toEqual([subject, actor, undefined]);
    for (const row of rows) {
      expect(row).toMatchObject({ subjectUserId: subject, actorUserId: actor });
    }
  });

  it('[6.3][6.5] a first login: the user is provisioned, then logged in', async () => {
    const { rows } = await embed({ sub: 'eve', role: 'global:admin' });
    const userId = await idOf('eve@partner.example');
    expect(namesOf(rows)).toEqual(['user-provisioned', 'embed-login']);
    expect(rows[0]?.payload).toEqual({ issuer: partner.issuer, userId, role: 'global:admin' });
    expect(rows[1]).toMatchObject({ subjectUserId: userId, actorUserId: null, payload: ORIGIN });
    expect(namesOf((await embed({ sub: 'eve' })).rows)).toEqual(['embed-login']);
  });

  it('[6.6][6.7] an existing user is linked, its role updated, and then logged in; not again the next time', async () => {
    const id = await createUser(service, { email: 'Old.Hand@partner.example' });
    const claims = { sub: 'old', email: 'old.hand@PARTNER.example', role: 'global:admin' };
    const { rows } = await embed(claims);
    expect(namesOf(rows)).toEqual(['identity-linked', 'role-updated', 'profile-updated', 'embed-login']);
    expect(rows.map(({ payload }) => payload)).toEqual([
      { issuer: partner.issuer, userId: id },
      { issuer: partner.issuer, userId: id, from: 'global:member', to: 'global:admin' },
      { issuer: partner.issuer, userId: id, fields: ['givenName', 'familyName'] },
      { ...ORIGIN, clientAddress: '127.0.0.1', sessionFamilyId: expect.stringMatching(UUID) },
    ]);
    expect(namesOf((await embed(claims)).rows)).toEqual(['embed-login']);
  });

  it('[D21] each event is one line of the log, with the request id and all that the row has', async () => {
    const rows = await eventsOf(service);
    const lines = auditLines(service);
    expect(rows.length).toBeGreaterThan(10);
    const inLog = lines.map(({ event, requestId, subjectUserId = null, actorUserId = null, payload }) => ({
      ...{ name: event, requestId, subjectUserId, actorUserId, payload },
    }));
    expect(inLog).toEqual(rows);
  });

  it('a listener gets an event once it is committed, and its fault does no harm', async () => {
    const seen: Promise<number>[] = [];
    onEveryEvent(service, ({ name, requestId }) => {
      seen.push(
        eventsOf(service, requestId).then((all) => all.filter((event) => event.name === name).length),
      );
      throw new Error('a listener of the product has a fault');
    });
    for (let times = 0; times < 2; times += 1)
      expect((await embed({ sub: 'heard' })).answer.status).toBe(303);
    expect((await exchange({ subject_token: token({ sub: 'heard' }) })).answer.status).toBe(200);
    expect((await exchange({ subject_token: 'x' })).answer.status).toBe(400);
    expect(await Promise.all(seen)).toEqual([1, 1, 1, 1, 1]);
  });
});
