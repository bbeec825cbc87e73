// An operator's work in the browser, with real data: refusals and their reasons, keys, entries, users, sessions, tokens.
import { readFileSync } from 'node:fs';
import { calculateJwkThumbprint } from 'jose';
import { Partner } from '../../../demo/partner.js';
import { Administration } from '../../../src/administration/administration.js';
import { RevocationOperations } from '../../../src/administration/keys/keys.operations.js';
import { BackChannelLogoutService } from '../../../src/token-exchange/logout/back-channel-logout.service.js';
import { describeInBrowser } from '../../support/browser.js';
import { sendBeside } from '../../support/flow-requests.js';
import { JwksServer } from '../../support/jwks-server.js';
import { createUser } from '../../support/local-users.js';
import { logoutToken } from '../../support/logout-tokens.js';
import type { OperatorPage } from '../../support/operator-browsing.js';
import { ADMIN, OperatorBrowsing, OWNER } from '../../support/operator-browsing.js';
import { makeCode, PASSWORD } from '../../support/operators.js';
import { until } from '../../support/until.js';

/** For what other parts of the service have to hear of. */
const PATIENCE_MS = 60_000;
const ALICE = 'alice@login.partner.test';

describeInBrowser("the operator's pages", () => {
  const browsing = new OperatorBrowsing({ policy: { maxUsers: 500 } });
  let one: OperatorPage;
  const exchange = (token: string) => browsing.exchange(token);
  const saved = async (name: string) => {
    const download = one.page.waitForEvent('download');
    await one.button(name).click();
    return readFileSync(await (await download).path(), 'utf8');
  };
  const server = JwksServer.forBlock();
  const plotOf = (label: RegExp) => one.page.getByRole('img', { name: label }).locator('canvas');

  beforeAll(() => browsing.start());
  afterEach(() => browsing.leave());
  afterAll(() => browsing.stop());

  describe('why a person is refused', () => {
    it('[D113] is found by the e-mail address, which appears in no URL', async () => {
      const token = browsing.token('alice');
      expect((await exchange(token)).status).toBe(200);
      await browsing.service.rows('UPDATE user_account SET enabled = false WHERE email = $1', [ALICE]);
      expect((await exchange(browsing.token('alice'))).status).toBe(400);
      const urls: string[] = [];
      browsing.context.on('request', (request) => urls.push(request.url()));
      one = await browsing.signedIn();
      await one.field('Why can somebody not sign in?').fill(ALICE);
      await one.button('Find out').click();
      await one.text('user_disabled');
      const card = one.page.getByRole('region', { name: 'This person' });
      expect(await card.innerText()).toContain(browsing.partner.issuer);
      await one.page.getByRole('link', { name: 'to the user' }).first().click();
      await one.text('Disabled');
      await one.button('Enable').click();
      await one.confirm(`Enable ${ALICE}?`, 'Enable');
      await one.text('The user is enabled.');
      expect((await exchange(browsing.token('alice'))).status).toBe(200);
      urls.push(one.page.url());
      expect(urls.filter((url) => /alice/i.test(decodeURIComponent(url)))).toEqual([]);
    });

    it('is found for an unknown person by sub, which appears in no URL', async () => {
      const unknown = browsing.token('unknown-sub', { aud: 'https://other.example' });
      expect((await exchange(unknown)).status).toBe(400);
      one = await browsing.signedIn();
      const urls: string[] = [];
      browsing.context.on('request', (sent) => urls.push(sent.url()));
      await one.field('Why can somebody not sign in?').fill('unknown-sub');
      await one.button('Find out').click();
      await one.row('Audience mismatch').first().waitFor();
      expect([...urls, one.page.url()].filter((url) => url.includes('unknown-sub'))).toEqual([]);
    });

    it('explains where else to look for an unknown e-mail address or request id', async () => {
      one = await browsing.signedIn('#/refusals');
      const reasons = one.field('Reason').locator('option');
      await reasons.getByText('DPoP proof missing').waitFor({ state: 'attached' });
      await one.field('User').fill('nobody@login.partner.test');
      await one.button('Search').click();
      await one.heading('No refusal matches');
      await one.text('stand only in the log');
      await one.page
        .getByRole('link', { name: /^Refusals of .* in the last hour$/ })
        .first()
        .click();
      await one.page.waitForURL(/issuer=.*hours=1/);
      await one.page.goto(`${browsing.instanceOrigin}/admin#/requests/nothing`);
      await one.heading('The trail has no event of this request');
    });

    it('is grouped by reason with one cause, and expands to single refusals', async () => {
      for (const sub of ['ida', 'ole', 'per'])
        await exchange(browsing.token(sub, { iat: 1_700_000_000, exp: 1_700_000_050 }));
      one = await browsing.signedIn('#/refusals');
      const group = one.row('Token expired');
      const cell = group.getByRole('cell', { name: /^\d+$/ });
      await cell.waitFor();
      expect(await group.count()).toBe(1);
      const count = Number(/\d+$/.exec(await cell.innerText())?.[0]);
      expect(count).toBeGreaterThanOrEqual(3);
      await group.getByRole('button', { name: 'Details' }).click();
      await one.text('sent late, or by a slow clock');
      expect(await one.page.locator('.cause').count()).toBe(1);
      const single = one.page.getByRole('table', { name: 'Refusals', exact: true }).getByRole('link');
      await single.first().waitFor();
      expect(await single.count()).toBe(count);
      await single.first().click();
      await one.heading('Request');
    });

    it('is filtered by reason, issuer or time from a bar or a row', async () => {
      one = await browsing.signedIn('#/refusals');
      await one.page.getByRole('list', { name: 'Refusals by reason' }).getByText('Token expired').click();
      await one.page.waitForURL(/reason=token_expired/);
      // Earlier ones may stand in another bar by now.
      await exchange(browsing.token('ida', { iat: 1_700_000_000, exp: 1_700_000_050 }));
      await one.page.goto(`${browsing.instanceOrigin}/admin#/?hours=1`);
      const plot = plotOf(/^Refusals by reason/);
      await plot.waitFor();
      const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {};
      // The newest bar.
      await plot.click({ position: { x: width - 32, y: height / 2 }, force: true });
      await one.page.waitForURL(/refusals\?since=.*&until=/);
      await one.row('Token expired').waitFor();
      expect(await one.field('Time').locator('option:checked').innerText()).toContain(' to ');
      await one.field('Time').selectOption({ label: 'Last hour' });
      await one.button('Search').click();
      await one.page.waitForURL(/refusals\?hours=1$/);
    });

    it('is filtered by reason and issuer, in a URL that can be shared and that Back and Forward follow', async () => {
      one = await browsing.signedIn('#/refusals?reason=token_expired');
      await one.text('token_expired');
      expect(await one.row('User disabled').count()).toBe(0);
      await one.field('Issuer').fill('https://other.example');
      await one.button('Search').click();
      await one.heading('No refusal matches');
      expect(one.page.url()).toContain('issuer=https%3A%2F%2Fother.example');
      await one.page.goBack();
      await one.row('Token expired').first().waitFor();
      await one.page.goForward();
      await one.heading('No refusal matches');
    });
  });

  it('the overview counts received requests, in a plot and in a table of the same numbers', async () => {
    one = await browsing.signedIn();
    await plotOf(/^Events from/).waitFor();
    const [{ passed, refused }] = (await browsing.service.rows<{ passed: number; refused: number }>(
      `SELECT count(*) FILTER (WHERE name = 'svc.audit.token-exchange.succeeded')::int AS passed,
         count(*) FILTER (WHERE name = 'svc.audit.token-exchange.failed')::int AS refused FROM audit_event`,
    )) as [{ passed: number; refused: number }];
    await one.text(`${passed} succeeded, ${refused} refused`);
    await one.page.getByText('The same as a table').first().click();
    const cells = one.page.getByRole('table', { name: /^Events from/ }).getByRole('row');
    const counts = (await cells.allInnerTexts()).map((text) => /\d+(?=\s*$)/.exec(text)?.[0] ?? '0');
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(refused);
    expect(await one.page.locator('time[datetime]').count()).toBeGreaterThan(0);
  });

  it('a revoked key stops the next token until it is restored', async () => {
    one = await browsing.signedIn('#/entries');
    await one.link(/^partner$/).click();
    await one.button(`Revoke the key ${browsing.partner.kid}`).click();
    await one.button('Cancel').click();
    expect((await exchange(browsing.token('kay'))).status).toBe(200);
    await one.button(`Revoke the key ${browsing.partner.kid}`).click();
    await one.confirm(/^Revoke the key/, 'Revoke');
    await one.text(`Revoked: the key ${browsing.partner.kid}.`);
    expect((await exchange(browsing.token('kay'))).status).toBe(400);
    await one.button(`Restore the key ${browsing.partner.kid}`).click();
    await one.confirm(/^Restore the key/, 'Restore');
    await one.text('Restored:');
    expect((await exchange(browsing.token('kay'))).status).toBe(200);
    const events = await browsing.service.rows<{ payload: object }>(
      `SELECT payload FROM audit_event WHERE name LIKE 'svc.audit.%' AND payload::text LIKE '%' || $1 || '%'`,
      [browsing.partner.kid],
    );
    expect(events.length).toBeGreaterThanOrEqual(2);
  });

  it('the trail is filtered by kind and person, and saved as JSON lines and CSV', async () => {
    const requestId = (await exchange(browsing.token('trail'))).requestId;
    // More than the page reads at once, with a text that a spreadsheet would compute.
    await browsing.service.rows(
      `INSERT INTO audit_event (name, occurred_at, request_id, subject_user_id, payload, client_request_id)
       SELECT name, occurred_at, request_id, subject_user_id, payload, '=1+1' FROM audit_event, generate_series(1, 120)
       WHERE request_id = $1`,
      [requestId],
    );
    one = await browsing.signedIn('#/trail');
    const kinds = one.field('Kind').locator('option');
    await kinds.getByText('Token exchange, refused', { exact: true }).waitFor({ state: 'attached' });
    const names = await kinds.allTextContents();
    expect(new Set(names).size).toBe(names.length);
    await one.field('Kind').selectOption({ label: 'Tokens, logins and trust' });
    await one.field('Person').fill('trail@login.partner.test');
    await one.button('Search').click();
    await one.page.waitForURL(/#\/trail\?event=/);
    await one.row('Token exchange').first().waitFor();
    expect(one.page.url()).not.toContain('trail%40login');
    const lines = (await saved('JSON lines')).trimEnd().split('\n');
    const events = lines.map((line) => JSON.parse(line) as { requestId: string; event: string });
    expect(events.map((event) => event.requestId)).toContain(requestId);
    const csv = (await saved('CSV')).trimEnd().split('\r\n');
    expect(csv[0]).toBe('id,event,occurredAt,requestId,clientRequestId,subjectUserId,actorUserId,payload');
    expect(csv).toHaveLength(events.length + 1);
    expect(csv.filter((line) => line.includes(`,"'=1+1",`)).length).toBeGreaterThanOrEqual(120);
    expect(await one.page.getByRole('table', { name: 'Events' }).getByText('audit events').count()).toBe(0);
    await one.button('Details').first().click();
    await one.text('Access token id');
    await one.link(requestId).first().click();
    await one.heading('Request');
  });

  it("[P.maxUsers] an issuer's users, seats and active users are in a table by month, and in a file", async () => {
    const { issuer } = browsing.partner;
    // The current month is the instance's own to write.
    const [{ month }] = (await browsing.service.rows(
      `INSERT INTO active_user SELECT date_trunc('month', now() AT TIME ZONE 'UTC') - interval '2 months', $1, gen_random_uuid()
       FROM generate_series(1, 1200) RETURNING to_char(month, 'YYYY-MM') AS month`,
      [issuer],
    )) as [{ month: string }];
    one = await browsing.signedIn('#/usage');
    const row = one.row('1,200');
    await row.waitFor();
    const [{ users }] = (await browsing.service.rows(
      `SELECT count(DISTINCT user_id)::int AS users FROM token_exchange_identity_link
       JOIN user_account ON user_account.id = user_id AND enabled WHERE issuer = $1`,
      [issuer],
    )) as [{ users: number }];
    const cells = row.locator('th > div, td > div');
    expect(await cells.allInnerTexts()).toEqual([issuer, String(users), '500', month, '1,200']);
    expect((await saved('Save as CSV')).split('\n')).toEqual(
      expect.arrayContaining([
        'issuer,users,max_users,month,active_users',
        `"${issuer}",${users},500,${month},1200`,
      ]),
    );
    await one.field('Time').selectOption({ label: 'This month' });
    await row.waitFor({ state: 'detached' });
    expect(await saved('Save as CSV')).not.toContain(month);
  });

  it('all revocations are on one page, and can be undone there', async () => {
    const issuer = 'https://leaked.partner.test';
    one = await browsing.signedIn('#/entries');
    const { service } = browsing;
    const leaked = { issuer, kid: 'leaked-1' };
    const request = { id: 'leaked-key', way: 'service' } as const;
    await service.part(Administration).perform(service.part(RevocationOperations), 'revoke', leaked, request);
    await one.link('Revocations').click();
    await one.row('leaked-1').locator('.state', { hasText: 'Revoked' }).waitFor();
    await one.button('Restore the key leaked-1').click();
    await one.confirm('Restore the key leaked-1?', 'Restore');
    await one.row('leaked-1').locator('.state', { hasText: 'Restored' }).waitFor();
  });

  it('an entry is added, changed, suspended, resumed and removed, with effect on the next token', async () => {
    const other = Partner.create({ issuer: 'https://added.partner.test', audience: browsing.instanceOrigin });
    const status = async () => (await exchange(other.sign(other.claims({ sub: 'fay' })))).status;
    const answers = (expected: number) =>
      until(`answer ${expected}`, PATIENCE_MS, async () => (await status()) === expected);
    const entry = other.staticEntry();
    expect(await status()).toBe(400);
    one = await browsing.signedIn('#/entries');
    await one.link('Add a partner').first().click();
    await one.field('Name').fill('added');
    await one.field('Issuer').fill(other.issuer);
    await one.field('Keys').selectOption('key');
    await one.field('Key id').fill('another');
    await one.field('Public key').fill('no key');
    await one.field('Key id').fill(entry.kid);
    const atKey = one.page.locator('.field', { has: one.field('Public key') }).getByRole('alert');
    await atKey.filter({ hasText: /PEM/ }).waitFor();
    await one.field('Public key').fill(entry.key);
    await one.unfold();
    expect(await one.field('Expected audience').inputValue()).toBe(browsing.instanceOrigin);
    await one.page.getByText('Default: no').first().waitFor({ state: 'attached' });
    await one.field('Test token').fill(other.sign(other.claims({ sub: 'fay', aud: 'https://x.example' })));
    await one.field('Name').focus();
    await one.heading('It would be refused');
    await one.field('Test token').fill(other.sign(other.claims({ sub: 'fay' })));
    await one.field('Name').focus();
    await one.heading('It would be accepted');
    expect(await status()).toBe(400);
    await one.page.getByRole('link', { name: 'Users' }).click();
    await one.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await one.button('Store the entry').click();
    await one.text('All instances accept its tokens within 10 seconds.');
    await one.link(`${browsing.instanceOrigin}/api/v1/docs`).waitFor();
    await one.link(/^stored:added$/).click();
    await one.heading('stored:added');
    await one
      .row(entry.kid)
      .getByText(await thumbprintOf(other))
      .waitFor();
    await answers(200);

    const newer = Partner.create({
      issuer: other.issuer,
      kid: 'newer',
      audience: browsing.instanceOrigin,
    });
    await one.link('Add another key').click();
    await one.field('Name').fill('added-2');
    await one.field('Key id').fill('newer');
    await one.field('Public key').fill(newer.staticEntry().key);
    await one.button('Add key').click();
    await one.heading('stored:added-2');
    const isTaken = async () => (await exchange(newer.sign(newer.claims({ sub: 'fay' })))).status === 200;
    await until('the new key counts', PATIENCE_MS, isTaken);
    await answers(200);
    await one.goTo('Trusted entries');
    await one.page.getByRole('link', { name: 'stored:added', exact: true }).click();
    await one.heading('stored:added');

    await one.link('Change').click();
    await one.unfold();
    await one.page.getByLabel('Only these: Sign-in methods').check();
    await one.page.getByLabel('Embedded login').check();
    await one.button('Save changes').click();
    await one.text('Embed only.');
    await answers(400);
    await one.link('Change').click();
    await one.page.getByLabel('Only these: Sign-in methods').uncheck();
    await one.unfold();
    await one.page.getByLabel('With these settings: Projects').check();
    await one.page.getByLabel('Only these: Projects that tokens may name').check();
    await one.page.getByLabel('Projects that tokens may name', { exact: true }).fill('acme-*');
    await one.page.getByLabel('Only these: Roles in projects that tokens may assign').check();
    await one.page.getByLabel('Viewer', { exact: true }).check();
    await one.field('Name of the claim').fill('customers');
    await one.button('Save changes').click();
    await one.heading('stored:added');
    await answers(200);
    await one.link('Change').click();
    expect(await one.page.getByLabel('Projects that tokens may name', { exact: true }).inputValue()).toBe(
      'acme-*',
    );
    expect(await one.field('Name of the claim').inputValue()).toBe('customers');
    await one.page.getByLabel('With these settings: Projects').uncheck();
    await one.button('Save changes').click();
    await one.heading('stored:added');

    await one.button('Suspend').click();
    await one.confirm('Suspend added?', 'Suspend');
    await one.text('The entry was suspended');
    await answers(400);
    await one.button('Resume').click();
    await one.confirm('Resume added?', 'Resume');
    await one.text('The entry is trusted again.');
    await answers(200);
    await one.button('Remove').click();
    await one.confirm('Remove added?', 'Remove');
    await one.heading('Trusted entries');
    expect(await one.page.getByText('stored:added', { exact: true }).count()).toBe(0);
    await answers(400);
  });

  it('a failing key set is reported, and fetched on request', async () => {
    const other = Partner.create({
      issuer: 'https://fetched.partner.test',
      audience: browsing.instanceOrigin,
    });
    one = await browsing.signedIn('#/entries/add-partner');
    await one.field('Name').fill('fetched');
    await one.field('Issuer').fill(other.issuer);
    await one.field('Address of the key set').fill(server.url);
    await one.button('Store the entry').click();
    await one.text('All instances accept its tokens within 10 seconds.');
    await one.link(/^stored:fetched$/).click();
    await one.heading('stored:fetched');
    // The server answers 404 until it is told otherwise.
    await until('the failure is shown', PATIENCE_MS, async () => {
      await one.page.reload();
      await one.settled();
      return (await one.page.getByText('so its tokens are refused: status 404').count()) > 0;
    });
    await one.goTo('Overview');
    await one.text('was never fetched, so its tokens are refused: status 404.');
    server.publish(other.jwks());
    await one.goTo('Trusted entries');
    await one.link('stored:fetched').click();
    await until('the key is held', PATIENCE_MS, async () => {
      await one.button('Fetch now').click();
      const dialog = one.page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Fetch now' }).click();
      await one.page.locator('.flash, dialog .problem:not([hidden])').first().waitFor();
      if ((await dialog.count()) > 0) await dialog.getByRole('button', { name: 'Cancel' }).click();
      await one.settled();
      return (await one.row(other.kid).count()) > 0;
    });
    await one
      .row(other.kid)
      .getByText(await thumbprintOf(other))
      .waitFor();
    expect((await exchange(other.sign(other.claims({ sub: 'una' })))).status).toBe(200);
  });

  it('[D4] an e-mail address with non-ASCII characters is marked', async () => {
    await createUser(browsing.service, { email: 'sаm@login.partner.test' });
    one = await browsing.signedIn('#/users');
    await one.field('Search').fill('sа');
    await one.button('Search').click();
    const link = one.page.getByRole('link', { name: 'sаm@login.partner.test' });
    expect(await link.innerText()).toContain('(not ASCII)');
    await link.click();
    await one.text('(not ASCII)');
  });

  it('users are found, signed out everywhere and disabled; a session is ended alone', async () => {
    const cookies = [
      await browsing.sessionCookie(browsing.token('sam')),
      await browsing.sessionCookie(browsing.token('sam')),
    ];
    const live = () => Promise.all(cookies.map((cookie) => browsing.sessionStatus(cookie)));
    expect(await live()).toEqual([200, 200]);
    one = await browsing.signedIn('#/users');
    await one.field('Search').fill('sam@');
    await one.button('Search').click();
    await one.page.getByRole('link', { name: 'sam@login.partner.test' }).click();
    await one.text('2 embedded sessions');
    await one
      .button(/^End the session/)
      .first()
      .click();
    await one.confirm(/^End the session/, 'End');
    await one.text('1 embedded session,');
    expect((await live()).sort()).toEqual([200, 401]);
    await one.button('Sign out everywhere').click();
    await one.confirm(/^Sign sam@login.partner.test out/, 'Sign out everywhere');
    await one.text('0 embedded sessions');
    expect(await live()).toEqual([401, 401]);
    await browsing.sessionCookie(browsing.token('sam'));
    const logout = logoutToken(browsing.partner, { sub: 'sam' });
    await sendBeside(browsing.service, { flow: 'logout', requestId: 'logout-of-sam' }, (request) =>
      browsing.service.part(BackChannelLogoutService).logOut(logout, request),
    );
    await one.page.reload();
    for (const cause of ['signed out by provider', 'ended by operator', 'user signed out'])
      await one.page.getByRole('table', { name: 'Events' }).getByText(cause).first().waitFor();
    await one.button('Disable').click();
    await one.confirm(/^Disable/, 'Disable');
    await one.text('The user is disabled.');
    expect((await exchange(browsing.token('sam'))).status).toBe(400);
  });

  it('several selected sessions are ended at once', async () => {
    const people = ['multi-1', 'multi-2', 'multi-3'];
    const cookies: string[] = [];
    for (const sub of people) cookies.push(await browsing.sessionCookie(browsing.token(sub)));
    const live = () => Promise.all(cookies.map((cookie) => browsing.sessionStatus(cookie)));
    one = await browsing.signedIn('#/sessions');
    const find = async () => {
      await one.field('User').fill('multi-');
      await one.button('Search').click();
      await one.page.getByLabel('Choose all 3 that are shown').waitFor();
    };
    await find();
    for (const sub of people.slice(0, 2))
      await one.field(`Choose the session of ${sub}@login.partner.test`).check();
    await one.button('End 2 chosen sessions').click();
    await one.button('Cancel').click();
    expect(await live()).toEqual([200, 200, 200]);
    await one.button('End 2 chosen sessions').click();
    await one.confirm('End 2 chosen sessions?', 'End 2 chosen sessions');
    await one.text('2 sessions ended.');
    expect(await live()).toEqual([401, 401, 200]);
    for (const sub of people.slice(0, 2)) await browsing.sessionCookie(browsing.token(sub));
    await find();
    await one.page.getByLabel('Choose all 3 that are shown').check();
    await one.button('End 3 chosen sessions').click();
    await one.confirm('End 3 chosen sessions?', 'End 3 chosen sessions');
    await one.text('3 sessions ended.');
    expect(await live()).toEqual([401, 401, 401]);
  });

  it('search results stay if an earlier query is answered late', async () => {
    one = await browsing.signedIn();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await one.page.route(/users\/search/, async (route) => {
      if (!(route.request().postData() ?? '').includes('search')) await held;
      await route.continue();
    });
    await one.goTo('Users');
    await one.field('Search').fill('owner@');
    // The page gives the earlier question up.
    const given = one.page.waitForEvent('requestfailed', (request) => request.url().includes('users/search'));
    await one.button('Search').click();
    await one.row(OWNER).waitFor();
    await given;
    release();
    // After two animation frames, the page has drawn its reaction.
    await one.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );
    expect([await one.row(OWNER).count(), await one.row(ADMIN).count()]).toEqual([1, 0]);
  });

  it("an operator can end another operator's sign-in, but cannot disable their own account", async () => {
    one = await browsing.signedIn('', ADMIN);
    const [cookie] = await browsing.context.cookies(browsing.instanceOrigin);
    await browsing.context.clearCookies();
    const owner = await browsing.signedIn('#/sessions', OWNER);
    await owner.button(`End the sign-in of ${ADMIN}`).first().waitFor();
    for (let left = await owner.button(`End the sign-in of ${ADMIN}`).count(); left > 0; left -= 1) {
      await owner.button(`End the sign-in of ${ADMIN}`).first().click();
      await owner.confirm(/^End the sign-in/, 'End');
      await owner.text('It has ended.');
      await owner.settled();
    }
    await owner.goTo('Users');
    await owner.page.getByRole('link', { name: OWNER }).click();
    await owner.text('Operator password');
    expect(await owner.button('Disable').count()).toBe(0);
    if (cookie === undefined) throw new Error('there was no cookie');
    await browsing.context.addCookies([cookie]);
    await one.goTo('Users').catch(() => undefined);
    await one.heading('Sign in to the administration');
  });

  it('a token is explained check by check, without being used up or kept', async () => {
    const token = browsing.token('tom');
    const urls: string[] = [];
    browsing.context.on('request', (request) => urls.push(request.url()));
    one = await browsing.signedIn('#/explain');
    await one.field('Sign-in method').selectOption('exchange');
    await one.field('Token').fill(token);
    await one.button('Explain').click();
    await one.heading('It would be accepted');
    await one.text('new: would be created');
    expect((await exchange(token)).status).toBe(200);
    await one.field('Token').fill(token);
    await one.button('Explain').click();
    await one.heading('It would be refused');
    await one.text('token_replayed');
    expect(await one.page.locator('.checks .failed').count()).toBe(1);
    expect(await one.page.locator('.checks .passed').first().isVisible()).toBe(false);
    await one.page.locator('summary').filter({ hasText: 'passed' }).click();
    expect(await one.page.locator('.checks .passed').first().isVisible()).toBe(true);
    expect(urls.filter((url) => url.includes(token.slice(0, 40)))).toEqual([]);
    expect(
      await one.page.evaluate('JSON.stringify([localStorage, sessionStorage, history.state])'),
    ).not.toContain('eyJ');
    await one.button('Clear').click();
    expect(await one.field('Token').inputValue()).toBe('');
  });

  it('the instance page shows switches, licence and settings, but no secret', async () => {
    one = await browsing.signedIn('#/instance');
    await one.text('Available');
    await one.row('SVC_SSL_KEY').waitFor();
    await one.row('SVC_BASE_URL').getByText(browsing.instanceOrigin).waitFor();
    const text = await one.page.locator('main').innerText();
    expect(text).not.toContain('PRIVATE KEY');
    expect(text).toContain('token-exchange');
  });

  it('an operator changes their own password, and stays signed in', async () => {
    await createUser(browsing.service, { email: 'renewing@instance.test', role: 'global:admin' });
    const code = await makeCode(browsing.service, 'renewing@instance.test');
    one = await browsing.open('#/password');
    await one.button('I have a code').click();
    await one.field('E-mail address').fill('renewing@instance.test');
    await one.field('Code').fill(code);
    await one.field('New password').fill('the first long one');
    await one.field('New password, again').fill('the first long one');
    await one.button('Set password and sign in').click();
    await one.heading('Change password');
    await one.field('Present password').fill('not the right one');
    await one.field('New password').fill('the second long one');
    await one.field('New password, again').fill('the second long one');
    await one.button('Change password').click();
    await one.alert('The current password is wrong.');
    await one.field('Present password').fill('the first long one');
    await one.button('Change password').click();
    await one.text('Your password was changed.');
    await one.goTo('Users');
  });

  it('a list is a table if its columns fit, and never wider than the screen', async () => {
    one = await browsing.signedIn('#/entries');
    for (const width of [320, 768, 900, 1280]) {
      await one.page.setViewportSize({ width, height: 800 });
      for (const page of ['trail', 'refusals', 'sessions', 'usage', 'users', 'instance', 'entries']) {
        await one.page.goto(`${browsing.instanceOrigin}/admin#/${page}`);
        await one.settled();
        const beyond = await one.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        expect([width, page, beyond <= 0]).toEqual([width, page, true]);
      }
      const displayed = 'getComputedStyle(document.querySelector("table.rows tbody tr")).display';
      expect(await one.page.evaluate(displayed)).toBe(width === 1280 ? 'table-row' : 'flex');
    }
  });

  it('a whole task is possible with the keyboard only', async () => {
    one = await browsing.open('#/explain');
    await one.field('E-mail address').waitFor();
    const type = (text: string) => one.page.keyboard.insertText(text);
    const press = (key: string) => one.page.keyboard.press(key);
    await type(OWNER);
    await press('Tab');
    await type(PASSWORD);
    await press('Enter');
    await one.heading('Explain a token');
    await press('Tab');
    await one.page.locator('select:focus').waitFor();
    await press('Tab');
    await type('no token');
    await press('Tab');
    await press('Enter');
    await one.heading('It would be refused');
    expect(await one.page.locator(':focus').textContent()).toBe('It would be refused');
    // What passed is folded, and opens by the keyboard too.
    await press('Tab');
    await press('Enter');
    await one.page.locator('details[open] > summary:focus').waitFor();
    await one.page.locator('#skip').focus();
    await press('Enter');
    expect(await one.page.locator(':focus').getAttribute('id')).toBe('main');
  });
});

