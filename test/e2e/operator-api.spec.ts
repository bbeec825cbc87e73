// The operator's API: its views, its changes by the operations that commands use, and its events in the trail.
import { Partner } from '../../demo/partner.js';
import { SIGNING_ALGORITHMS } from '../../demo/signing-key.js';
import { eventsOf, requestIdOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { changeUser, createUser, linkedUser } from '../support/local-users.js';
import { cookieOf, meStatus } from '../support/logins.js';
import type { OperatorBrowser } from '../support/operators.js';
import { createOperator, errorOf, OPERATOR_ENVIRONMENT, signedIn } from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';

type Json = Record<string, unknown>;

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });

/** The body of an answer that must have a status. */
async function read<T = Json>(pending: Promise<Response>, expected = 200): Promise<T> {
  const answer = await pending;
  const text = await answer.text();
  if (answer.status !== expected) throw new Error(`answered ${answer.status}: ${text}`);
  return JSON.parse(text) as T;
}

interface List<T = Json> {
  data: T[];
  nextCursor: string | null;
}

interface Found {
  reason: string;
  subjectUserId: string | null;
}

type Claims = Record<string, unknown>;

/** A mistake that the verification finds, and one that is found later, each with its changed claims. */
const MISTAKES: readonly (readonly [reason: string, claims: Claims])[] = [
  ['claims_invalid', { jti: undefined }],
  ['role_not_allowed', { role: 'global:admin' }],
];

