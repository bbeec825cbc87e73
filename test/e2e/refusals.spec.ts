// The log lines (level `warn`) and audit events of each refusal, found by the request id: cause and values, but no secret.
import { randomUUID } from 'node:crypto';
import { NOTICES, REQUEST_REFUSALS } from '../../src/token-exchange/refusals/refusals.js';
import { TOKEN_REFUSALS } from '../../src/token-exchange/refusals/token-refusals.js';
import { FLOW_CHECKS } from '../../src/token-exchange/verify/flow-checks.js';
import type { StoredEvent } from '../support/audit.js';
import { eventsOf } from '../support/audit.js';
import { census } from '../support/census.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { PROOF_REASONS } from '../support/dpop-client.js';
import { EXCHANGE_PATH, outcomeOf } from '../support/entry-paths.js';
import { explain } from '../support/explanations.js';
import { ASSERTION_REASONS } from '../support/id-jag-client.js';
import { MetricSamples } from '../support/metric-samples.js';
import { WORKLOAD_REASONS } from '../support/platforms.js';
import { isOnPage } from '../support/refusals-page.js';
import { TestClock } from '../support/test-clock.js';
import type { Fields, LogLine } from '../support/test-service.js';
import { TestService } from '../support/test-service.js';
import type { RefusalCase } from './support/refusal-cases.js';
import {
  BOUND_SESSION_REASONS,
  CasePartner,
  MARKER,
  nameOf,
  REFUSAL_CASES,
  SHOWN_ELSEWHERE,
} from './support/refusal-cases.js';
import { FAILURES } from './support/trusted-partner.js';

/** A service behind a proxy with HTTPS, so that it logs no warning about plain HTTP. */
const AT_WARN = { SVC_LOG_LEVEL: 'warn', SVC_PROXY_HOPS: '1' };

const REFUSALS = `SELECT * FROM audit_event WHERE name ~ '(failed|refused)$'`;

/** The log lines and audit events of one request. */
interface Trace {
  readonly answer: Response;
  readonly lines: readonly LogLine[];
  readonly rows: readonly StoredEvent[];
}

/** A service with a stopped clock, and every token and key that was used with it. */
class Scene {
  readonly clock = new TestClock(Math.floor(Date.now() / 1000) * 1000);
  readonly secrets = new Set<string>([MARKER, '-----BEGIN', 'private.example', 'Castell']);

  constructor(readonly service: () => TestService) {}

  /** Sends a request with its own request id, and finds the stored traces by it. */
  async trace(send: (headers: Record<string, string>) => Promise<Response>): Promise<Trace> {
    const requestId = randomUUID();
    const answer = await send({ 'x-request-id': requestId, 'x-forwarded-proto': 'https' });
    const lines = this.service().log.filter((line) => line['requestId'] === requestId);
    return { answer, lines, rows: await eventsOf(this.service(), requestId) };
  }

  secret(token: string): string {
    const parts = token.split('.').slice(1);
    for (const text of [token, ...parts]) if (text.length > 20) this.secrets.add(text);
    return token;
  }

  async expectNoSecret(): Promise<void> {
    const kept = JSON.stringify(await this.service().rows(REFUSALS)) + this.service().logText;
    expect(kept.length).toBeGreaterThan(1_000);
    const leaked = [...this.secrets].filter((secret) => kept.toLowerCase().includes(secret.toLowerCase()));
    expect(leaked).toEqual([]);
  }
}

/** The one warning of a request. */
function warningOf({ lines }: Trace): LogLine {
  expect(lines).toHaveLength(1);
  const [line = {}] = lines;
  expect(line['level']).toBe('warn');
  return line;
}

/** The page explains the code of the answer by the reason. */
async function expectOnPage({ answer }: Trace, { flow, reason }: RefusalCase): Promise<void> {
  const { error } = (await answer.json()) as { error: string };
  expect([error, isOnPage(flow === 'embed' ? 'login' : 'token', error, reason)]).toEqual([error, true]);
}

