// Why a Bearer credential was refused: what the client is told stays one answer, what the operator finds is the cause.
import { randomUUID } from 'node:crypto';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import { RECORDED_PER_MINUTE } from '../../src/platform/http/throttle/rate-limit.js';
import type { BearerReason } from '../../src/token-exchange/tokens/bearer-refusals.js';
import { BEARER_REFUSALS } from '../../src/token-exchange/tokens/bearer-refusals.js';
import { addAsAdministrator } from '../support/administrators-entry.js';
import { eventsOf } from '../support/audit.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { API_PROOF_REASONS } from '../support/dpop-client.js';
import { whileInsertsFail } from '../support/failing-inserts.js';
import { changeUser, deleteUser, linkedUser } from '../support/local-users.js';
import { MetricSamples } from '../support/metric-samples.js';
import { TestClock } from '../support/test-clock.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const EVENT = 'svc.audit.api.refused';
const ELSEWHERE = 'https://reports.example/api';
const ANSWER = { error: 'invalid_token', message: 'The access token is invalid or has expired' };
const NO_CREDENTIAL = 'Sign in, or send an access token';
const WORKFLOWS = '/api/v1/workflows';

describeOnAnyDatabase('[D79] a refused Bearer', (database) => {
  const clock = new TestClock(Math.floor(Date.now() / 1000) * 1000);
  const main = Partner.create({ issuer: 'https://main.example', kid: 'main', audience: BASE_URL });
  const reporting = Partner.create({
    issuer: 'https://reporting.example',
    kid: 'reporting',
    audience: BASE_URL,
  });
  const secrets = new Set<string>(['private.example', 'zephyrine']);
  const trustedKeys = [main.staticEntry(), reporting.staticEntry({ resources: [ELSEWHERE] })];
  const environment = { SVC_LOG_LEVEL: 'warn', SVC_PROXY_HOPS: '1' };
  const service = TestService.forBlock(database, { trustedKeys, clock, environment });
  let addresses = 0;

  const nowSeconds = () => Math.floor(clock.nowMs() / 1000);
  const external = (partner: Partner, change: Members = {}) => {
    const sub = `zephyrine-${randomUUID()}`;
    const own = {
      sub,
      email: `${sub}@private.example`,
      iat: nowSeconds(),
      exp: nowSeconds() + 50,
      ...change,
    };
    return secret(partner.sign(partner.claims(own)));
  };
  const secret = (token: string) => {
    for (const part of [token, ...token.split('.').slice(1)]) if (part.length > 20) secrets.add(part);
    return token;
  };
  const issued = async (partner = main, fields: Record<string, string> = {}, change: Members = {}) =>
    secret(await service.accessToken({ subject_token: external(partner, change), ...fields }));
  const newAddress = () => `198.51.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`;

  const send = (headers: Record<string, string>, path: string, address = newAddress()) =>
    service.fetch(path, {
      headers: { 'x-forwarded-for': address, 'x-forwarded-proto': 'https', ...headers },
    });

  /** What is kept of one call, found by its request id. */
  const trace = async (headers: Record<string, string>, path = WORKFLOWS, address?: string) => {
    const requestId = randomUUID();
    const answer = await send({ ...headers, 'x-request-id': requestId }, path, address);
    const lines = service.log.filter((line) => line['requestId'] === requestId);
    return { answer, lines, rows: await eventsOf(service, requestId) };
  };

  interface BearerCase {
    readonly name: string;
    readonly reason: BearerReason;
    readonly authorization: () => string | Promise<string>;
    readonly found?: string;
    /** Whether a signature of the instance says whose it is. */
    readonly isOurs?: boolean;
  }

  const bearer = (token: string) => `Bearer ${token}`;
  const replaced = (token: string, index: number, by: (part: string) => string) =>
    token
      .split('.')
      .map((part, at) => (at === index ? by(part) : part))
      .join('.');

  /** Creates a user by a fresh token and changes the user. @returns the token's `Authorization` header */
  const ofUser = async (change: (userId: string) => Promise<unknown>) => {
    const sub = `zephyrine-${randomUUID()}`;
    const token = await issued(main, {}, { sub });
    await change((await linkedUser(service, main.issuer, sub))?.id ?? '');
    return bearer(token);
  };

  const CASES: readonly BearerCase[] = [
    { name: 'another scheme', reason: 'malformed', authorization: () => 'Basic emVwaHlyaW5lOnNlY3JldA==' },
    { name: 'no JWT', reason: 'malformed', authorization: () => 'Bearer zephyrine' },
    { name: 'an external token', reason: 'not_issued_here', authorization: () => bearer(external(main)) },
    {
      name: 'changed claims',
      reason: 'not_issued_here',
      authorization: async () => {
        const [, other = ''] = (await issued()).split('.');
        return bearer(replaced(await issued(), 1, () => other));
      },
    },
    {
      name: 'a token for another service',
      reason: 'other_audience',
      found: ELSEWHERE,
      isOurs: true,
      authorization: async () => bearer(await issued(reporting, { resource: ELSEWHERE })),
    },
    {
      name: 'an expired token',
      reason: 'expired',
      found: 'expired 75 s ago',
      isOurs: true,
      authorization: async () => {
        const token = await issued();
        expect((await send({ authorization: bearer(token) }, WORKFLOWS)).status).toBe(200);
        clock.advance(125);
        return bearer(token);
      },
    },
    {
      name: 'a token that its holder has ended',
      reason: 'revoked',
      isOurs: true,
      authorization: async () => {
        const token = await issued();
        expect((await service.post('/rest/auth/oauth/revoke', { token })).status).toBe(200);
        return bearer(token);
      },
    },
    {
      name: 'a user who is gone',
      reason: 'user_unknown',
      found: 'the subject was deleted',
      isOurs: true,
      authorization: () => ofUser((id) => deleteUser(service, id)),
    },
    {
      name: 'a user who is disabled',
      reason: 'user_disabled',
      found: 'the subject is disabled',
      isOurs: true,
      authorization: () => ofUser((id) => changeUser(service, id, { enabled: false })),
    },
    {
      name: 'a user who became an administrator after an entry of one signed',
      reason: 'privileged_user_not_allowed',
      isOurs: true,
      authorization: async () => {
        const partner = Partner.create({ issuer: 'https://of-administrator.example', audience: BASE_URL });
        await addAsAdministrator(service, partner.staticEntry({ name: 'of-administrator' }));
        const sub = `zephyrine-${randomUUID()}`;
        const token = await issued(partner, {}, { sub });
        const user = await linkedUser(service, partner.issuer, sub);
        await changeUser(service, user?.id ?? '', { role: 'global:admin' });
        return bearer(token);
      },
    },
    {
      name: 'an actor who is disabled',
      reason: 'user_disabled',
      found: 'the actor is disabled',
      isOurs: true,
      authorization: async () => {
        const sub = `zephyrine-${randomUUID()}`;
        const token = await issued(main, { actor_token: external(main, { sub }) });
        await changeUser(service, (await linkedUser(service, main.issuer, sub))?.id ?? '', {
          enabled: false,
        });
        return bearer(token);
      },
    },
  ];

  it('has a case for each reason', () => {
    const reasons = new Set<string>([...CASES.map(({ reason }) => reason), ...API_PROOF_REASONS]);
    expect([...reasons].toSorted()).toEqual(Object.keys(BEARER_REFUSALS).toSorted());
  });

  it.each(CASES)('[D79][4.3] $name: one answer, one warning, one row', async (one) => {
    const authorization = await one.authorization();
    const { answer, lines, rows } = await trace({ authorization });
    expect(answer.status).toBe(401);
    const isBearer = /^bearer/i.test(authorization);
    expect(await answer.json()).toMatchObject(isBearer ? ANSWER : { message: NO_CREDENTIAL });
    expect(answer.headers.get('www-authenticate')?.includes('error="invalid_token"')).toBe(isBearer);

    const call = { method: 'GET', route: WORKFLOWS };
    const values = one.found === undefined ? {} : { found: one.found };
    const ours = one.isOurs === true ? { accessTokenId: expect.any(String) } : {};
    const expected = one.reason === 'other_audience' ? { expected: BASE_URL } : {};
    expect(rows).toEqual([
      {
        name: EVENT,
        requestId: expect.any(String),
        subjectUserId: one.isOurs === true ? expect.any(String) : null,
        actorUserId: one.found?.startsWith('the actor') === true ? expect.any(String) : null,
        payload: {
          reason: one.reason,
          ...call,
          ...values,
          ...ours,
          ...expected,
          clientAddress: expect.any(String),
        },
      },
    ]);
    expect(lines).toMatchObject([{ level: 'warn', event: EVENT, payload: rows[0]?.payload }]);
    const message = String(lines[0]?.['msg']);
    expect(message).toContain(`an API call was refused: ${BEARER_REFUSALS[one.reason].cause}`);
    if (one.found !== undefined) expect(message).toContain(`found ${one.found}`);
    expect(message).toMatch(new RegExp(`; see docs/refusals\\.md#bearer-${one.reason}$`));
  });

  it('[D79] is recorded with the pattern of its route, at /rest/me too', async () => {
    const { rows } = await trace(
      { authorization: 'Bearer zephyrine' },
      `/api/v1/workflows/${randomUUID()}?x=zephyrine`,
    );
    expect(rows).toMatchObject([{ payload: { route: '/api/v1/workflows/:workflowId' } }]);
    const me = await trace({ authorization: 'Bearer zephyrine' }, '/rest/me');
    expect(me.rows).toMatchObject([{ payload: { reason: 'malformed', route: '/rest/me' } }]);
  });

  it('[D79] is not recorded if there is no credential, or a session that has ended', async () => {
    for (const headers of [{}, { cookie: '__Host-svc_session=zephyrine' }] as Record<string, string>[]) {
      const { answer, lines, rows } = await trace(headers);
      expect([answer.status, lines, rows]).toEqual([401, [], []]);
    }
  });

  it('[D79] is not recorded at the revocation endpoint, whose answer reveals nothing', async () => {
    const before = await eventsOf(service);
    const answer = await service.post('/rest/auth/oauth/revoke', { token: external(main) });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
    expect(await eventsOf(service)).toEqual(before);
  });

  it('[D79] is recorded ten times a minute for each address, and always counted', async () => {
    const count = async () =>
      (await MetricSamples.read(service)).value('svc_api_refusals_total', { reason: 'malformed' }) ?? 0;
    const [address, before, calls] = [newAddress(), await count(), 2 * RECORDED_PER_MINUTE];
    const kept = async (times: number) => {
      const traces = [];
      for (let at = 0; at < times; at++)
        traces.push(await trace({ authorization: 'Bearer zephyrine' }, WORKFLOWS, address));
      expect(traces.map(({ answer }) => answer.status)).toEqual(traces.map(() => 401));
      return traces.map(({ lines, rows }) => lines.length + rows.length);
    };
    const half = Array.from({ length: RECORDED_PER_MINUTE });
    expect(await kept(calls)).toEqual([...half.map(() => 2), ...half.map(() => 0)]);
    expect(await count()).toBe(before + calls);
    // A token of the instance is kept all the same, and ten times a minute too.
    const revoked = await ofUser((id) => changeUser(service, id, { enabled: false }));
    const ofOurs = async () => (await trace({ authorization: revoked }, WORKFLOWS, address)).rows.length;
    for (let at = 0; at <= RECORDED_PER_MINUTE; at++)
      expect(await ofOurs()).toBe(at < RECORDED_PER_MINUTE ? 1 : 0);
    // Another address has its own ten, and a minute later so has this one.
    expect((await trace({ authorization: 'Bearer zephyrine' })).rows).toHaveLength(1);
    clock.advance(60);
    expect(await kept(1)).toEqual([2]);
  });

  it('[D79] is answered in the same way if the trail cannot be written, which the log reports', async () => {
    const send = () => trace({ authorization: 'Bearer zephyrine' });
    const { answer, lines, rows } = await whileInsertsFail(service, 'audit_event', send);
    expect([answer.status, await answer.json()]).toEqual([401, expect.objectContaining(ANSWER)]);
    expect(rows).toEqual([]);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'warn']);
  });

  it('[D79] reveals nothing that is secret', async () => {
    const rows = await service.rows('SELECT * FROM audit_event WHERE name = $1', [EVENT]);
    const kept = JSON.stringify(rows) + service.logText;
    expect(rows.length).toBeGreaterThan(20);
    expect([...secrets].filter((text) => kept.includes(text))).toEqual([]);
  });
});
