// `<embedded-instance>` at the end of a session, without a network, with another user, and with every kind of wrong use.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sizeOf } from '../support/series.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';
import { findingsIn } from './support/accessibility.js';
import { ElementPage } from './support/element-page.js';

const WORKFLOW = 'Morning orders';
const PATIENCE_MS = 60_000;
/** The whole series is longer than the list of sessions that a user may have. */
const RELOADS = sizeOf({ small: 3, whole: 150 });
const RELOADS_MS = 1_000_000;

describeInBrowser('<embedded-instance>', () => {
  const browsing = EmbeddedBrowsing.forBlock({
    isBehindProxy: true,
    customers: { ada: WORKFLOW, ben: 'Secret of ben' },
    environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000' },
  });
  afterEach(async () => {
    await browsing.proxy.behave('none');
    await browsing.closePages();
    await browsing.context.clearCookies();
  });

  const open = (options: Partial<Parameters<typeof ElementPage.open>[1]> = {}) =>
    ElementPage.open(browsing, { token: () => browsing.token('ada'), ...options });
  const signedIn = async (options: Parameters<typeof open>[0] = {}) => {
    const page = await open(options);
    await page.frame.getByText(WORKFLOW).waitFor();
    return page;
  };
  /** Shows one workflow, with a filter behind it. */
  const atWorkflow = async (attributes = '') => {
    const page = await signedIn({ attributes });
    await page.frame.getByRole('searchbox').fill('morning');
    await page.frame.getByLabel('State').selectOption('inactive');
    await page.frame.locator('#count', { hasText: '1 found' }).waitFor();
    await page.frame.getByRole('link', { name: WORKFLOW }).click();
    await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
    await page.frame.getByText('administrators').waitFor();
    return page;
  };
  const isBackAtWorkflow = async (page: ElementPage) => {
    await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
    await page.frame.getByRole('button', { name: 'All workflows' }).click();
    await page.frame.locator('#count', { hasText: '1 found' }).waitFor();
    expect(await page.frame.getByLabel('State').inputValue()).toBe('inactive');
    expect(await page.frame.getByRole('searchbox').inputValue()).toBe('morning');
  };
  const endSessions = () => browsing.service.rows('DELETE FROM token_exchange_session');

  describe('if the host page changes the user', () => {
    it('uses a new fetchToken for the next login, and signs in again for a new user-key, keeping nothing of the first user', async () => {
      let sub = 'ada';
      const page = await signedIn({ attributes: 'user-key="1"', token: () => browsing.token(sub) });
      await page.run('(element.fetchToken = element.fetchToken.bind(null), 0)');
      await page.page.waitForTimeout(500);
      expect(page.tokens).toBe(1);
      sub = 'ben';
      await page.run(`element.setAttribute('user-key', '2')`);
      expect(await page.frame.getByText(WORKFLOW).count()).toBe(0);
      await page.frame.getByText('Secret of ben').waitFor();
      expect(await page.frame.getByText(WORKFLOW).count()).toBe(0);
      expect([page.tokens, await page.names()]).toEqual([2, ['session-ready', 'session-ready']]);
    });

    it('continues the session at its place if it is mounted again with the same user-key: 25 mounts use one token', async () => {
      const page = await atWorkflow('user-key="1"');
      for (let mount = 1; mount <= 25; mount += 1) {
        await page.run(
          `(element.remove(), setTimeout(() => document.body.append(element.cloneNode()), 5), 0)`,
        );
        await page.page.waitForFunction(`!!document.querySelector('embedded-instance')`);
        await page.run('(element.fetchToken = () => { throw new Error("never") }, 0)');
        await page.told('session-ready', mount + 1);
      }
      await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
      expect(page.tokens).toBe(1);
    });
  });

  it(
    'does not end other frames of the same user when one tab reloads many times',
    async () => {
      const elsewhere = await signedIn();
      const tab = await signedIn();
      for (let reload = 1; reload <= RELOADS; reload += 1) {
        await tab.page.reload();
        await tab.frame.getByText(WORKFLOW).waitFor();
      }
      expect(tab.tokens).toBe(RELOADS + 1);
      await elsewhere.frame.getByRole('button', { name: 'Refresh' }).click();
      await elsewhere.frame.getByText(WORKFLOW).waitFor();
      expect([elsewhere.tokens, await elsewhere.names()]).toEqual([1, ['session-ready']]);
    },
    RELOADS_MS,
  );

  describe('in an outage', () => {
    it('keeps the shown workflow if the session ends, and returns to it with filter and search', async () => {
      const page = await atWorkflow();
      await browsing.proxy.behave('away');
      // The end that the page has counted down to.
      await (
        await page.inside()
      ).evaluate(`parent.postMessage({ type: 'session-ended', reason: 'expired' }, '*')`);
      await page.told('login-failed');
      expect(await page.frame.getByRole('heading', { name: WORKFLOW }).count()).toBe(1);
      expect(await findingsIn(await page.inside())).toEqual([]);
      await endSessions();
      await browsing.proxy.behave('none');
      await page.told('session-ready', 2);
      await isBackAtWorkflow(page);
      expect(await page.page.getByRole('alert').count()).toBe(0);
    });

    it('retries with growing delays and when the browser is online, and stops when it is removed', async () => {
      let isOff = true;
      const context = await browsing.context.browser()!.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(PATIENCE_MS);
      await context.clock.install();
      await context.clock.pauseAt(Date.now() + PATIENCE_MS);
      const serve = (path: string, html: string) => browsing.serve(path, html);
      const page = await ElementPage.open(
        { context, instanceOrigin: browsing.instanceOrigin, serve },
        { token: () => (isOff ? undefined : browsing.token('ada')) },
      );
      // One at once; then each pause is the longest that its turn has, or up to half of it less.
      for (const [failures, longestMs] of [1000, 2000, 4000].entries()) {
        await page.told('login-failed', failures + 1);
        expect(page.tokens).toBe(failures + 1);
        await context.clock.runFor(longestMs / 2 - 1);
        expect(page.tokens).toBe(failures + 1);
        await context.clock.runFor(longestMs / 2 + 1);
        await until('it asks again', PATIENCE_MS, () => page.tokens === failures + 2);
      }
      await page.told('login-failed', 4);
      isOff = false;
      await page.run(`(dispatchEvent(new Event('online')), 0)`);
      await context.clock.resume();
      await page.frame.getByText(WORKFLOW).waitFor();
      expect(page.tokens).toBe(5);
      isOff = true;
      await page.run('(element.instance.logout(), 0)');
      await page.told('session-ended');
      await page.run('(element.signIn(), 0)');
      await page.told('login-failed', 5);
      await page.run(`(element.remove(), 0)`);
      await context.clock.fastForward(PATIENCE_MS);
      await page.page.waitForTimeout(500);
      expect(page.tokens).toBe(6);
      await context.close();
    });

    it('waits as long as a refusal requests', async () => {
      let answers = 0;
      const page = await open({ token: () => `no token ${(answers += 1)}` });
      await page.told('login-failed');
      await page.page.close();
      const clock = new TestClock();
      const limited = new EmbeddedBrowsing({
        clock,
        environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1' },
      });
      await limited.start();
      try {
        const options = { token: () => limited.token('ada', { iat: clock.nowSeconds() }) };
        await (await ElementPage.open(limited, options)).told('session-ready');
        const second = await ElementPage.open(limited, options);
        const { error, retryAfterSeconds } = await second.told('login-failed');
        expect(error).toBe('too_many_requests');
        expect(Number(retryAfterSeconds)).toBe(60);
        await second.run(`(dispatchEvent(new Event('online')), 0)`);
        await second.page.waitForTimeout(3500);
        expect(second.tokens).toBe(1);
        await second.frame.getByText('too many sign-ins').waitFor();
      } finally {
        await limited.stop();
      }
    });
  });

  describe('after an end', () => {
    it('by an operator reports it with a way to continue at the same place', async () => {
      const page = await atWorkflow();
      await endSessions();
      await page.frame.getByRole('heading', { name: 'Your session has ended' }).waitFor();
      expect(await page.told('session-ended')).toEqual({ reason: 'revoked' });
      expect(page.tokens).toBe(1);
      await page.frame.getByRole('button', { name: 'Continue' }).click();
      await page.told('session-ready', 2);
      await isBackAtWorkflow(page);
    });
  });

  describe('with wrong options', () => {
    it('names a missing option once', async () => {
      const page = await open({
        body: '<script src="INSTANCE/embed.js"></script><embedded-instance></embedded-instance>',
      });
      await until('it warns', PATIENCE_MS, () => page.warnings.length > 0);
      await page.page.waitForTimeout(500);
      expect(page.warnings).toEqual([
        expect.stringMatching(
          /^<embedded-instance>: it needs the property fetchToken and the attribute title /,
        ),
      ]);
    });

    it('names invalid options and values, and signs in without them', async () => {
      const page = await signedIn({ attributes: 'theme="blue" hide-header="maybe" height="12"' });
      const texts = page.warnings.join('\n');
      for (const fault of [
        'theme is "blue". It must be light or dark or auto',
        'hideHeader is "maybe". It must be true or false',
        'height is "12". It must be auto',
      ])
        expect(texts).toContain(fault);
    });

    it('warns of the cause of a rejected fetchToken, and handles every rejection', async () => {
      const page = await open({ token: () => undefined });
      const errors: Error[] = [];
      page.page.on('pageerror', (error) => errors.push(error));
      await page.told('login-failed', 2);
      expect(page.warnings.join()).toContain('There is no token');
      expect(errors).toEqual([]);
    });
  });

  it('follows its attributes: false flags, a removed accent, a title, another place', async () => {
    const page = await signedIn({ attributes: 'hide-header="false" accent="#c2185b"' });
    const header = page.frame.getByRole('button', { name: 'Sign out' });
    await header.waitFor();
    const accented = page.frame.locator('html[style*="accent"]');
    await accented.waitFor({ state: 'attached' });
    await page.run(`element.removeAttribute('accent')`);
    await accented.waitFor({ state: 'detached' });
    await page.run(`(element.title = 'Flows')`);
    expect(await page.run('element.instance.frame.title')).toBe('Flows');
    await page.run(`element.setAttribute('redirect-to', '/#state=active')`);
    await page.frame.getByRole('heading', { name: 'No matching workflows' }).waitFor();
    expect(page.tokens).toBe(1);
    await page.run(`element.setAttribute('url', 'https://elsewhere.test:1')`);
    expect(await page.told('login-failed')).toMatchObject({ error: 'unreachable' });
  });

  it('changes its place with navigate() as with a link, without a token, and Back leads back', async () => {
    const page = await signedIn();
    await page.run(`element.navigate('/#search=nothing')`);
    await page.frame.getByRole('heading', { name: 'No matching workflows' }).waitFor();
    expect(await page.frame.getByRole('searchbox').inputValue()).toBe('nothing');
    await page.page.evaluate('history.back()');
    await page.frame.getByText(WORKFLOW).waitFor();
    await page.run(`element.navigate('https://elsewhere.test/')`);
    await page.frame.getByText(WORKFLOW).waitFor();
    expect(page.tokens).toBe(1);
    expect(await page.names()).not.toContain('login-failed');
  });

  it('shows a failure by one notice, by a child of the host page, or not at all', async () => {
    const token = () => undefined;
    const usual = await open({ token });
    await usual.frame.getByRole('heading', { name: 'Not available at the moment' }).waitFor();
    expect(await usual.page.getByRole('alert').count()).toBe(0);
    const none = await open({ token, attributes: 'error-ui="none"' });
    await none.told('login-failed');
    expect(await none.page.getByRole('alert').count()).toBe(0);
    expect(await none.frame.getByRole('heading', { name: 'Not available' }).count()).toBe(0);
    let isOff = true;
    const own = await open({
      token: () => (isOff ? undefined : browsing.token('ada')),
      content: '<p slot="error">Come back later</p>',
    });
    await own.told('login-failed');
    await own.page.getByText('Come back later').waitFor();
    expect(await own.page.getByRole('alert').count()).toBe(0);
    isOff = false;
    await own.run(`(element.signIn(), 0)`);
    await own.frame.getByText(WORKFLOW).waitFor();
    await own.page.getByText('Come back later').waitFor({ state: 'hidden' });
  });

  it('works in a shadow root', async () => {
    const page = await open({
      body: `<script src="INSTANCE/embed.js"></script><div id="host"></div><script>
        const root = document.getElementById('host').attachShadow({ mode: 'open' });
        root.innerHTML = '<embedded-instance title="Automation"></embedded-instance>';
        root.firstChild.fetchToken = FETCH;
        root.firstChild.addEventListener('session-ready', ({ detail }) => events.push(['ready', detail]));</script>`,
    });
    await page.told('ready');
    await page.frame.getByText(WORKFLOW).waitFor();
  });
});