describeOnEachDatabase("the operator's API", (database) => {
  const service = TestService.forBlock(database, {
    environment: OPERATOR_ENVIRONMENT,
    trustedKeys: [partner.staticEntry({ allowedRoles: ['global:member'] })],
  });
  let browser: OperatorBrowser;
  let ada: string;

  beforeAll(async () => {
    ada = await createOperator(service, 'ada@example.com', 'global:owner');
    browser = await signedIn(service, 'ada@example.com');
  });
  const performed = async () =>
    (await eventsOf(service)).filter(
      ({ name, payload }) => name.startsWith('svc.audit.administration.') && payload['way'] === 'operator',
    );

  it('[D109] adds, shows, changes, suspends, resumes and removes a stored entry, and records each with operator and address', async () => {
    const entry = { ...other.staticEntry(), name: 'other' };
    const added = await read(browser.send('POST', 'entries', { entry }), 201);
    expect(added).toMatchObject({ name: 'other', changed: true });
    expect(await errorOf(await browser.send('POST', 'entries', { entry }))).toEqual([409, 'refused']);
    const { data } = await read<List>(browser.get('entries'));
    expect(data.map(({ from, name, state, keySet }) => [from, name, state, keySet])).toEqual([
      ['configuration', null, 'trusted', null],
      ['command', 'other', 'trusted', null],
    ]);
    expect(await read(browser.get('entries/other'))).toMatchObject({
      issuer: other.issuer,
      definition: { name: 'other', issuer: other.issuer },
      revoked: [],
    });
    const changed = { ...entry, provisionUsers: false };
    expect(await errorOf(await browser.send('PUT', 'entries/other', changed))).toEqual([400, 'bad_request']);
    const { revision } = await read<{ revision: string }>(browser.get('entries/other'));
    const put = () => browser.send('PUT', 'entries/other', changed, { 'if-match': `"${revision}"` });
    expect(await read(put())).toMatchObject({ changed: true });
    expect(await errorOf(await put())).toEqual([409, 'refused']);
    expect(await read(browser.send('POST', 'entries/other/suspend'))).toMatchObject({ changed: true });
    expect(await read(browser.get('entries/other'))).toMatchObject({ state: 'suspended' });
    expect(await read(browser.send('POST', 'entries/other/resume'))).toMatchObject({ changed: true });
    expect(await read(browser.send('DELETE', 'entries/other'))).toMatchObject({ changed: true });
    expect(await errorOf(await browser.get('entries/other'))).toEqual([404, 'not_found']);
    expect(await errorOf(await browser.send('DELETE', 'entries/other'))).toEqual([409, 'refused']);
    const changes = (await performed()).filter(
      ({ payload }) => !/list|status|show|revocations/.test(String(payload.operation)),
    );
    expect(changes.map(({ payload }) => payload.operation)).toEqual([
      ...['keys add', 'keys add', 'keys policy', 'keys policy', 'keys suspend', 'keys resume'],
      ...['keys remove', 'keys remove'],
    ]);
    for (const { subjectUserId, payload } of changes)
      expect([subjectUserId, payload['clientAddress']]).toEqual([ada, '192.0.2.1']);
    const change = (await eventsOf(service)).find(({ name }) => name.endsWith('stored-entry-changed'));
    expect(change?.actorUserId).toBe(ada);
  });

  it('finds users by the beginning of an e-mail address or by id, page by page, with no address in an address', async () => {
    const ids: string[] = [];
    for (const name of ['péa', 'peb', 'PEC', 'xe'])
      ids.push(await createUser(service, { email: `${name}@search.example` }));
    const search = (body: object) => read<List>(browser.send('POST', 'users/search', body));
    const first = await search({ search: 'PE', limit: 1 });
    expect([first.data.map(({ email }) => email), first.nextCursor]).toEqual([
      ['peb@search.example'],
      ids[1],
    ]);
    const second = await search({ search: 'PE', limit: 1, cursor: first.nextCursor });
    expect([second.data.map(({ email }) => email), second.nextCursor]).toEqual([
      ['PEC@search.example'],
      null,
    ]);
    expect((await search({ search: ids[3]?.toUpperCase() })).data).toMatchObject([
      { email: 'xe@search.example' },
    ]);
    expect((await search({ search: 'PÉA@search.example' })).data).toMatchObject([{ id: ids[0] }]);
    expect((await search({ search: '%' })).data).toEqual([]);
    const seen: unknown[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: List = await search({ limit: 2, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    const stored = await service.rows<{ id: string }>('SELECT id::text AS id FROM user_account');
    expect(new Set(seen)).toEqual(new Set(stored.map(({ id }) => id)));
    expect(seen).toHaveLength(stored.length);
  });

  it('shows a user with links and sessions, and signs out, disables and enables', async () => {
    const token = () => partner.sign(partner.claims({ sub: 'lee', email: 'lee@partner.example' }));
    const cookie = cookieOf(await service.embed({ token: token() }));
    const { id = '' } = (await linkedUser(service, partner.issuer, 'lee')) ?? {};
    expect(await read(browser.get(`users/${id}`))).toMatchObject({
      links: [{ issuer: partner.issuer }],
      ...{ sessions: 1, operatorSessions: 0, hasPassword: false, provisioned: true },
    });
    expect(await read(browser.get(`users/${ada}`))).toMatchObject({ hasPassword: true, provisioned: false });
    expect(await read(browser.send('POST', `users/${id}/sign-out`))).toMatchObject({ id, sessions: 1 });
    expect(await meStatus(service, cookie)).toBe(401);
    expect(await read(browser.send('POST', `users/${id}/disable`))).toEqual({ id });
    expect((await service.embed({ token: token() })).status).toBe(401);
    expect(await read(browser.send('POST', `users/${id}/enable`))).toEqual({ id });
    expect((await service.embed({ token: token() })).status).toBe(303);
    expect(await errorOf(await browser.send('POST', `users/${ada}/disable`))).toEqual([409, 'refused']);
    const nobody = '00000000-0000-4000-8000-000000000000';
    expect(await errorOf(await browser.send('POST', `users/${nobody}/disable`))).toEqual([404, 'not_found']);
  });

  it('lists embedded sessions and ends one, and those of operators', async () => {
    const cookies: string[] = [];
    for (const sub of ['mia', 'mia', 'noa'])
      cookies.push(cookieOf(await service.embed({ token: partner.sign(partner.claims({ sub })) })));
    const { id = '' } = (await linkedUser(service, partner.issuer, 'mia')) ?? {};
    const sessions = (body: object) => browser.send('POST', 'sessions/search', body);
    const first = await read<List<{ id: string }>>(sessions({ user: id, limit: 1 }));
    expect(first.data).toMatchObject([{ user: { id }, issuers: [partner.issuer] }]);
    const second = await read<List<{ id: string; openedAt: string }>>(
      sessions({ user: id, limit: 1, cursor: first.nextCursor }),
    );
    expect([second.data.length, second.nextCursor]).toEqual([1, null]);
    const all = await read<List<{ user: { email: string }; openedAt: string }>>(sessions({}));
    const opened = all.data.map(({ openedAt }) => openedAt);
    expect(opened).toEqual(opened.toSorted().toReversed());
    const ofNoa = await read<List<Json>>(sessions({ user: 'noa@', issuer: partner.issuer }));
    expect(ofNoa.data).toMatchObject([{ user: { email: 'noa@partner.example' } }]);
    expect((await read<List>(sessions({ issuer: other.issuer }))).data).toEqual([]);
    const live = async () => {
      const { buckets } = await read<{ buckets: { live: number }[] }>(browser.get('sessions/history'));
      return buckets.at(-1)?.live;
    };
    const families = new Set(
      (await read<List<{ id: string }>>(sessions({ limit: 100 }))).data.map((one) => one.id),
    );
    expect(await live()).toBe(families.size);
    for (const { id: session } of [...first.data, ...second.data])
      expect((await browser.send('DELETE', `sessions/${session}`)).status).toBe(204);
    expect(await Promise.all(cookies.map((cookie) => meStatus(service, cookie)))).toEqual([401, 401, 200]);
    expect((await browser.send('DELETE', `sessions/${String(first.data[0]?.id)}`)).status).toBe(404);
    expect(await live()).toBe(families.size - 2);

    expect((await browser.get('operator-sessions?limit=100')).status).toBe(200);
    for (const limit of [0, 101, 250])
      for (const answer of [browser.get(`operator-sessions?limit=${limit}`), sessions({ limit })])
        expect(await errorOf(await answer)).toEqual([400, 'bad_request']);
    for (const answer of [browser.get('operator-sessions?cursor=1'), sessions({ cursor: 'x' })])
      expect(await errorOf(await answer)).toEqual([400, 'bad_request']);
    const elsewhere = await signedIn(service, 'ada@example.com', '192.0.2.77');
    const { data } = await read<List<{ id: string; current: boolean; clientAddress: string }>>(
      browser.get('operator-sessions'),
    );
    const one = data.find(({ clientAddress }) => clientAddress === '192.0.2.77');
    expect([one?.current, data.filter(({ current }) => current).length]).toEqual([false, 1]);
    expect((await browser.send('DELETE', `operator-sessions/${String(one?.id)}`)).status).toBe(204);
    expect([await elsewhere.status(), await browser.status()]).toEqual([401, 200]);
  });

  it('counts events, and finds refusals by user, issuer, reason and request', async () => {
    const expired = partner.sign(partner.claims({ sub: 'pat', iat: 1_000_000, exp: 1_000_060 }));
    const answer = await service.exchange({ subject_token: expired });
    const requestId = requestIdOf(answer);
    const activity = await read<{ buckets: Json[]; reasons: Json[]; issuers: Json[] }>(
      browser.get('activity?buckets=4'),
    );
    expect(activity).toMatchObject({ unit: 'events', bucketSeconds: 21_600, complete: true });
    expect(activity.buckets).toHaveLength(4);
    expect(activity.buckets.at(-1)).toMatchObject({ complete: true });
    expect(activity.reasons).toContainEqual({ reason: 'token_expired', count: 1 });
    const [last] = await service.rows<{ succeeded: number; refused: number }>(
      `SELECT count(*) FILTER (WHERE payload->>'reason' IS NULL)::int AS succeeded,
         count(*) FILTER (WHERE payload->>'reason' IS NOT NULL)::int AS refused
       FROM audit_event WHERE name LIKE 'svc.audit.token-exchange.%' AND payload ?| '{sessionFamilyId,accessTokenId,reason}'`,
    );
    expect(activity.buckets.at(-1)).toMatchObject({ ...last, reasons: { token_expired: 1 } });
    const sumOf = (rows: Json[], member: string) => rows.reduce((sum, row) => sum + Number(row[member]), 0);
    for (const refused of [sumOf(activity.reasons, 'count'), sumOf(activity.issuers, 'refused')])
      expect(refused).toBe(sumOf(activity.buckets, 'refused'));
    expect(sumOf(activity.issuers, 'succeeded')).toBe(sumOf(activity.buckets, 'succeeded'));

    const find = (body: object) => read<List>(browser.send('POST', 'refusals/search', body));
    const [found] = (await find({ reason: 'token_expired', issuer: partner.issuer })).data;
    expect(found).toMatchObject({ requestId, reason: 'token_expired', check: 'times' });
    expect([found?.cause, found?.remedy]).toEqual([expect.any(String), expect.any(String)]);
    expect((await find({ reason: 'token_expired', issuer: 'https://nobody.example' })).data).toEqual([]);
    expect((await find({ user: 'lee@partner.example' })).data).toMatchObject([{ reason: 'user_disabled' }]);
    expect((await find({ user: 'nobody@partner.example' })).data).toEqual([]);
    const one = await find({ limit: 1 });
    const next = await find({ limit: 1, cursor: one.nextCursor });
    expect(Number(next.data[0]?.id)).toBeLessThan(Number(one.data[0]?.id));
    expect(await read(browser.get(`requests/${requestId}`))).toMatchObject({
      requestId,
      events: [{ reason: 'token_expired' }],
    });
    expect((await browser.get(`requests/${'x'.repeat(128)}`)).status).toBe(200);
    for (const since of ['2020-01-01T00:00:00Z', '-200000-01-01T00:00:00Z', '2026-05-01 12:00', '2026-02-30'])
      expect(await errorOf(await browser.send('POST', 'refusals/search', { since }))).toEqual([
        400,
        'bad_request',
      ]);
    expect(await errorOf(await browser.get('activity?since=2020-01-01T00:00:00Z'))).toEqual([
      400,
      'bad_request',
    ]);
    expect(await errorOf(await browser.get('activity?buckets=97'))).toEqual([400, 'bad_request']);
  });

  it('groups refusals by reason, issuer and key, with cause, count, first and last', async () => {
    for (const sub of ['ann', 'ben'])
      await service.exchange({
        subject_token: partner.sign(partner.claims({ sub, aud: 'https://else.example' })),
      });
    interface Groups {
      data: { reason: string; count: number; firstAt: string; lastAt: string }[];
      total: number;
    }
    const groupsOf = (body: object) => read<Groups>(browser.send('POST', 'refusals/groups', body));
    const all = await groupsOf({});
    expect(all.data[0]).toMatchObject({
      ...{ event: 'svc.audit.token-exchange.failed', reason: 'audience_mismatch', check: 'audience' },
      ...{ issuer: partner.issuer, kid: partner.kid, count: 2, remedy: expect.any(String) as string },
    });
    expect(all.data[0]?.firstAt.localeCompare(all.data[0]?.lastAt)).toBe(-1);
    expect(all.total).toBe(all.data.reduce((sum, { count }) => sum + count, 0));
    const ofAnn = await groupsOf({ user: 'ann@partner.example' });
    expect(ofAnn.data.map(({ reason, count }) => [reason, count])).toEqual([['audience_mismatch', 1]]);
    const narrowed = { reason: 'audience_mismatch', kid: 'another' };
    expect(await groupsOf(narrowed)).toMatchObject({ data: [], total: 0 });
    const single = { reason: 'audience_mismatch', kid: partner.kid, issuer: partner.issuer };
    expect((await read<List>(browser.send('POST', 'refusals/search', single))).data).toHaveLength(2);
  });

  it('[D109] shows every event in pages with its author, and records repeated reads once a minute', async () => {
    const find = (body: object) => read<List>(browser.send('POST', 'events/search', body));
    const first = await find({ limit: 2 });
    const next = await find({ limit: 2, cursor: first.nextCursor });
    const ids = [...first.data, ...next.data].map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(ids).toHaveLength(4);
    const signIns = await find({ event: 'operator.*', user: 'ada@example.com' });
    expect(signIns.data[0]).toMatchObject({ event: 'svc.audit.operator.signed-in', subjectUserId: ada });
    const byKey = await find({ kid: partner.kid, event: 'token-exchange.failed' });
    expect(byKey.data.length).toBeGreaterThan(0);
    const one = byKey.data[0] as { requestId: string };
    expect((await find({ requestId: one.requestId })).data).toMatchObject([one]);
    expect(await errorOf(await browser.send('POST', 'events/search', { event: 'nothing' }))).toEqual([
      ...[400, 'bad_request'],
    ]);
    const namesOf = async (body: object) =>
      (await find({ limit: 100, ...body })).data.map((row) => row['event']);
    const reading = 'svc.audit.administration.read';
    expect(await namesOf({ event: 'administration.*' })).not.toContain(reading);
    for (const body of [{ event: reading }, { also: 'readings' }, { also: 'everything' }])
      expect(await namesOf(body)).toContain(reading);
    const readings = (await performed()).filter(({ payload }) => payload.operation === 'audit events');
    // Once for all of them, and the refused one.
    expect(readings.map(({ payload }) => payload.reason)).toEqual([undefined, 'refused']);
  });

  it('[D79] shows refusals of unverified senders only if requested', async () => {
    const tokens = ['a.b.c', partner.sign(partner.claims({ iss: undefined }))];
    for (const token of [...tokens, partner.sign(partner.claims({ aud: 'https://else.example' }))])
      await service.exchange({ subject_token: token });
    const reasonsOf = async (body: object) => {
      const { data } = await read<List>(browser.send('POST', 'events/search', { limit: 100, ...body }));
      return (data as unknown as { payload: { reason?: string } }[]).map(({ payload }) => payload.reason);
    };
    const event = 'token-exchange.failed';
    const usual = await reasonsOf({ event });
    expect(usual).toContain('audience_mismatch');
    for (const reason of ['token_malformed', 'claims_invalid']) {
      expect(usual).not.toContain(reason);
      expect(await reasonsOf({ event, also: 'strangers' })).toContain(reason);
      expect(await reasonsOf({ reason })).toContain(reason);
    }
    expect(await reasonsOf({ event: 'operator.*' })).toContain(undefined);
  });

  describe("why a user can't sign in", () => {
    const refusalsOf = async (user: string): Promise<Found[]> => {
      const answer = await browser.send('POST', 'refusals/search', { user });
      return ((await answer.json()) as { data: Found[] }).data;
    };
    const send = (claims: Claims) =>
      service.exchange({
        subject_token: partner.sign(partner.claims(claims)),
      });

    it.each(MISTAKES)(
      '[6.2] %s is found by e-mail address, sub and id of a known user',
      async (reason, wrong) => {
        const sub = `known ${reason}`;
        const email = `${reason}@known.example`;
        expect((await send({ sub, email })).status).toBe(200);
        const userId = (await linkedUser(service, partner.issuer, sub))?.id;
        if (userId === undefined) throw new Error('the user was not made');
        const answer = await send({ sub, email, ...wrong });
        expect(answer.status).toBe(400);
        for (const user of [email, email.toUpperCase(), sub, userId])
          expect(await refusalsOf(user)).toMatchObject([{ reason, subjectUserId: userId }]);
      },
    );

    it.each(MISTAKES)(
      '[6.2] %s is found by e-mail address and sub of an unknown person',
      async (reason, wrong) => {
        const sub = `unknown ${reason}`;
        const email = `${reason}@unknown.example`;
        await send({ sub, email, ...wrong });
        for (const user of [email, sub])
          expect(await refusalsOf(user)).toMatchObject([{ reason, subjectUserId: null }]);
        expect(await refusalsOf(`other ${sub}`)).toEqual([]);
      },
    );

    it('[6.2] the person is shown with state, sign-ins and links, even without a refusal', async () => {
      const [sub, email] = ['no refusal', 'no-refusal@known.example'];
      expect((await send({ sub, email })).status).toBe(200);
      const { id } = (await linkedUser(service, partner.issuer, sub))!;
      await changeUser(service, id, { enabled: false });
      const personOf = async (user: string) =>
        ((await (await browser.send('POST', 'refusals/groups', { user })).json()) as { person: unknown })
          .person;
      for (const user of [email, id, sub])
        expect(await personOf(user)).toMatchObject({
          ...{ id, email, enabled: false },
          links: [{ issuer: partner.issuer, subject: sub }],
          signIns: [{ event: 'svc.audit.token-exchange.succeeded' }],
        });
      expect(await personOf('nobody@known.example')).toBeNull();
    });

    it('[6.2] a replayed token is found by the user whom it had signed in', async () => {
      const email = 'again@known.example';
      const token = partner.sign(partner.claims({ sub: 'again', email }));
      expect((await service.exchange({ subject_token: token })).status).toBe(200);
      expect((await service.exchange({ subject_token: token })).status).toBe(400);
      expect(await refusalsOf(email)).toMatchObject([
        { reason: 'token_replayed', subjectUserId: expect.any(String) as string },
      ]);
    });

    it('[6.2] a forged token names no person, and neither address nor sub is stored or logged', async () => {
      const forger = Partner.create({ issuer: partner.issuer, audience: BASE_URL });
      const { kid } = partner.staticEntry() as { kid: string };
      const claims = partner.claims({ sub: 'forged sub', email: 'forged@known.example' });
      await service.exchange({ subject_token: forger.sign(claims, { kid }) });
      expect(await refusalsOf('forged sub')).toEqual([]);
      await send({ sub: 'secret sub', email: 'secret@unknown.example', aud: 'https://other.example' });
      const stored = JSON.stringify(await service.rows('SELECT * FROM audit_event')) + service.logText;
      expect(stored).not.toMatch(/secret sub|secret@unknown|forged sub/);
      const [row] = await service.rows<{ hashes: number }>(
        `SELECT cardinality(person_hashes) AS hashes FROM audit_event WHERE payload->>'reason' = 'audience_mismatch' ORDER BY id DESC LIMIT 1`,
      );
      expect(row).toEqual({ hashes: 2 });
    });
  });

  it('[P.subjects] checks an entry with the warnings of the commands', async () => {
    const subjects = ['repo:acme/flows:*'];
    const entry = { ...other.staticEntry(), name: 'tried', kid: 'tried', subjects };
    const { warnings } = await read<Json>(browser.send('POST', 'entries/check', { entry }));
    expect(warnings).toContainEqual(expect.stringContaining('repo:acme/flows:*'));
  });

  it('reports the state of the instance, and no secret', async () => {
    const overview = await read<{ variables: Json[] }>(browser.get('overview'));
    expect(overview).toMatchObject({
      baseUrl: BASE_URL,
      tokenExchange: { available: true, reason: null, embedLogin: true, exchange: true, idAssertion: false },
      license: { features: expect.arrayContaining(['token-exchange']) as string[], ended: false },
      instance: { leader: true, processId: process.pid },
      retentionDays: null,
      keyAlgorithms: SIGNING_ALGORITHMS,
    });
    const secret = overview.variables.filter((one) => one.secret);
    expect(secret.length).toBeGreaterThan(3);
    expect(secret.filter(({ value }) => value !== null)).toEqual([]);
    expect(overview.variables).toContainEqual({
      ...{ name: 'SVC_ADMIN_ENABLED', value: 'true', state: 'set', secret: false },
    });
    const members = new Set(overview.variables.flatMap((one) => Object.keys(one)));
    expect([...members]).toEqual(['name', 'value', 'state', 'secret']);
    expect(overview.variables).toContainEqual({
      ...{ name: 'SVC_SSL_KEY', value: null, state: 'unset', secret: true },
    });
    expect(overview.variables).toContainEqual({
      ...{
        name: 'SVC_KEEP_ALIVE_SECONDS',
        value: expect.any(String) as string,
        state: 'default',
        secret: false,
      },
    });
    const { data } = await read<List>(browser.get('reasons'));
    expect(data.map(({ reason }) => reason)).toContain('token_expired');
  });

  it('includes events of clocks that are ahead unless an end is requested', async () => {
    const issuer = 'https://ahead.example';
    // The clock of another instance is ahead.
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT 'svc.audit.token-exchange.failed', now() + interval '4 minutes', 'ahead',
         '{"flow": "exchange", "reason": "token_expired", "issuer": "https://ahead.example"}'
       FROM generate_series(1, 2) n`,
    );
    const find = (body: object) =>
      read<List>(browser.send('POST', 'refusals/search', { issuer, limit: 1, ...body }));
    for (const time of [{}, { lastHours: 744 }, { since: new Date(Date.now() - 1_000).toISOString() }]) {
      const first = await find(time);
      const second = await find({ ...time, cursor: first.nextCursor });
      expect([first.data.length, second.data.length, second.nextCursor]).toEqual([1, 1, null]);
    }
    const now = new Date().toISOString();
    expect((await find({ until: now })).data).toEqual([]);
    for (const query of ['', '?lastHours=2&buckets=7']) {
      const { buckets, issuers } = await read<{ buckets: { refused: number }[]; issuers: Json[] }>(
        browser.get(`activity${query}`),
      );
      expect(buckets.at(-1)?.refused).toBeGreaterThanOrEqual(2);
      expect(issuers).toContainEqual({ issuer, succeeded: 0, refused: 2 });
    }
    const limited = await read<{ issuers: Json[] }>(browser.get(`activity?until=${now}`));
    expect(limited.issuers.map((one) => one.issuer)).not.toContain(issuer);
    for (const query of ['lastHours=745', 'lastHours=0', 'lastHours=x', `lastHours=1&until=${now}`])
      expect(await errorOf(await browser.get(`activity?${query}`))).toEqual([400, 'bad_request']);
  });

  it('reads the newest 50,000 events, and reports that there are more', async () => {
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT 'svc.audit.token-exchange.failed', now() - interval '10 minutes' + n * interval '10 milliseconds', 'many',
         '{"flow": "exchange", "reason": "made_up", "issuer": "https://many.example"}'
       FROM generate_series(1, 50001) n`,
    );
    const activity = await read<Json & { buckets: Json[] }>(browser.get('activity'));
    expect(activity).toMatchObject({ complete: false, readEvents: 50_000 });
    expect(activity.buckets[0]).toMatchObject({ complete: false });
    const rare = { issuer: partner.issuer, reason: 'token_expired' };
    const page = await read<List & { lookedBackTo: string | null }>(
      browser.send('POST', 'refusals/search', rare),
    );
    expect([page.data, page.nextCursor === null, page.lookedBackTo === null]).toEqual([[], false, false]);
    const next = await read<List>(
      browser.send('POST', 'refusals/search', { ...rare, cursor: page.nextCursor }),
    );
    expect([next.data.length, next.nextCursor]).toEqual([1, null]);
  });
});
