// After many successes and failures of both flows, no log line, table, metric or response contains a secret.
import type { Members } from '../../demo/partner.js';
import { Cast, OF_INVALID_CLAIMS, ONE_OF_EACH_REASON } from '../support/attacks.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { EMBED_PATH } from '../support/entry-paths.js';
import { whileInsertsFail } from '../support/failing-inserts.js';
import { createUser } from '../support/local-users.js';
import { login, LOGIN_METHODS, sessionHashOf, sessionIdOf } from '../support/logins.js';
import { metricsOf } from '../support/metric-samples.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const cast = new Cast();
const partner = cast.main;
const PERSON = { given_name: 'Zephyrine', family_name: 'Quillfeather', email: 'zephyrine.q@private.example' };

describeOnEachDatabase('[D23] what must never be written down', (database) => {
  const environment = { SVC_LOG_LEVEL: 'debug' };
  const service = TestService.forBlock(database, {
    trustedKeys: [cast.mainEntry, cast.revoked.staticEntry()],
    environment,
  });
  /** Every token, session id and address that was used. */
  const secrets = new Set<string>();
  /** In each form that a table might have. */
  const sessionIds = new Set<string>();
  /** All headers and error bodies. Bodies of successes are left out, because they contain the requested token. */
  const answered: string[] = [];

  const sent = (token: string) => {
    secrets.add(token);
    const [, payload = '', signature = ''] = token.split('.');
    for (const part of [payload, signature]) if (part.length > 20) secrets.add(part);
    return token;
  };
  const fresh = (claims: Members = {}) => sent(partner.sign(partner.claims({ ...PERSON, ...claims })));
  const note = async (answer: Response) => {
    const body = await answer.text();
    const { 'set-cookie': cookie, ...headers } = Object.fromEntries(answer.headers);
    answered.push(JSON.stringify(headers), answer.status < 400 ? '' : body);
    const id = cookie === undefined ? '' : sessionIdOf(cookie);
    if (id !== '') {
      secrets.add(id);
      for (const form of [id, Buffer.from(id, 'base64url').toString('hex'), Buffer.from(id).toString('hex')])
        sessionIds.add(form);
    }
    return { status: answer.status, body, cookie: cookie?.split(';')[0] ?? '' };
  };

  beforeAll(async () => {
    await createUser(service, { email: 'Resident@Private.example' });
    await succeed();
    await fail();
    for (const address of [PERSON.email, 'resident@private.example', 'customer-1@main.example'])
      secrets.add(address);
    for (const name of [PERSON.given_name, PERSON.family_name, 'Robin', 'Castell']) secrets.add(name);
    secrets
      .add('PRIVATE KEY')
      .add('PUBLIC KEY')
      .add(pemBody(partner.publicKeyPem()))
      .add(pemBody(partner.privateKeyPem()));
  });
  const succeed = async () => {
    for (const method of LOGIN_METHODS) {
      const { cookie } = await note(await login(service, method, { token: fresh(), redirectTo: '/x?y=1' }));
      secrets.add(sessionHashOf(cookie).toString('hex'));
      await note(await service.fetch('/rest/me', { headers: { cookie } }));
      await note(
        await service.fetch('/rest/me', { headers: { cookie, authorization: 'Basic c2VjcmV0OnBhc3M=' } }),
      );
      await note(await service.post('/rest/auth/logout', {}, { cookie }));
      await note(await service.post('/rest/auth/logout', {}, { cookie, origin: BASE_URL }));
    }
    await note(await service.embed({ token: fresh({ sub: 'linked', email: 'resident@private.example' }) }));
    const fields = {
      subject_token: fresh(),
      actor_token: fresh({ sub: 'actor', email: undefined, role: 'nobody' }),
    };
    await note(await service.exchange(fields));
    const { status, body } = await note(await service.exchange({ subject_token: fresh() }));
    expect(status).toBe(200);
    const issued = sent((JSON.parse(body) as { access_token: string }).access_token);
    const authorization = `Bearer ${issued}`;
    await note(await service.fetch('/api/v1/workflows', { headers: { authorization } }));
    await note(
      await service.fetch('/api/v1/workflows?limit=x', { headers: { authorization: `${authorization}x` } }),
    );
    await note(await service.exchange({ subject_token: issued }));
  };

  const fail = async () => {
    for (const { make } of ONE_OF_EACH_REASON) {
      const [first, second] = [sent(await make(cast, service)), sent(await make(cast, service))];
      for (const method of LOGIN_METHODS)
        await note(await login(service, method, { token: first, redirectTo: first }));
      await note(await service.exchange({ subject_token: second }));
      await note(await service.exchange({ subject_token: fresh(), actor_token: second }));
    }
    for (const { make } of OF_INVALID_CLAIMS) {
      const token = sent(make(cast));
      for (const method of LOGIN_METHODS) await note(await login(service, method, { token }));
      await note(await service.exchange({ subject_token: token }));
    }
    // Tokens in the wrong parts of a request.
    const stray = fresh();
    await note(await service.fetch(`${EMBED_PATH}/${stray}`));
    await note(
      await service.fetch(`/${stray}?token=${stray}`, { headers: { referer: stray, 'user-agent': stray } }),
    );
    await note(await service.fetch(`/rest/auth/oauth/token?subject_token=${stray}`, { method: 'PUT' }));
    await note(await service.post(EMBED_PATH, { [stray]: stray }));
    await note(await service.exchange({ grant_type: stray, scope: stray }));
    await note(await service.exchange({ subject_token: stray, scope: stray.padEnd(1025, 'x') }));
    await note(
      await service.fetch('/rest/auth/embed', { method: 'POST', body: JSON.stringify({ token: stray }) }),
    );
    await note(await service.fetch('/rest/me', { headers: { 'x-request-id': stray, cookie: stray } }));
    await note(await service.fetch(`/api/v1/workflows?cursor=${stray}`));
  };

  const expectNone = (text: string) => {
    const leaked = [...secrets].filter((secret) => text.toLowerCase().includes(secret.toLowerCase()));
    expect(leaked).toEqual([]);
  };

  it('[D23] the requests produced many secrets, log lines and audit rows', async () => {
    expect(secrets.size).toBeGreaterThan(100);
    expect(service.log.length).toBeGreaterThan(200);
    expect((await service.rows('SELECT 1 FROM audit_event')).length).toBeGreaterThan(100);
  });

  it('[D23][K19] the log contains no secret at level debug', () => expectNone(service.logText));

  it('[D23][K19] the log contains no query of a request', () => {
    expect(service.logText).not.toMatch(/[?&](token|redirectTo|subject_token|cursor)=/);
  });

  it('[D23][K19] audit events contain no secret', async () => {
    const rows = await service.rows('SELECT name, request_id, payload::text FROM audit_event');
    expectNone(JSON.stringify(rows));
  });

  it('[D23][K19] no response header, such as Location, and no error body contains a secret', () => {
    expect(answered.length).toBeGreaterThan(200);
    expectNone(answered.join('\n'));
  });

  it('[D23] the metrics contain no secret', async () => {
    expectNone(await metricsOf(service));
  });

  it('[D23][D25] no external or issued token and no session id is stored anywhere', async () => {
    const [{ tables = [] } = {}] = await service.rows<{ tables: string[] }>(
      `SELECT array_agg(table_name::text) AS tables FROM information_schema.tables
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    const rows = await Promise.all(
      tables.map((table) => service.rows(`SELECT string_agg(t::text, '') AS content FROM "${table}" t`)),
    );
    const stored = JSON.stringify(rows);
    const tokens = [...secrets].filter((secret) => secret.length > 100);
    expect([...tokens, ...sessionIds].filter((secret) => stored.includes(secret))).toEqual([]);
  });

  it.each(['user_account', 'token_exchange_identity_link', 'token_exchange_session', 'audit_event'])(
    '[D23] the log contains no secret if the database refuses to write into %s',
    async (table) => {
      const logged = service.logText.length;
      const claims = { sub: `fault-${table}`, email: `fault.${table.replace('_', '.')}@private.example` };
      secrets.add(claims.email);
      const send = () => service.embed({ token: fresh(claims) });
      const answer = await note(await whileInsertsFail(service, table, send));
      expect(answer.status).toBe(500);
      expectNone(answer.body);
      expectNone(service.logText.slice(logged));
    },
  );
});

/** The middle of a key's first line, which is the same however its lines are joined. */
function pemBody(pem: string): string {
  return pem.split('\n')[1]?.slice(8, 56) ?? '';
}
