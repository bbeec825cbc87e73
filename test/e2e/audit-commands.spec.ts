// svc-admin audit: list, tail and export, on PostgreSQL and through the service that has the embedded database.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Partner } from '../../demo/partner.js';
import { runCli } from '../../src/cli/program.js';
import { VERSION } from '../../src/platform/version.js';
import { eventsOf, untilTrailIsSettled } from '../support/audit.js';
import { describeOnEachDatabase, describeOnEmbedded } from '../support/databases.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const ROWS = 1_300;
/** What a command needs to know persons by. */
const OF_SERVICE = {
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
};

interface Line {
  id: string;
  event: string;
  requestId: string;
  payload: Record<string, unknown>;
}

describeOnEachDatabase('[D84] the trail by commands', (database) => {
  const environment = () => ({ ...database.environment, ...OF_SERVICE });
  const line = new CommandLine(environment, VERSION);
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

  beforeAll(async () => {
    await service.embed(
      { token: partner.sign(partner.claims({ sub: 'ada' })) },
      { 'x-request-id': 'login-of-ada' },
    );
    const eve = { sub: 'eve', email: 'eve@partner.example', aud: 'https://other.example' };
    await service.exchange(
      { subject_token: partner.sign(partner.claims(eve)) },
      { 'x-request-id': 'refusal-of-eve' },
    );
    await service.exchange({ subject_token: 'x' }, { 'x-request-id': 'nonsense-1' });
  });

  const parsed = (text: string) =>
    text
      .split('\n')
      .filter((each) => each !== '')
      .map((each) => JSON.parse(each) as Line);
  const requestsOf = (lines: readonly Line[]) => lines.map(({ requestId }) => requestId);

  it('[D84] list: a table, the newest first; each reading is in the trail, by its operation alone', async () => {
    const table = await line.output(['audit', 'list']);
    const [headings, first, ...rest] = table.trimEnd().split('\n');
    expect(headings).toMatch(/^TIME +EVENT +SUBJECT +ACTOR +REQUEST +PAYLOAD$/);
    expect(first).toMatch(/administration\.read +- +- .* operation=audit list way=\w+ targets=\{\}$/);
    expect(rest.join('\n')).toMatch(
      /token-exchange\.failed .*reason=token_malformed.*clientAddress=127\.0\.0\.1/,
    );
    const rows = await eventsOf(service);
    const way = database.kind === 'embedded' ? 'service' : 'database';
    expect(rows.at(-1)?.payload).toEqual({ operation: 'audit list', way, targets: {} });
  });

  it.each([
    [['--event', 'token-exchange.embed*'], ['login-of-ada']],
    [['--user', 'ada@partner.example', '--event', 'token-exchange.embed-login'], ['login-of-ada']],
    [['--subject', 'ADA@partner.example', '--event', 'token-exchange.user*'], ['login-of-ada']],
    [['--person', 'eve'], ['refusal-of-eve']],
    [['--issuer', partner.issuer, '--event', 'token-exchange.embed-login'], ['login-of-ada']],
    [['--until', '1h'], []],
  ])('[D84] list --json: %j', async (options, requests) => {
    expect(requestsOf(parsed(await line.output(['audit', 'list', '--json', ...options])))).toEqual(requests);
  });

  it('[D84] says where nothing is found, and where there are more', async () => {
    expect(await line.run(['audit', 'list', '--request-id', 'nobody-1'])).toEqual({
      ...{ exitCode: 0, stdout: '', stderr: 'No event was found.\n' },
    });
    expect((await line.run(['audit', 'list', '--reason', 'nonsense'])).stderr).toBe(
      'error: --reason must be the reason of a refusal; see docs/refusals.md.\n',
    );
    const { stdout, stderr } = await line.run(['audit', 'list', '--limit', '1', '--json']);
    const remark = 'There are more than 1: see --limit and --until.';
    expect([parsed(stdout).length, JSON.parse(stderr)]).toEqual([1, { remark }]);
  });

  it.each([
    [['--user', 'nobody@partner.example'], 1, 'error: There is no user with this id or e-mail address.'],
    [['--since', 'yesterday'], 2, 'error: --since must be a moment such as 2031-05-01'],
    [['--limit', '0'], 2, 'It must be a whole number from 1 to 10000.'],
  ])('[D84] refused: %j', async (options, exitCode, message) => {
    const said = await line.run(['audit', 'list', ...options]);
    expect([said.exitCode, said.stdout]).toEqual([exitCode, '']);
    expect(said.stderr).toContain(message);
  });

  it('[D85] export contains all events of a period, the oldest first, over many pages', async () => {
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT 'svc.audit.token-exchange.failed', timestamptz '2031-05-01' + make_interval(secs => n), 'old-' || n, '{}'
       FROM generate_series(1, ${ROWS}) n`,
    );
    const time = ['--since', '2031-05-01', '--until', '2031-05-02'];
    const exported = requestsOf(parsed(await line.output(['audit', 'export', ...time])));
    expect(exported).toEqual(Array.from({ length: ROWS }, (_, index) => `old-${index + 1}`));
    await service.rows(`DELETE FROM audit_event WHERE request_id LIKE 'old-%'`);
  });

  it('[D85] export reports that it is incomplete if the service stops meanwhile', async () => {
    if (database.kind !== 'embedded') return;
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, payload)
       SELECT 'svc.audit.api.called', timestamptz '2031-05-01' + make_interval(secs => n), 'old-' || n, '{}'
       FROM generate_series(1, 40000) n`,
    );
    const time = ['--since', '2031-05-01', '--until', '2031-05-02'];
    const { said, ended } = running(['audit', 'export', ...time]);
    await until('it has begun', PATIENCE_MS, () => said.stdout !== '');
    await service.restart();
    const [exitCode, { stdout, stderr }] = [await ended, said];
    await service.rows(`DELETE FROM audit_event WHERE request_id LIKE 'old-%'`);
    const lines = stdout.split('\n').length - 1;
    expect([exitCode, lines < 40_000]).toEqual([1, true]);
    expect(stderr).toMatch(
      /^error: (Reading was stopped: the list is incomplete|.*(stop|ended|gone|connection))/,
    );
  });

  /** An open transaction in any database of the server delays the trail, including those of other test files. */
  const PATIENCE_MS = 90_000;

  /** A running command, with its output so far. The test can close its output. */
  const running = (args: string[]) => {
    const said = { stdout: '', stderr: '', isClosed: false };
    const ended = runCli(args, {
      environment: database.environment,
      workingDirectory: line.folder,
      stdin: { read: () => Buffer.of() },
      stdout: {
        write: (text: string) => void (said.stdout += text),
        get isClosed() {
          return said.isClosed;
        },
      },
      stderr: { write: (text: string) => void (said.stderr += text) },
      version: VERSION,
    });
    return { said, ended };
  };
  const tail = (...options: string[]) => running(['audit', 'tail', ...options]);

  it('[D85] tail shows the last events and then new ones, until its reader disconnects', async () => {
    await untilTrailIsSettled((sql) => service.rows(sql));
    const { said, ended } = tail('--json', '--lines', '1', '--event', 'token-exchange.failed');
    await until('it shows the last one', PATIENCE_MS, () => parsed(said.stdout).length === 1);
    expect(requestsOf(parsed(said.stdout))).toEqual(['nonsense-1']);
    for (const count of [2, 3]) {
      await service.exchange({ subject_token: 'x' }, { 'x-request-id': `nonsense-${count}` });
      await service.fetch('/rest/me');
      await until('it shows the next', PATIENCE_MS, () => parsed(said.stdout).length === count);
    }
    said.isClosed = true;
    expect(await ended).toBe(0);
    expect(requestsOf(parsed(said.stdout))).toEqual(['nonsense-1', 'nonsense-2', 'nonsense-3']);
    await pause(50);
  });

  it('[D85] tail prints lines for people, and does not delay the stop of the service', async () => {
    const { said, ended } = tail('--lines', '0');
    // Again and again: it says nothing of when it has begun.
    await until('it shows a line', PATIENCE_MS, async () => {
      await service.exchange({ subject_token: 'x' }, { 'x-request-id': 'nonsense-4' });
      return said.stdout.includes('nonsense-4');
    });
    expect(said.stdout).toMatch(/^\S+Z {2}token-exchange\.failed +- +- +nonsense-4 +reason=/m);
    if (database.kind === 'embedded') {
      await service.restart();
      expect([await ended, said.stderr]).toEqual([0, 'The service has stopped.\n']);
    } else {
      said.isClosed = true;
      expect(await ended).toBe(0);
    }
  });
});

describeOnEmbedded('[D84] the trail by commands, without the key of the service', (database) => {
  it('refuses to look for a person, and makes no key', async () => {
    const environment = database.environment;
    const keyFile = join(String(environment['SVC_DATA_DIR']), 'encryption.key');
    const { exitCode, stdout, stderr } = await new CommandLine(() => environment, VERSION).run([
      ...['audit', 'list', '--person', 'ada'],
    ]);
    expect([exitCode, stdout, existsSync(keyFile)]).toEqual([1, '', false]);
    expect(stderr).toContain(`${keyFile} does not exist: set SVC_ENCRYPTION_KEY as for the service.`);
  });
});
