// The caller's trace: always in log lines, and in spans if an OpenTelemetry SDK is loaded.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import { requestIdOf } from '../support/audit.js';
import { describeBuilt, logOf, surroundingsOf } from '../support/built-service.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { REPOSITORY } from '../support/source-files.js';
import { GRANT_TYPE, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const SDK = pathToFileURL(join(REPOSITORY, 'deploy', 'observability', 'otel.mjs')).href;

describeOnAnyDatabase('[D92] the trace of a request, without an SDK', (database) => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const environment = { SVC_LOG_LEVEL: 'debug' };
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()], environment });
  const linesOf = (answer: Response) => {
    const requestId = requestIdOf(answer);
    return service.log.filter((line) => line['requestId'] === requestId);
  };
  const tracesOf = (answer: Response) =>
    linesOf(answer).map(({ msg, traceId, spanId }) => [msg, traceId, spanId]);

  it('is in its access line and in those of its audit events', async () => {
    const answer = await service.exchange({ subject_token: partner.sign() }, { traceparent: TRACEPARENT });
    expect(answer.status).toBe(200);
    expect(new Set(tracesOf(answer).map(([msg]) => msg))).toEqual(new Set(['audit', 'request']));
    expect(tracesOf(answer).filter(([, traceId, spanId]) => traceId !== TRACE || spanId !== CALLER)).toEqual(
      [],
    );
  });

  it('is in those of a refused one, and in no line of the next request', async () => {
    const headers = { traceparent: TRACEPARENT };
    const refused = await service.exchange({ subject_token: 'x' }, headers);
    expect(tracesOf(refused)).toEqual([
      [expect.stringMatching(/^a token exchange was refused/), TRACE, CALLER],
      ['request', TRACE, CALLER],
    ]);
    const next = await service.exchange({ subject_token: partner.sign() });
    expect(tracesOf(next).length).toBeGreaterThan(1);
    expect(tracesOf(next).filter(([, traceId]) => traceId !== undefined)).toEqual([]);
  });
});

/** A span as OTLP writes it in JSON. */
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}

/** Takes spans as a collector of OpenTelemetry does, and keeps them. */
class Collector {
  private readonly requests: unknown[] = [];
  private readonly server = createServer((request, response) => {
    void json(request).then((body) => {
      this.requests.push(body);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get text(): string {
    return JSON.stringify(this.requests);
  }

  get spans(): readonly Span[] {
    interface Request {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    }
    return (this.requests as Request[]).flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    );
  }

  close(): void {
    this.server.close();
  }
}

const attribute = ({ attributes }: Span, key: string) => {
  const [value] = Object.values(attributes.find((each) => each.key === key)?.value ?? {});
  return value;
};

describeBuilt('[D92] spans, by the SDK that deploy/observability/otel.mjs loads', () => {
  const partner = Partner.create({ issuer: 'https://partner.example' });
  const publisher = Partner.create({ issuer: 'https://publisher.example' });
  const collector = new Collector();
  const jwks = JwksServer.forBlock();
  let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
  let service: ServiceProcess;
  const tokens: string[] = [];

  beforeAll(async () => {
    publisher.rotate();
    jwks.publish(publisher.jwks());
    const fetched = { type: 'jwks', name: 'publisher', url: jwks.url, issuer: publisher.issuer };
    surroundings = await surroundingsOf({
      SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry(), fetched]),
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      SVC_DPOP_NONCE: 'true',
      NODE_OPTIONS: `--import ${SDK}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(),
      OTEL_BSP_SCHEDULE_DELAY: '100',
    });
    service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
    const login = partner.sign();
    tokens.push(login);
    await post('/rest/auth/embed', { token: login });
    await fetch(`${surroundings.baseUrl}/rest/auth/embed?token=${partner.sign()}`, { redirect: 'manual' });
  });
  afterAll(async () => {
    await service?.stop();
    collector.close();
    rmSync(surroundings.directory, { recursive: true, force: true });
  });

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(new URL(path, surroundings.baseUrl), {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
      headers,
    });
  const exchange = async (token: string, traceparent: string) => {
    tokens.push(token);
    return post('/rest/auth/oauth/token', { grant_type: GRANT_TYPE, subject_token: token }, { traceparent });
  };
  /** The spans of a trace once the one with this name has come, which ends last. */
  const trace = async (traceId: string, last: string) => {
    const spans = () => collector.spans.filter((span) => span.traceId === traceId);
    await until(`the span ${last} has come`, 60_000, () => spans().some(({ name }) => name === last));
    return spans();
  };
  const ROUTE = 'POST /rest/auth/oauth/token';

  it('of an exchange: the request in its caller’s trace, and its stages in it', async () => {
    const answer = await exchange(partner.sign(), TRACEPARENT);
    expect(answer.status).toBe(200);
    const spans = await trace(TRACE, ROUTE);
    const request = spans.find(({ name }) => name === ROUTE);
    expect(request).toMatchObject({ parentSpanId: CALLER, status: { code: 0 } });
    expect(request && attribute(request, 'http.response.status_code')).toBe(200);
    expect(request && attribute(request, 'http.route')).toBe('/rest/auth/oauth/token');
    const stages = spans.filter(({ name }) => name !== ROUTE);
    expect(stages.map(({ name }) => name)).toEqual(['verify', 'use', 'record']);
    expect(new Set(stages.map((stage) => stage.parentSpanId))).toEqual(new Set([request?.spanId]));
    expect(new Set(stages.map((stage) => attribute(stage, 'svc.flow')))).toEqual(new Set(['exchange']));
    const audited = async () =>
      (await logOf(service)).find(({ traceId, msg }) => traceId === TRACE && msg === 'audit');
    await until('its line is written', 60_000, async () => (await audited()) !== undefined);
    expect(await audited()).toMatchObject({ spanId: request?.spanId });
  });

  it('of a refused token: the stage has the reason, and no span has an error', async () => {
    const traceId = TRACE.replace('0af', '1af');
    await exchange(partner.sign(partner.claims({ exp: 1 })), `00-${traceId}-${CALLER}-00`);
    const spans = await trace(traceId, ROUTE);
    const verify = spans.find(({ name }) => name === 'verify');
    expect(verify && attribute(verify, 'error.type')).toBe('token_expired');
    expect(spans.map(({ status }) => status.code)).toEqual(spans.map(() => 0));
  });

  it('of key sets name the entry', async () => {
    const fetches = collector.spans.filter(({ name }) => name === 'jwks_fetch');
    expect(fetches.map((span) => attribute(span, 'svc.entry'))).toContain('publisher');
  });

  it('hold no token, e-mail address, subject, query or URL of a key set; probes have none', async () => {
    await fetch(`${surroundings.baseUrl}/healthz`);
    const claims = partner.claims();
    const traceId = TRACE.replace('0af', '2af');
    await exchange(partner.sign(claims), `00-${traceId}-${CALLER}-01`);
    await trace(traceId, ROUTE);
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['record', 'GET /rest/auth/embed']),
    );
    expect(collector.spans.filter(({ name }) => /healthz|metrics/.test(name))).toEqual([]);
    const { sub, email } = claims as { sub: string; email: string };
    const secrets = [
      ...tokens.map((token) => token.slice(-40)),
      sub,
      email,
      new URL(jwks.url).pathname,
      '?token',
      'eyJ',
    ];
    expect(secrets.filter((secret) => collector.text.includes(secret))).toEqual([]);
  });
});
