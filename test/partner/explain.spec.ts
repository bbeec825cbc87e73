// The client asks why its token was refused, by its method and by its command.
import { freePort } from '../../demo/free-port.js';
import { Partner } from '../../demo/partner.js';
import type { PartnerError } from '../../packages/partner/src/index.js';
import { createPartner } from '../../packages/partner/src/index.js';
import { describeOnAnyDatabase } from '../support/databases.js';
import { TestService } from '../support/test-service.js';
import { CheckFolder } from './support/check-run.js';

const ISSUER = 'https://partner.example';
const BUILD_MS = 300_000;
const ELSEWHERE = 'https://elsewhere.example';

describeOnAnyDatabase("[D146] a partner's explanation request", (database) => {
  const key = Partner.create({ issuer: ISSUER, kid: '2026-11' });
  let service: TestService;
  let baseUrl: string;
  let folder: CheckFolder;

  beforeAll(async () => {
    folder = new CheckFolder(key);
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    service = await TestService.start(database, {
      trustedKeys: [key.staticEntry({ expectedAudience: baseUrl, mayExplain: true })],
      environment: { SVC_PORT: String(port), SVC_BASE_URL: baseUrl },
    });
  }, BUILD_MS);
  afterAll(async () => {
    await service?.stop();
    folder?.remove();
  });

  const partnerFor = (audience: string) =>
    createPartner({ issuer: ISSUER, baseUrl, audience, key: { key: key.privateKeyPem(), kid: key.kid } });
  const refusal = async () => {
    const refused = partnerFor(ELSEWHERE).exchange({ subject: 'ada' });
    return refused.then(
      () => {
        throw new Error('the exchange was accepted');
      },
      (error: PartnerError) => error,
    );
  };
  const command = (requestId: string, ...more: string[]) =>
    folder.run([
      ...['explain', '--base-url', baseUrl, '--key', 'key.pem', '--kid', key.kid, '--issuer', ISSUER],
      ...more,
      requestId,
    ]);

  it('returns check, cause and remedy by the request id of an error, which says so', async () => {
    const error = await refusal();
    expect(error.message).toContain('explain(requestId) says why');
    const explanation = await partnerFor(baseUrl).explain(error.requestId!);
    expect(explanation).toMatchObject({
      ...{ requestId: error.requestId, flow: 'exchange', party: 'subject', check: 'audience' },
      ...{ reason: 'audience_mismatch', expected: baseUrl, found: ELSEWHERE },
    });
    expect(Math.abs(explanation.occurredAt.getTime() - Date.now())).toBeLessThan(600_000);
  });

  it('returns not_found for another id, and sends nothing without one', async () => {
    const partner = partnerFor(baseUrl);
    await expect(partner.explain('0b6a3c1d')).rejects.toMatchObject({ code: 'not_found', status: 404 });
    await expect(partner.explain('')).rejects.toMatchObject({ code: 'invalid_option', tries: 0 });
  });

  it('is available as a command, as text and as JSON', async () => {
    const { requestId = '' } = await refusal();
    const { exitCode, stdout, stderr } = await command(requestId);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Check: {4}audience \(audience_mismatch\)$/m);
    expect(stdout).toContain(`Found:    ${ELSEWHERE}\n`);
    const json = await command(requestId, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ requestId, reason: 'audience_mismatch' });
  });

  it('has exit codes for an unknown id and for wrong arguments', async () => {
    const unknown = await command('0b6a3c1d');
    expect([unknown.exitCode, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain('not_found');
    for (const args of [
      ['explain'],
      ['explain', '--key', 'none.pem', 'x'],
      ['explain', '--key', 'key.pem'],
    ]) {
      const { exitCode, stderr } = await folder.run(args);
      expect([args, exitCode]).toEqual([args, 2]);
      expect(stderr).toContain('Usage: npx @embedded-token-exchange/partner explain');
    }
    const help = await folder.run(['explain', '--help']);
    expect([help.exitCode, help.stdout.startsWith('Usage:')]).toEqual([0, true]);
  });
});