describeInBrowser("the operator's pages of a strict instance with one flow off", () => {
  const browsing = new OperatorBrowsing({
    environment: { SVC_EMBED_LOGIN_ENABLED: 'false', SVC_TOKEN_EXCHANGE_STRICT: 'true' },
    policy: { flows: ['exchange'], allowedRoles: [], emailDomains: ['*'] },
  });
  beforeAll(() => browsing.start());
  afterEach(() => browsing.leave());
  afterAll(() => browsing.stop());

  it("[P.signInAs][P.strict] allow adding a job's entry by the form, without roles and domains", async () => {
    const job = Partner.create({ issuer: 'https://ci.test' });
    const userId = await createUser(browsing.service, { email: 'deployer@instance.test' });
    const one = await browsing.signedIn('#/entries/add-partner');
    const only = (label: string) => one.page.getByLabel(`Only these: ${label}`);
    await one.field('Name').fill('ci');
    await one.field('Issuer').fill(job.issuer);
    await one.field('Keys').selectOption('key');
    await one.field('Public key').fill(job.publicKeyPem());
    await one.field('Key id').fill(job.kid);
    await one.unfold();
    // A hint names properties only, and each of them is named at its own field.
    const hints = await one.page.locator('.hint').allInnerTexts();
    const properties = hints.flatMap((hint) => /^\S+(?=: )/.exec(hint) ?? []);
    const named = hints
      .filter((hint) => !hint.startsWith('The kid'))
      .flatMap((hint) => hint.match(/\b[a-z]+[A-Z]\w*/g) ?? []);
    expect(named.filter((name) => !properties.some((one) => one.split('.').includes(name)))).toEqual([]);
    expect(hints.filter((hint) => /\["|"\]|\[\]/.test(hint))).toEqual([]);
    await one.field('User whom its tokens act as').fill(userId);
    await one.field('E-mail domains of its users').fill('ci.test');
    await one.button('Store the entry').click();
    const atDomains = one.page.locator('.field', { has: one.field('E-mail domains of its users') });
    await atDomains.getByRole('alert').getByText('Must not be set with signInAs').waitFor();
    await one.field('E-mail domains of its users').fill('');
    await only('Sign-in methods').check();
    await one.page.getByLabel('Token exchange', { exact: true }).check();
    await only('Subjects').check();
    await one.field('Subjects').fill('deployer');
    await one.field('Scopes').fill('workflow:read');
    await one.field('Name').focus();
    await one.text(`Acts as the user ${userId}`);
    await one.button('Store the entry').click();
    await one.text('All instances accept its tokens within 10 seconds.');
    const claims = { sub: 'deployer', aud: browsing.instanceOrigin, email: undefined };
    expect((await browsing.exchange(job.sign(job.claims(claims)))).status).toBe(200);
  });

  it('report which flow is off, and how to turn it on', async () => {
    const one = await browsing.signedIn();
    await one.text('Embedded login is off:');
    await one.text('SVC_EMBED_LOGIN_ENABLED=true turns it on.');
    expect(await one.page.getByText('Token exchange is off:').count()).toBe(0);
    expect(await one.page.getByText('All well').count()).toBe(0);
  });
});

/** RFC 7638, of the key by which the partner signs. */
function thumbprintOf(partner: Partner): Promise<string> {
  return calculateJwkThumbprint(partner.jwks().keys[0] ?? {});
}
