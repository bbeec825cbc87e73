// svc-admin users show, set-role, unlink and delete while the service runs, on both databases.
import { Partner } from '../../demo/partner.js';
import { VERSION } from '../../src/platform/version.js';
import { EVENT, eventsOf } from '../support/audit.js';
import { describeOnEachDatabase } from '../support/databases.js';
import { bearerStatus } from '../support/logins.js';
import { CommandLine } from '../support/run-cli.js';
import { BASE_URL, TestService } from '../support/test-service.js';

const partner = Partner.create({ issuer: 'https://partner.example', kid: 'p', audience: BASE_URL });

interface Shown {
  id: string;
  role: string;
  sessions: number;
  provisioned: boolean;
  links: { issuer: string; subject: string }[];
  signIns: { event: string; issuer: string }[];
}

describeOnEachDatabase('commands on one user', (database) => {
  const commands = new CommandLine(() => ({ ...database.environment, SVC_BASE_URL: BASE_URL }), VERSION);
  const service = TestService.forBlock(database, { trustedKeys: [partner.staticEntry()] });

  const users = (...args: string[]) => commands.output(['users', ...args]);
  const show = async (user: string) => JSON.parse(await users('show', user, '--json')) as Shown;
  const refusal = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await commands.run(['users', ...args]);
    expect([exitCode, stdout]).toEqual([1, '']);
    return stderr;
  };
  /** An access token of a person of the partner. */
  const tokenOf = async (sub: string, email: string) => {
    const response = await service.exchange({ subject_token: partner.sign(partner.claims({ sub, email })) });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const made = async (email: string, ...more: string[]) =>
    (JSON.parse(await users('create', '--email', email, ...more)) as { id: string }).id;

  it('show prints the user, the linked identities and the last sign-ins', async () => {
    await tokenOf('s-1', 'seen@users.example');
    const shown = await show('Seen@users.example');
    expect(shown).toMatchObject({
      ...{ role: 'global:member', sessions: 0, provisioned: true, hasPassword: false },
      links: [{ issuer: partner.issuer, subject: 's-1' }],
      signIns: [{ event: 'svc.audit.token-exchange.succeeded', issuer: partner.issuer }],
    });
    const logout = 'svc.audit.token-exchange.logout';
    await service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload) VALUES ($1, now(), 'r', $2, '{}')`,
      [logout, shown.id],
    );
    const text = await users('show', shown.id);
    expect(text).not.toContain(logout);
    expect(text).toMatch(/^User: +[0-9a-f-]{36}\nE-mail: +seen@users\.example\n/);
    expect(text).toMatch(/^Identity: +s-1 of https:\/\/partner\.example, since \S+Z$/m);
    expect(text).toMatch(/^Created: +\S+Z, by a token$/m);
    expect(await refusal('show', 'nobody@users.example')).toBe(
      'error: There is no user with this id or e-mail address.\n',
    );
  });

  it('[D47] set-role takes effect at once, and creates no second owner', async () => {
    const id = await made('role@users.example');
    expect(await users('set-role', id, 'global:admin')).toBe(
      `User ${id} is global:admin, and was global:member.\n`,
    );
    expect(await users('set-role', 'role@users.example', 'global:admin')).toBe(
      `User ${id} was global:admin already.\n`,
    );
    await users('set-role', id, 'global:owner');
    const [owner] = (await eventsOf(service)).slice(-1);
    expect(owner).toMatchObject({
      ...{ name: 'svc.audit.user.changed', subjectUserId: id, actorUserId: null },
      payload: { from: { role: 'global:admin', enabled: true }, to: { role: 'global:owner', enabled: true } },
    });
    const second = await made('second@users.example');
    expect(await refusal('set-role', second, 'global:owner')).toBe(
      'error: The instance has an owner already, and there is at most one.\n',
    );
    expect(await refusal('delete', id, '--yes')).toContain('The owner cannot be deleted');
    await users('set-role', id, 'global:member');
    expect((await show(id)).role).toBe('global:member');
    expect((await commands.run(['users', 'set-role', id, 'king'])).exitCode).toBe(2);
  });

  it('unlink removes a link by e-mail address and ends its access, but keeps the link that created the user (2.5.2)', async () => {
    const id = await made('linked@users.example');
    const accessToken = await tokenOf('wrong', 'linked@users.example');
    expect([(await show(id)).links.length, await bearerStatus(service, accessToken)]).toEqual([1, 200]);
    const link = ['--issuer', partner.issuer, '--subject', 'wrong'];
    expect(await users('unlink', id, ...link)).toMatch(
      /is unlinked from 1 identity of https:\/\/partner\.example, and signed out everywhere/,
    );
    expect([(await show(id)).links, await bearerStatus(service, accessToken)]).toEqual([[], 401]);
    expect(await refusal('unlink', id, ...link)).toContain('has no such identity');
    // The identity is linked again, to the user who now has the address.
    await tokenOf('wrong', 'other@users.example');
    expect(await refusal('unlink', 'other@users.example', ...link)).toContain(
      'created the user and cannot be unlinked',
    );
    expect((await show('other@users.example')).provisioned).toBe(true);
  });

  it('delete ends access, and keeps only audit events', async () => {
    const accessToken = await tokenOf('gone', 'gone@users.example');
    const { id } = await show('gone@users.example');
    expect(await refusal('delete', 'gone@users.example')).toMatch(
      /^error: Nothing was deleted\. It would delete user \S+, gone@users\.example, global:member, with 1 linked/,
    );
    expect(await bearerStatus(service, accessToken)).toBe(200);
    expect(await users('delete', 'gone@users.example', '--yes')).toContain(`User ${id} is deleted`);
    expect(await bearerStatus(service, accessToken)).toBe(401);
    for (const [table, column] of [
      ['user_account', 'id'],
      ['project', 'personal_owner_id'],
      ['token_exchange_identity_link', 'user_id'],
    ])
      expect(await service.rows(`SELECT 1 FROM ${table} WHERE ${column} = '${id}'`)).toEqual([]);
    const events = (await eventsOf(service)).filter((event) => JSON.stringify(event).includes(id));
    expect(events.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        ['succeeded', 'user-signed-out']
          .map((name) => `${EVENT}${name}`)
          .concat('svc.audit.administration.performed', 'svc.audit.user.changed'),
      ),
    );
    // The same person signs in again as a new user.
    await tokenOf('gone', 'gone@users.example');
    expect((await show('gone@users.example')).id).not.toBe(id);
  });
});