describeOnAnyDatabase('[D77] each reason for which a token is refused', (database) => {
  const scene = new Scene(() => service);
  const partners = new Map(
    REFUSAL_CASES.map((one) => [one, new CasePartner(nameOf(one), one.policy ?? {}, scene.clock)]),
  );
  const partnerOf = (one: RefusalCase) => partners.get(one)!;

  const trustedKeys = [...partners.values()].map(({ partner, policy }) => partner.staticEntry(policy));
  const service = TestService.forBlock(database, { trustedKeys, clock: scene.clock, environment: AT_WARN });

  /** The explanation of a request before it is sent. It uses nothing up and records nothing. */
  const expectExplained = async (one: RefusalCase, token: string, fields: Fields) => {
    const { reason } = one;
    // An explanation has no session that a token might belong to.
    if (reason === 'session_of_another_user') return;
    const { actor_token: actorToken, scope, resource } = fields;
    const asked = {
      flow: one.flow ?? ('exchange' as const),
      token,
      actorToken,
      scope,
      resource: resource?.split(' '),
    };
    const before = await census(service);
    const explained = await explain(service, asked);
    expect(await census(service)).toEqual(before);
    const { cause, remedy } = TOKEN_REFUSALS[reason];
    expect(explained).toMatchObject({ outcome: 'refused', refusal: { reason, cause, remedy }, issued: null });
    const failed = explained.checks.filter(({ state }) => state === 'failed');
    const own = partnerOf(one);
    const values = Object.entries(one.told(own)).filter(([name]) => name === 'expected' || name === 'found');
    expect(failed).toMatchObject([{ check: explained.refusal?.check, ...Object.fromEntries(values) }]);
    const states = explained.checks.map(({ state }) => state);
    const course = states.filter((state, index) => state !== states[index - 1]);
    // After a suspended entry or another audience the claims are still checked.
    expect(course.join(', ')).toMatch(/^(passed, )?failed(, not-reached)?(, passed)?(, not-reached)?$/);
    const text = JSON.stringify(explained);
    for (const secret of [token, actorToken, own.email]) if (secret) expect(text).not.toContain(secret);
  };

  it('[D77] has a case in this file or in the unit tests of token checks', () => {
    const reasons = new Set<string>([
      ...REFUSAL_CASES.map(({ reason }) => reason),
      ...FLOW_CHECKS.embed.map(({ reason }) => reason),
      ...ASSERTION_REASONS,
      ...PROOF_REASONS,
      ...BOUND_SESSION_REASONS,
      ...SHOWN_ELSEWHERE,
      ...WORKLOAD_REASONS,
    ]);
    expect([...reasons].toSorted()).toEqual(Object.keys(TOKEN_REFUSALS).toSorted());
  });

  it.each(REFUSAL_CASES.map((one) => ({ title: nameOf(one), one })))(
    '[D77] $title: one warning and one row, with cause and values',
    async ({ one }) => {
      const own = partnerOf(one);
      await one.before?.(service, own);
      const flow = one.flow ?? 'exchange';
      const token = scene.secret(one.token(own));
      const fields = one.fields?.(own) ?? {};
      await expectExplained(one, token, fields);
      const trace = await scene.trace((headers) => {
        if (flow === 'embed') return service.embed({ token, ...fields }, headers);
        return service.exchange({ subject_token: token, ...fields }, headers);
      });
      expect(outcomeOf(trace.answer)).toMatch(/^refused with 40[01]$/);
      await expectOnPage(trace, one);

      const values: Record<string, unknown> = { ...one.told(own) };
      // In an exchange, the checked token is known, unless both tokens are checked together.
      const party = flow === 'exchange' ? { party: 'subject' } : {};
      const payload = { ...party, flow, reason: one.reason, ...values, clientAddress: '127.0.0.1' };
      const { cause } = TOKEN_REFUSALS[one.reason];
      expect(trace.rows).toEqual([expect.objectContaining({ name: FAILURES[flow], payload })]);
      const told = trace.rows[0]?.payload ?? {};
      const line = warningOf(trace);
      expect(line).toMatchObject({ event: FAILURES[flow], payload: told });
      const message = String(line['msg']);
      expect(message).toContain(
        ` was refused${payload.party === undefined ? '' : ` for its ${String(told['party'])} token`}: ${cause}`,
      );
      for (const key of ['detail', 'expected', 'found'])
        if (told[key] !== undefined) expect(message).toContain(told[key]);
      expect(message).toMatch(new RegExp(`; see docs/refusals\\.md#${one.reason}$`));
    },
  );

  it('[D77] is the label of the metric', async () => {
    const samples = await MetricSamples.read(service);
    for (const { reason, flow } of REFUSAL_CASES) {
      const name = flow === 'embed' ? 'svc_embed_logins_total' : 'svc_token_exchanges_total';
      expect([reason, samples.value(name, { outcome: 'failed', reason }) > 0]).toEqual([reason, true]);
    }
  });

  it('[D77] is reported without secrets', () => scene.expectNoSecret());
});

/** A mistake of a partner, and what shows its cause. */
interface Mistake {
  readonly name: string;
  readonly send: (
    service: TestService,
    own: CasePartner,
    headers: Record<string, string>,
  ) => Promise<Response>;
  readonly status: number;
  /** The logged reason, and a part of the message. */
  readonly reason: string;
  readonly says: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a JSON body',
    send: (service, own, headers) =>
      service.fetch(EXCHANGE_PATH, {
        method: 'POST',
        body: JSON.stringify({ subject_token: own.token() }),
        headers: { ...headers, 'content-type': 'application/json' },
      }),
    status: 415,
    reason: 'not_a_form',
    says: /not a form .*found application\/json;/,
  },
  {
    name: 'a wrong subject_token_type',
    send: (service, own, headers) => {
      const type = 'urn:ietf:params:oauth:token-type:saml2';
      return service.exchange({ subject_token: own.token(), subject_token_type: type }, headers);
    },
    status: 200,
    reason: 'token_type_ignored',
    says: /subject_token_type; expected urn:ietf:params:oauth:token-type:jwt; found urn:.*:saml2;/,
  },
  {
    name: 'an actor without its type',
    send: (service, own, headers) => {
      const actor = own.token({ sub: `${MARKER}-robot`, email: `${MARKER}.robot@private.example` });
      return service.exchange({ subject_token: own.token(), actor_token: actor }, headers);
    },
    status: 200,
    reason: 'token_type_ignored',
    says: /actor_token_type; expected urn:ietf:params:oauth:token-type:jwt; found nothing;/,
  },
  {
    name: 'a redirectTo elsewhere',
    send: (service, own, headers) => {
      const redirectTo = `https://elsewhere.example/?${MARKER}`;
      return service.embed({ token: own.token(), redirectTo }, headers);
    },
    status: 303,
    reason: 'redirect_replaced',
    says: /`redirectTo` was replaced by .*found an absolute address;/,
  },
];

