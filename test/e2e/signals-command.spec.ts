// svc-admin signals against a transmitter that keeps streams as the Shared Signals Framework 1.0 and Keycloak do, at a real HTTP server.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Members } from '../../demo/partner.js';
import { EVENT, eventsOf } from '../support/audit.js';
import type { TestDatabase } from '../support/databases.js';
import { describeOnPostgresql } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { metricsOf } from '../support/metric-samples.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { EVENT_TYPES, EVENTS_PATH, TestTransmitter } from '../support/transmitter.js';

const TOKEN = 'access-token-of-the-receiver';

/** Its streams. What it delivers goes to the service that the test runs, since the address of the instance is not its own. */
class StreamServer {
  readonly streams: Members[] = [];
  readonly requests: string[] = [];
  /** Those with a credential. */
  readonly authorized: string[] = [];
  audience: unknown;
  /** Metadata that replace the usual ones. */
  published: Members = {};
  delivers = true;

  constructor(
    readonly transmitter: TestTransmitter,
    private readonly service: () => TestService,
  ) {
    transmitter.keySet.answerWith((response, request) => void this.answer(request, response));
  }

  private get origin(): string {
    return new URL(this.transmitter.keySet.url).origin;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Members);
    const { pathname, searchParams } = new URL(request.url ?? '', this.origin);
    this.requests.push(`${request.method} ${pathname}`);
    if (request.headers.authorization !== undefined)
      this.authorized.push(`${request.headers.host}${pathname}`);
    const json = (status: number, value?: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(value && JSON.stringify(value));
    if (request.url === new URL(this.transmitter.keySet.url).pathname)
      return void json(200, this.transmitter.provider.jwks());
    if (pathname === '/realms/staff/.well-known/ssf-configuration') return void json(200, this.metadata());
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return void json(401);
    if (pathname === '/streams')
      return void json(...this.configure(request.method ?? '', body, searchParams));
    if (pathname === '/status')
      return void json(200, { stream_id: searchParams.get('stream_id'), status: 'enabled' });
    if (pathname !== '/verify') return void json(404);
    await this.verify(body);
    json(204);
  }

  private metadata(): Members {
    return {
      issuer: this.transmitter.issuer,
      jwks_uri: this.transmitter.keySet.url,
      delivery_methods_supported: ['urn:ietf:rfc:8935'],
      configuration_endpoint: `${this.origin}/streams`,
      status_endpoint: `${this.origin}/status`,
      verification_endpoint: `${this.origin}/verify`,
      ...this.published,
    };
  }

  private configure(method: string, body: Members, query: URLSearchParams): [number, unknown?] {
    if (method === 'GET') return [200, this.streams];
    if (method === 'DELETE') {
      this.streams.splice(
        0,
        this.streams.length,
        ...this.streams.filter((one) => one['stream_id'] !== query.get('stream_id')),
      );
      return [204];
    }
    const present = this.streams.find((one) => one['stream_id'] === body['stream_id']);
    const fixed = { stream_id: randomUUID(), iss: this.transmitter.issuer, aud: this.audience };
    const stream = {
      ...fixed,
      ...present,
      ...body,
      aud: this.audience,
      events_delivered: body['events_requested'],
    };
    if (present === undefined) this.streams.push(stream);
    else Object.assign(present, stream);
    return [present === undefined ? 201 : 200, stream];
  }

  private async verify({ stream_id: id, state }: Members): Promise<void> {
    if (!this.delivers) return;
    const now = Math.floor(Date.now() / 1000);
    const [stream] = this.streams as { delivery: { authorization_header: string } }[];
    const token = this.transmitter.token('verification', now, { format: 'opaque', id }, { state });
    const authorization = stream!.delivery.authorization_header;
    await this.transmitter.send(this.service(), token, { authorization });
  }
}

