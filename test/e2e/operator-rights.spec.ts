// Actions on the operator's page that the owner may perform and administrators may not, also if two act at once.
import { randomUUID } from 'node:crypto';
import { Partner } from '../../demo/partner.js';
import { PasswordHasher } from '../../src/administration/accounts/passwords.js';
import { eventsOf } from '../support/audit.js';
import { untilOneIsBlocked } from '../support/blocked-transactions.js';
import { describeOnEachDatabase, describeOnPostgresql } from '../support/databases.js';
import { setting } from '../support/entry-edits.js';
import { changeUser, createUser, linkUser, storedUser } from '../support/local-users.js';
import type { OperatorBrowser } from '../support/operators.js';
import {
  createOperator,
  errorOf,
  OPERATOR_ENVIRONMENT,
  OperatorBrowser as Browser,
  PASSWORD,
  signedIn,
} from '../support/operators.js';
import { BASE_URL, TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

const partner = Partner.create({ issuer: 'https://partner.example', audience: BASE_URL });
const configured = Partner.create({ issuer: 'https://configured.example', audience: BASE_URL });
const REFUSED = [409, 'refused'];
const REACHES = 'Only the owner can change trust that covers the owner or administrators.';
const KNOWN = 'Only the owner can add an entry for an issuer that has users or another entry.';
const LOGOUTS = "Only the owner can change an entry that affects another entry's logouts.";

/** An entry with a key of the sender's own. */
function ownKey(issuer: string, name: string, more: object = {}) {
  const own = Partner.create({ issuer, kid: name, audience: BASE_URL });
  return { entry: { ...own.staticEntry(), name, ...more } };
}

describeOnEachDatabase('an administrator beside the owner', (database) => {
  const trustedKeys = [{ ...configured.staticEntry(), excludeOwner: true, linkPrivileged: false }];
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT, trustedKeys });
  let ownerId: string;
  let adminId: string;
  let owner: OperatorBrowser;
  let admin: OperatorBrowser;

  beforeAll(async () => {
    ownerId = await createOperator(service, 'owner@example.com', 'global:owner');
    adminId = await createOperator(service, 'admin@example.com');
    owner = await signedIn(service, 'owner@example.com');
    admin = await signedIn(service, 'admin@example.com');
  });
  const entry = (more: object) => ({ entry: { ...partner.staticEntry(), name: 'partner', ...more } });
  const set = (browser: OperatorBrowser, members: object) => browser.putEntry('partner', setting(members));
  const operationsOf = async (userId: string) =>
    (await eventsOf(service)).filter(
      ({ name, subjectUserId }) => name.startsWith('svc.audit.administration.') && subjectUserId === userId,
    );

  it('[D121] cannot add or resume an entry that reaches the owner or administrators, but can suspend and remove every entry', async () => {
    for (const broad of [{ linkPrivileged: true }, { excludeOwner: false }]) {
      const answer = await admin.send('POST', 'entries', entry(broad));
      expect([answer.status, await answer.json()]).toMatchObject([409, { message: REACHES }]);
    }
    expect((await admin.send('POST', 'entries', entry({}))).status).toBe(201);
    for (const broad of [{ linkPrivileged: true }, { excludeOwner: false }])
      expect(await errorOf(await set(admin, broad))).toEqual(REFUSED);
    expect((await set(admin, { provisionUsers: false })).status).toBe(200);

    expect((await set(owner, { linkPrivileged: true })).status).toBe(200);
    expect(await errorOf(await set(admin, { provisionUsers: true }))).toEqual(REFUSED);
    expect((await admin.send('POST', 'entries/partner/suspend')).status).toBe(200);
    expect(await errorOf(await admin.send('POST', 'entries/partner/resume'))).toEqual(REFUSED);
    expect((await owner.send('POST', 'entries/partner/resume')).status).toBe(200);
    expect((await admin.send('POST', 'entries/partner/suspend')).status).toBe(200);
    expect((await set(admin, { linkPrivileged: false })).status).toBe(200);
    expect((await admin.send('POST', 'entries/partner/resume')).status).toBe(200);
    expect((await admin.send('DELETE', 'entries/partner')).status).toBe(200);
    const failed = (await operationsOf(adminId)).filter(({ name }) => name.endsWith('.failed'));
    expect(failed.map(({ payload }) => payload.operation)).toEqual([
      ...['keys add', 'keys add', 'keys policy', 'keys policy', 'keys policy', 'keys resume'],
    ]);
  });

  it('[D121] cannot add an entry for an issuer that has users or another entry', async () => {
    const left = 'https://left.example';
    await linkUser(service, left, 'linked', await createUser(service, { email: 'left@example.com' }));
    const stored = 'https://stored.example';
    expect((await admin.send('POST', 'entries', ownKey(stored, 'first'))).status).toBe(201);
    expect((await admin.send('POST', 'entries/first/suspend')).status).toBe(200);
    for (const [index, issuer] of [left, stored, configured.issuer].entries()) {
      const added = ownKey(issuer, `own-${index}`);
      const answer = await admin.send('POST', 'entries', added);
      expect([answer.status, await answer.json()]).toMatchObject([409, { message: KNOWN }]);
      expect((await owner.send('POST', 'entries', added)).status).toBe(201);
    }
  });

  it("[D121] cannot add or change an entry so that it affects another entry's logouts", async () => {
    const sent = { logoutIssuer: 'https://provider.example' };
    expect((await owner.send('POST', 'entries', ownKey('https://sent.example', 'sent', sent))).status).toBe(
      201,
    );
    expect((await admin.send('POST', 'entries', ownKey('https://plain.example', 'plain'))).status).toBe(201);
    for (const added of [
      ownKey(sent.logoutIssuer, 'theirs'),
      ownKey('https://same.example', 'same', sent),
      ownKey('https://of-configured.example', 'of', { logoutIssuer: configured.issuer }),
    ]) {
      const answer = await admin.send('POST', 'entries', added);
      expect([answer.status, await answer.json()]).toMatchObject([409, { message: LOGOUTS }]);
    }
    expect((await admin.putEntry('plain', setting({ perMinute: 5 }))).status).toBe(200);
    expect(await errorOf(await admin.putEntry('plain', setting(sent)))).toEqual(REFUSED);
    expect((await owner.putEntry('plain', setting(sent))).status).toBe(200);
    expect(await errorOf(await admin.putEntry('plain', setting({}, 'logoutIssuer')))).toEqual(REFUSED);
    expect((await admin.send('POST', 'entries/plain/suspend')).status).toBe(200);
    expect(await errorOf(await admin.send('POST', 'entries/plain/resume'))).toEqual(REFUSED);
  });

  it("[D121][P.signInAs] cannot name an operator in an entry, and an administrator's entry is refused once its user is an operator", async () => {
    const job = Partner.create({ issuer: 'https://jobs.example', audience: BASE_URL });
    const userId = await createUser(service, { email: 'deploy@example.com' });
    const asUser = (signInAs: string) => {
      const members = {
        name: 'job',
        flows: ['exchange'],
        subjects: ['build'],
        scopes: ['workflow:read'],
        signInAs,
      };
      return { entry: { ...job.staticEntry(), ...members } };
    };
    const exchange = async () => {
      const answer = await service.exchange({
        subject_token: job.sign(job.claims({ sub: 'build', email: undefined })),
      });
      const [row] = await eventsOf(service, answer);
      return row?.payload['reason'] ?? answer.status;
    };
    const put = (browser: OperatorBrowser, members: object) => browser.putEntry('job', setting(members));
    for (const operatorId of [adminId, ownerId]) {
      const answer = await admin.send('POST', 'entries', asUser(operatorId));
      expect([answer.status, await answer.json()]).toMatchObject([409, { message: REACHES }]);
    }
    for (const [nobody, message] of [
      [ownerId, 'signInAs: this user is the owner, and no entry may sign in as the owner.'],
      [randomUUID(), 'signInAs: no user has this id. `svc-admin users list` shows the ids.'],
    ] as const) {
      const answer = await owner.send('POST', 'entries', asUser(nobody));
      expect([answer.status, await answer.json()]).toMatchObject([409, { message }]);
    }
    const becomes = (outcome: string | number) =>
      until(`it is ${outcome}`, 60_000, async () => (await exchange()) === outcome);
    expect((await admin.send('POST', 'entries', asUser(userId))).status).toBe(201);
    await becomes(200);
    await changeUser(service, userId, { role: 'global:admin' });
    expect(await exchange()).toBe('privileged_user_not_allowed');
    // The owner confirms it as it is.
    expect((await put(owner, {})).status).toBe(200);
    await becomes(200);
    expect(await errorOf(await put(admin, { subjects: ['*'] }))).toEqual(REFUSED);
    await changeUser(service, userId, { role: 'global:member' });
    expect((await put(admin, { notAfter: '2099-12-31' })).status).toBe(200);
    await changeUser(service, userId, { role: 'global:admin' });
    await becomes('privileged_user_not_allowed');
    expect((await admin.send('DELETE', 'entries/job')).status).toBe(200);
  });

  it('[D121] only one of two concurrent requests adds an entry for an issuer', async () => {
    const adds = ['one', 'two'].map((name) =>
      admin.send('POST', 'entries', ownKey('https://twice.example', name)),
    );
    const statuses = (await Promise.all(adds)).map(({ status }) => status);
    expect(statuses.sort((one, other) => one - other)).toEqual([201, 409]);
  });

  it('[D121] cannot change an entry that signs in an administrator, but can suspend it', async () => {
    const issuer = 'https://linked.example';
    const otherId = await createOperator(service, 'linked@example.com');
    expect((await admin.send('POST', 'entries', ownKey(issuer, 'linked'))).status).toBe(201);
    expect((await admin.send('POST', 'revocations', { issuer, kid: 'linked' })).status).toBe(201);
    await linkUser(service, issuer, 'linked', otherId);
    const changes = [
      (browser: OperatorBrowser) => browser.putEntry('linked', setting({ provisionUsers: false })),
      (browser: OperatorBrowser) => browser.send('POST', 'revocations', { issuer, kid: null }),
      (browser: OperatorBrowser) => browser.send('POST', 'revocations/restore', { issuer, kid: 'linked' }),
    ];
    for (const change of changes) {
      const answer = await change(admin);
      expect([answer.status, await answer.json()]).toMatchObject([409, { message: REACHES }]);
    }
    expect((await admin.send('POST', 'entries/linked/suspend')).status).toBe(200);
    expect(await errorOf(await admin.send('POST', 'entries/linked/resume'))).toEqual(REFUSED);
    for (const change of changes) expect((await change(owner)).status).toBeLessThan(300);
  });

  it("[D121] cannot disable or enable the owner, or end the owner's sessions", async () => {
    for (const what of ['disable', 'enable', 'sign-out'])
      expect(await errorOf(await admin.send('POST', `users/${ownerId}/${what}`))).toEqual(REFUSED);
    const [session] = await service.rows<{ id: string }>(
      'SELECT id::text AS id FROM operator_session WHERE user_id = $1',
      [ownerId],
    );
    const end = `operator-sessions/${String(session?.id)}`;
    expect(await errorOf(await admin.send('DELETE', end))).toEqual(REFUSED);
    expect([await owner.status(), (await storedUser(service, ownerId)).enabled]).toEqual([200, true]);

    const otherId = await createOperator(service, 'other@example.com');
    expect((await admin.send('POST', `users/${otherId}/disable`)).status).toBe(200);
    expect((await admin.send('POST', `users/${otherId}/enable`)).status).toBe(200);
    expect((await admin.send('POST', `users/${otherId}/sign-out`)).status).toBe(200);
    expect((await owner.send('POST', `users/${ownerId}/sign-out`)).status).toBe(200);
    expect(await owner.status()).toBe(401);
  });

  it('[D109] is recorded with the users whose data it has read', async () => {
    expect((await admin.get(`users/${ownerId}`)).status).toBe(200);
    expect((await admin.send('POST', 'sessions/search', { user: ownerId })).status).toBe(200);
    for (const path of ['operator-sessions', 'overview']) expect((await admin.get(path)).status).toBe(200);
    const told = (await operationsOf(adminId)).slice(-4).map(({ payload }) => payload);
    expect(told).toMatchObject([
      { operation: 'users show', targets: { userId: ownerId } },
      { operation: 'sessions list', targets: { userId: ownerId } },
      { operation: 'operator-sessions list', targets: {} },
      { operation: 'instance show', targets: {} },
    ]);
  });

  it('[D121] only one of two administrators is disabled if they disable each other at once', async () => {
    for (let round = 0; round < 3; round++) {
      const names = [`one${round}`, `two${round}`];
      const ids: string[] = [];
      const browsers: OperatorBrowser[] = [];
      for (const name of names) {
        ids.push(await createOperator(service, `${name}@example.com`));
        browsers.push(await signedIn(service, `${name}@example.com`, `192.0.2.${10 + round}`));
      }
      await Promise.all(
        browsers.map((browser, index) => browser.send('POST', `users/${String(ids[1 - index])}/disable`)),
      );
      const users = await Promise.all(ids.map((id) => storedUser(service, id)));
      expect(users.filter(({ enabled }) => enabled)).toHaveLength(1);
    }
  });
});