describeOnAnyDatabase('[D77] mistakes of a partner', (database) => {
  const scene = new Scene(() => service);
  const own = new CasePartner('partner', {}, scene.clock);

  const trustedKeys = [own.partner.staticEntry({ allowedRoles: ['global:member'] })];
  const service = TestService.forBlock(database, { trustedKeys, clock: scene.clock, environment: AT_WARN });

  beforeAll(async () => {
    await service.accessToken({ subject_token: own.token() });
  });
  it.each(MISTAKES)('[D77][D79] $name: found by the request id alone', async (mistake) => {
    const trace = await scene.trace((headers) => mistake.send(service, own, headers));
    expect(trace.answer.status).toBe(mistake.status);
    const line = warningOf(trace);
    const { reason }: LogLine = { ...line, ...(line['payload'] as object | undefined) };
    expect(reason).toBe(mistake.reason);
    expect(line['msg']).toMatch(mistake.says);
    expect(line['msg']).toMatch(new RegExp(`; see docs/refusals\\.md#${mistake.reason}$`));
    const failures = trace.rows.filter(({ name }) => name === FAILURES.exchange || name === FAILURES.embed);
    expect(failures).toEqual([]);
    if (mistake.reason === 'redirect_replaced')
      expect(trace.rows).toMatchObject([{ payload: { replacedRedirect: 'an absolute address' } }]);
  });

  it.each(['/', '/workflows?x=1#y', '', undefined])(
    '[D79] a redirectTo of %j causes no warning',
    async (redirectTo) => {
      const trace = await scene.trace((headers) =>
        service.embed({ token: own.token(), redirectTo }, headers),
      );
      expect([trace.answer.status, trace.lines]).toEqual([303, []]);
    },
  );

  it('[D79][4.4.role.5] an ignored role claim is found by the request id, in both flows', async () => {
    const compared = { expected: 'global:member, global:admin', found: 'global:king' };
    const token = () => own.token({ role: compared.found });
    const byLogin = await scene.trace((headers) => service.embed({ token: token() }, headers));
    const byExchange = await scene.trace((headers) => service.exchange({ subject_token: token() }, headers));
    for (const [trace, flow] of [
      [byLogin, 'embed'],
      [byExchange, 'exchange'],
    ] as const) {
      const line = warningOf(trace);
      expect(line).toMatchObject({ flow, reason: 'role_ignored', issuer: own.issuer, kid: own.partner.kid });
      expect(line).toMatchObject({ userId: expect.any(String), ...compared });
      expect(String(line['msg'])).toContain(NOTICES.role_ignored.cause);
      const { expected: assignableRoles, found: ignoredRole } = compared;
      expect(trace.rows).toMatchObject([{ payload: { ignoredRole, assignableRoles } }]);
    }
  });

  it('[D79] an ignored token type is logged once a minute', async () => {
    const send = () =>
      scene.trace((headers) =>
        service.exchange({ subject_token: own.token(), subject_token_type: 'urn:other' }, headers),
      );
    scene.clock.advance(60);
    expect([(await send()).lines.length, (await send()).lines.length]).toEqual([1, 0]);
    scene.clock.advance(60);
    expect((await send()).lines).toHaveLength(1);
  });

  it('[D79] a form without subject_token causes a warning and no row', async () => {
    const trace = await scene.trace((headers) => service.exchange({}, headers));
    expect([trace.answer.status, trace.rows]).toEqual([400, []]);
    const line = warningOf(trace);
    expect(line).toMatchObject({ flow: 'exchange', reason: 'field_invalid' });
    expect(String(line['msg'])).toContain(REQUEST_REFUSALS.field_invalid.cause);
  });

  it('[D79] a login or a revocation without a token causes a warning', async () => {
    const login = await scene.trace((headers) => service.embed({}, headers));
    expect(warningOf(login)).toMatchObject({ flow: 'embed', reason: 'token_missing' });
    const end = await scene.trace((headers) => service.post('/rest/auth/oauth/revoke', {}, headers));
    expect(warningOf(end)).toMatchObject({ flow: 'revocation', reason: 'token_missing' });
  });

  it('[D79] a wrong method is neither counted nor logged', async () => {
    const trace = await scene.trace((headers) => service.fetch(EXCHANGE_PATH, { method: 'PUT', headers }));
    expect([trace.answer.status, trace.lines]).toEqual([405, []]);
  });
});
