// `svc-admin users set-password`: on the database itself and through the running service.
import { eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { errorOf, OPERATOR_ENVIRONMENT, OperatorBrowser, PASSWORD } from '../support/operators.js';
import { CommandLine } from '../support/run-cli.js';
import { TestService } from '../support/test-service.js';

describeOnEachDatabase('svc-admin users set-password', (database) => {
  const line = new CommandLine(() => database.environment);
  const set = (args: string[], stdin = '', typed?: string[]) =>
    line.run(['users', 'set-password', ...args], undefined, stdin, { typed });

  beforeAll(async () => {
    for (const [email, role] of [
      ['ada@example.com', 'global:owner'],
      ['bob@example.com', 'global:admin'],
      ['member@example.com', 'global:member'],
    ] as const)
      await line.output(['users', 'create', '--email', email, '--role', role]);
  });

  it('[D106] asks twice, or reads a line, and takes no password that breaks a rule', async () => {
    const [email] = ['ada@example.com'];
    expect(await set([email], '', [PASSWORD, `${PASSWORD}.`])).toMatchObject({
      exitCode: 1,
      stderr: 'error: The passwords differ.\n',
    });
    expect((await set([email])).stderr).toContain('There is no terminal to ask for the password');
    expect((await set([email, '--password-stdin'], 'short\n')).stderr).toBe(
      'error: The password must have at least 12 characters.\n',
    );
    expect((await set([email, '--code', '--password-stdin'])).exitCode).toBe(2);
    const done = await set([email], '', [PASSWORD, PASSWORD]);
    expect(done).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^User .* has a new password, for http:\/\/localhost:5678\/admin \(which is off: set SVC_ADMIN_ENABLED=true\)/,
      ) as string,
    });
    expect((await set(['bob@example.com', '--password-stdin'], `${PASSWORD}\r\n`)).exitCode).toBe(0);
  });

  it('[D106] sets none for a member, and none for an unknown user', async () => {
    for (const mode of ['--code', '--password-stdin']) {
      expect((await set(['member@example.com', mode], PASSWORD)).stderr).toContain(
        'Only users with one of the roles',
      );
      expect((await set(['nobody@example.com', mode], PASSWORD)).stderr).toContain('There is no user');
    }
  });

  it('[D105] lets in by what it has set, and [D106] by the code that it prints, of which nothing is stored or shown', async () => {
    const { stdout, stderr } = await set(['bob@example.com', '--code']);
    expect(stdout).toMatch(/^([2-9A-HJKMNP-Z]{4}-){4}[2-9A-HJKMNP-Z]{4}\n$/);
    expect(stderr).toContain('works once, within 15 minutes');
    // A configuration that cannot be read is named before another code replaces it.
    const unread = { ...database.environment, SVC_BASE_URL: 'no address' };
    expect((await line.run(['users', 'set-password', 'bob@example.com', '--code'], unread)).exitCode).toBe(1);
    const service = await TestService.start(database, { environment: OPERATOR_ENVIRONMENT });
    try {
      expect((await new OperatorBrowser(service).signIn('ada@example.com')).status).toBe(201);
      const bob = new OperatorBrowser(service);
      expect((await bob.signIn('bob@example.com')).status).toBe(201);
      const body = { email: 'bob@example.com', code: stdout.trim(), newPassword: `${PASSWORD} of bob` };
      const byCode = new OperatorBrowser(service);
      byCode.keeping(await byCode.send('POST', 'password', body));
      expect([await byCode.status(), await bob.status()]).toEqual([200, 401]);
      expect(await errorOf(await bob.signIn('bob@example.com'))).toEqual([401, 'invalid_credentials']);
      const told = JSON.stringify([
        await eventsOf(service),
        await service.rows('SELECT password_hash, code_hash FROM operator_password'),
      ]);
      for (const secret of [PASSWORD, stdout.trim(), stdout.trim().replaceAll('-', '')]) {
        expect(told).not.toContain(secret);
        expect(service.logText).not.toContain(secret);
      }
      const performed = (await eventsOf(service)).filter(
        ({ name, payload }) =>
          name.endsWith('administration.performed') && payload['operation'] === 'users set-password',
      );
      expect(performed.map(({ payload }) => payload['way'])).toEqual(Array(3).fill('database'));
    } finally {
      await service.stop();
    }
  });
});