describeOnPostgresql('svc-admin signals', (database: TestDatabase) => {
  const keySet = JwksServer.forBlock();
  let server: StreamServer;
  let cli: CommandLine;
  let tokenFile: string;
  const run = (command: string, ...more: string[]) =>
    cli.run([
      'signals',
      command,
      '--transmitter',
      server.transmitter.issuer,
      '--token-file',
      tokenFile,
      ...more,
    ]);

  const service = TestService.forBlock(database, () => {
    const issuer = `${new URL(keySet.url).origin}/realms/staff`;
    server = new StreamServer(new TestTransmitter(issuer, keySet), () => service);
    server.audience = [server.transmitter.audience];
    const environment = {
      SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
      SVC_SIGNALS_TRANSMITTERS: JSON.stringify([server.transmitter.configured()]),
      SVC_BASE_URL: BASE_URL,
    };
    cli = new CommandLine(() => ({ ...database.environment, ...environment }));
    tokenFile = cli.write('access.token', `${TOKEN}\n`);
    return { environment };
  });

  it('[D147] connect creates the stream with the secret of the transmitter, and sees its verification event', async () => {
    const { exitCode, stdout, stderr } = await run('connect', '--json');
    expect([exitCode, stderr]).toEqual([0, '']);
    const [stream] = server.streams;
    expect(JSON.parse(stdout)).toMatchObject({ streamId: stream?.['stream_id'], verified: true });
    expect(stream).toMatchObject({
      delivery: {
        method: 'urn:ietf:rfc:8935',
        endpoint_url: BASE_URL + EVENTS_PATH,
        authorization_header: `Bearer ${server.transmitter.secret}`,
      },
      events_requested: Object.entries(EVENT_TYPES)
        .filter(([name]) => name !== 'verification' && name !== 'device-compliance-change')
        .map(([, uri]) => uri),
    });
    const verified = (await eventsOf(service)).filter(({ name }) => name === `${EVENT}signal`);
    expect(verified).toMatchObject([{ payload: { event: 'verification', effect: 'verified' } }]);
  });

  it('[D91] the key set of the transmitter and what it sent are in metrics and keys status', async () => {
    const { issuer, provider } = server.transmitter;
    const labels = `entry="signals:${issuer}",issuer="${issuer}"`;
    const lines = (await metricsOf(service)).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        `svc_trusted_keys{${labels}} 1`,
        `svc_jwks_state{${labels},state="held"} 1`,
        'svc_security_events_total{event="verification",effect="verified"} 1',
      ]),
    );
    expect(JSON.parse(await cli.output(['keys', 'status', '--json']))).toMatchObject([
      { entry: `signals:${issuer}`, url: keySet.url, state: 'held', kids: [provider.kid] },
    ]);
    expect(JSON.parse(await cli.output(['keys', 'refresh', `signals:${issuer}`, '--json']))).toMatchObject([
      { fetched: true, state: 'held' },
    ]);
  });

  it('connect again updates the stream that there is', async () => {
    expect((await run('connect')).exitCode).toBe(0);
    expect(server.streams).toHaveLength(1);
    expect(server.requests).toContain('PATCH /streams');
  });

  it('status shows the stream, and disconnect deletes it', async () => {
    const { stdout } = await run('status', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ status: 'enabled', audience: [server.transmitter.audience] });
    expect((await run('disconnect')).exitCode).toBe(0);
    expect(server.streams).toEqual([]);
    expect(await run('status')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`The transmitter has no stream to ${BASE_URL}${EVENTS_PATH}.`),
    });
  });

  it('says which audience the events have, if it is another one', async () => {
    server.audience = 'client/stream';
    const { exitCode, stderr } = await run('connect');
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('have the audience client/stream: set it'),
    ]);
    server.audience = [server.transmitter.audience];
  });

  it('says that no verification event has arrived', async () => {
    server.delivers = false;
    const { exitCode, stderr } = await run('connect');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('no verification event has arrived')]);
    server.delivers = true;
  });

  it('says that the token is refused, and never shows a secret', async () => {
    const other = cli.write('other.token', 'another');
    const args = ['--transmitter', server.transmitter.issuer, '--token-file', other];
    const { exitCode, stdout, stderr } = await cli.run(['signals', 'connect', ...args]);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('with status 401: the token of --token-file is not accepted');
    expect(stderr).not.toContain(server.transmitter.secret);
  });

  it('[D147] sends the token to the origin of the transmitter alone, and not for its public metadata', async () => {
    // Another name of the same machine.
    const elsewhere = new URL(keySet.url).origin.replace('127.0.0.1', 'localhost');
    for (const [command, name] of [
      ['connect', 'configuration_endpoint'],
      ['status', 'status_endpoint'],
    ] as const) {
      if (command === 'status') expect((await run('connect')).exitCode).toBe(0);
      server.authorized.length = 0;
      server.published = { [name]: `${elsewhere}/streams` };
      const { exitCode, stderr } = await run(command);
      server.published = {};
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringContaining(`publishes its ${name} at ${elsewhere}, which is not the issuer's origin`),
      ]);
      expect(server.authorized).toEqual(command === 'connect' ? [] : [`${new URL(keySet.url).host}/streams`]);
    }
  });

  it('knows configured transmitters only', async () => {
    const args = ['--transmitter', 'https://elsewhere.example', '--token-file', tokenFile];
    const { exitCode, stderr } = await cli.run(['signals', 'connect', ...args]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('has no transmitter with this issuer')]);
  });
});