describeOnPostgresql('an operator who is changed at the same moment', (database) => {
  const service = TestService.forBlock(database, { environment: OPERATOR_ENVIRONMENT });

  /** Has something asked while another transaction has locked the user; that one then does its work and commits. */
  async function whileLocked<T>(userId: string, sql: string, values: unknown[], asked: () => Promise<T>) {
    const { dataSource, close } = await database.open();
    const other = dataSource.createQueryRunner();
    try {
      await other.startTransaction();
      await other.query('SELECT 1 FROM user_account WHERE id = $1 FOR NO KEY UPDATE', [userId]);
      await other.query(sql, values);
      const answer = asked();
      await untilOneIsBlocked((sql) => service.rows(sql));
      await other.commitTransaction();
      return await answer;
    } finally {
      if (other.isTransactionActive) await other.rollbackTransaction();
      await other.release();
      await close();
    }
  }

  it('[D105] cannot change anything after losing the role', async () => {
    const id = await createOperator(service, 'gone@example.com');
    const target = await createUser(service, { email: 'target@example.com' });
    const browser = await signedIn(service, 'gone@example.com');
    const demote = `UPDATE user_account SET role = 'global:member' WHERE id = $1`;
    const answer = await whileLocked(id, demote, [id], () => browser.send('POST', `users/${target}/disable`));
    expect(await errorOf(answer)).toEqual([401, 'sign_in_required']);
    expect((await storedUser(service, target)).enabled).toBe(true);
  });

  it('[D105] cannot sign in with a password that changes during the check, and the refusal is recorded', async () => {
    const id = await createOperator(service, 'new@example.com');
    const hash = await new PasswordHasher().hash('another long password');
    const change = 'UPDATE operator_password SET password_hash = $2 WHERE user_id = $1';
    const browser = new Browser(service, '192.0.2.50');
    const answer = await whileLocked(id, change, [id, hash], () =>
      browser.signIn('new@example.com', PASSWORD),
    );
    expect(await errorOf(answer)).toEqual([401, 'invalid_credentials']);
    expect(await service.rows('SELECT 1 FROM operator_session WHERE user_id = $1', [id])).toEqual([]);
    const told = await eventsOf(service, answer);
    expect(told.map(({ name, subjectUserId, payload }) => [name, subjectUserId, payload])).toEqual([
      ['svc.audit.operator.sign-in-failed', id, { clientAddress: '192.0.2.50', reason: 'wrong_password' }],
    ]);
    expect((await browser.signIn('new@example.com', 'another long password')).status).toBe(201);
  });
});
