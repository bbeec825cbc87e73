// A command on a machine whose clock is wrong reads and compares times by the clock of the database.
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { describeOnPostgresql } from '../support/databases.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const HOUR_MS = 3_600_000;
const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const other = Partner.create({ issuer: 'https://other.example', audience: BASE_URL });
const REAL = [
  'nextTick',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'performance',
  'hrtime',
] as const;
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

describeOnPostgresql('[D59] a command whose clock is wrong', (database) => {
  const environment = () => ({ ...database.environment, SVC_BASE_URL: BASE_URL });
  const command = new CommandLine(environment, VERSION);
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });
  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
  const requestsSince = async (since: string) => {
    const lines = (await command.output(['audit', 'list', '--since', since, '--json'])).trim().split('\n');
    return lines.map((line) => (JSON.parse(line) as { requestId: string }).requestId);
  };

  beforeAll(async () => {
    await service.embed({ token: partner.sign() });
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       VALUES ('svc.audit.token-exchange.failed', now() - interval '2 hours', 'two-hours-ago', '{}'),
         ('svc.audit.token-exchange.failed', now() - interval '1 minute', 'a-minute-ago', '{}')`,
    );
    const entry = { ...other.staticEntry(), name: 'other', notAfter: inHours(1) };
    const added = await command.run(['keys', 'add', '--file', '-'], undefined, JSON.stringify(entry));
    expect(added.exitCode).toBe(0);
  });
  afterEach(() => jest.useRealTimers());

  describe.each([-3, 0, 3])('by %d hours', (hours) => {
    const setClock = () =>
      jest.useFakeTimers({ now: Date.now() + hours * HOUR_MS, doNotFake: [...REAL, ...TIMERS] });

    it('says of an entry that it has not ended', async () => {
      setClock();
      const entries = JSON.parse(await command.output(['keys', 'list', '--json'])) as { state: string }[];
      expect(entries).toMatchObject([{ state: 'trusted' }]);
    });

    it('finds the events since some time ago, and since a moment', async () => {
      const moment = inHours(-1);
      setClock();
      for (const since of ['1h', moment]) {
        const found = await requestsSince(since);
        expect(found).toContain('a-minute-ago');
        expect(found).not.toContain('two-hours-ago');
      }
      expect(await requestsSince('3h')).toContain('two-hours-ago');
    });
  });
});
