// svc-admin keys refresh: the running service fetches a key set at once, on both databases.
import { Partner } from '../../demo/partner.js';
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { JwksServer } from '../support/jwks-server.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const ISSUER = 'https://acme.example';
const partnerWith = (kid: string) => Partner.create({ issuer: ISSUER, kid, audience: BASE_URL });

describeOnEachDatabase('[D36] keys refresh', (database) => {
  let service: TestService | undefined;
  const server = JwksServer.forBlock();
  const allowHttp = { SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true' };
  const trustedKeys = () => [
    { type: 'jwks', url: server.url, issuer: ISSUER, name: 'acme', cacheTtlSeconds: 86_400 },
    partnerWith('static').staticEntry(),
  ];
  const line = CommandLine.beside(database, trustedKeys);

  beforeAll(async () => {
    server.publish(partnerWith('first').jwks());
    service = await TestService.start(database, { trustedKeys: trustedKeys(), environment: allowHttp });
    await until('the first keys are fetched', 60_000, () => server.requestCount > 0);
  });
  afterAll(() => service?.stop());

  const refresh = async (...args: string[]) => {
    const refreshing = ['keys', 'refresh', '--wait', '60', '--json', ...args];
    const { exitCode, stdout, stderr } = await line.run(refreshing);
    return { exitCode, stderr, all: JSON.parse(stdout || '[]') as object[] };
  };

  it('[D36] fetches newly published keys long before the next regular fetch', async () => {
    const second = partnerWith('second');
    server.publish(second.jwks());
    const { exitCode, stderr, all } = await refresh('acme');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(all).toMatchObject([{ entry: 'acme', fetched: true, failure: null, kids: ['second'] }]);
    const text = JSON.stringify(await eventsOf(service!));
    expect(text).toContain('"operation":"keys refresh"');
    const told = await line.output(['keys', 'status']);
    expect(told).toContain('second');
  });

  it('[D36] fails with a message if no instance fetches', async () => {
    await service?.stop();
    service = undefined;
    const { exitCode, stderr } = await line.run(['keys', 'refresh', '--wait', '1']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('No service fetched within 1 seconds')]);
  });
});
