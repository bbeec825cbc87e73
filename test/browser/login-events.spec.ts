// What the host page is told of logins that are refused, slow, lost or led elsewhere: at once, exactly once, with a reason.
import type { Route } from 'playwright-core';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';
import { until } from '../support/until.js';

const LOGIN = /\/rest\/auth\/embed/;
const ME = /\/rest\/me$/;
/** Longer than any time within which silence could have been taken for a failure. */
const SLOW_MS = 4_000;
const PATIENCE_MS = 60_000;

describeInBrowser('the events of a login', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });
  afterEach(() =>
    Promise.all(
      browsing.context
        .pages()
        .slice(1)
        .map((page) => page.close()),
    ),
  );

  const late = (product: ProductPage, what: RegExp) =>
    product.page.route(what, async (route: Route) => {
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      await route.continue();
    });
  const sessions = async () => (await browsing.service.rows('SELECT 1 FROM token_exchange_session')).length;
  const wait = (product: ProductPage) => product.page.waitForTimeout(SLOW_MS);

  describe('[D50] a refused login', () => {
    it('[D50] shows a page for people, and reports its machine word at once and once', async () => {
      const product = await browsing.productPage();
      const token = browsing.token('ada');
      await product.login(token);
      await product.event(1);
      const before = await product.page.evaluate(() => performance.now());
      await product.login(token);
      expect(await product.event(2)).toEqual([
        'login-failed',
        { during: 'login', error: 'token_replayed', requestId: expect.any(String) },
      ]);
      const took = (await product.page.evaluate(() => performance.now())) - before;
      // Not at the limit of a login, half a minute.
      expect(took).toBeLessThan(20_000);
      await product.page.getByRole('alert').getByText('You could not be signed in').waitFor();
      expect(await product.frame.locator('body').innerText()).not.toContain('{');
      await wait(product);
      expect(await product.eventNames()).toEqual(['session-ready', 'login-failed']);
    });

    it('[D50] is a page too where the token is larger than anything that is read', async () => {
      const product = await browsing.productPage();
      await product.login('x'.repeat(300 * 1024));
      expect(await product.event(1)).toEqual([
        'login-failed',
        { during: 'login', error: 'payload_too_large', requestId: expect.any(String) },
      ]);
      // The card is there in the place of the frame, in which nothing else was.
      await product.page.getByRole('alert').getByText('You could not be signed in').waitFor();
      expect(await product.page.locator('#container iframe:visible').count()).toBe(0);
    });

    it('[D50] in a renewal reports the word too, and what the frame shows stays', async () => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'));
      await product.event(1);
      await product.renew(browsing.token('ada', { aud: 'https://elsewhere.example' }));
      expect(await product.event(2)).toEqual([
        'login-failed',
        { during: 'renewal', error: 'audience_mismatch', requestId: expect.any(String) },
      ]);
      await product.frame.getByText('Morning orders').waitFor();
      await product.renew(browsing.token('ada'));
      expect((await product.event(3))[0]).toBe('session-ready');
    });
  });

  describe('a slow login', () => {
    it('is no failure while the post takes its time', async () => {
      const product = await browsing.productPage();
      await late(product, LOGIN);
      await product.login(browsing.token('ada'));
      await product.event(1);
      expect(await product.eventNames()).toEqual(['session-ready']);
    });

    it('is no failure while /rest/me takes its time', async () => {
      const product = await browsing.productPage();
      await late(product, ME);
      await product.login(browsing.token('ada'));
      await product.event(1);
      expect(await product.eventNames()).toEqual(['session-ready']);
    });

    it('shows that it is under way, and fails once at the limit that the product page has set', async () => {
      const product = await browsing.productPage('partner.test', { loginTimeoutSeconds: 8 });
      await product.page.route(LOGIN, () => new Promise(() => undefined));
      await product.login(browsing.token('ada'));
      await product.frame.getByText('Loading …').waitFor();
      expect(await product.event(1)).toEqual(['login-failed', { during: 'login', error: 'timeout' }]);
      await wait(product);
      expect(await product.eventNames()).toEqual(['login-failed']);
      await product.page.unroute(LOGIN);
      await product.login(browsing.token('ada'));
      expect((await product.event(2))[0]).toBe('session-ready');
    });
  });

  it('a renewal that the page in view finds out first is told once, and ends with the answer of its own frame', async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    const [, first] = await product.event(1);
    await product.page.route(ME, async (route: Route) => {
      if (route.request().frame().url().includes('/renewed')) await product.event(2);
      await route.continue();
    });
    const renewal = product.page.evaluate(`instance.renew('${browsing.token('ada')}')`);
    const [name, second] = await product.event(2);
    expect([name, second === first]).toEqual(['session-ready', false]);
    expect(await renewal).toEqual(second);
    expect(await product.eventNames()).toHaveLength(2);
  });

  it.each(['/nowhere', '/healthz', '/#anywhere', '/?theme=dark'])(
    '[D24] a login that leads to %s is told as ready, and as nothing else',
    async (path) => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'), path);
      expect((await product.event(1))[0]).toBe('session-ready');
      await wait(product);
      expect(await product.eventNames()).toEqual(['session-ready']);
      const [url, asked] = [new URL(product.frameUrl()), new URL(path, browsing.instanceOrigin)];
      expect([url.pathname, url.hash]).toEqual([asked.pathname, asked.hash]);
    },
  );

  it.each(['/', '/nowhere'])(
    'the page %s says that all is told when the last of its looks has an answer, not when another takes its place',
    async (path) => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'));
      await product.event(1);
      const before = (await product.messages()).length;
      const toldOfLoading = async () =>
        (await product.messages())
          .slice(before)
          .map((message) => (message as { type: string }).type)
          .filter((type) => type.startsWith('page-'));
      const looks: Route[] = [];
      await product.page.route(ME, (route) => void looks.push(route));
      await product.pointFrameTo(browsing.instanceOrigin + path);
      await until(
        'the first look',
        PATIENCE_MS,
        async () => looks.length === 1 && (await toldOfLoading()).length > 0,
      );
      const frame = await product.shownFrame();
      await frame.evaluate(`new BroadcastChannel('svc-session').postMessage('another session')`);
      await until('the second look', PATIENCE_MS, () => looks.length === 2);
      await product.page.waitForTimeout(200);
      expect(await toldOfLoading()).toEqual(['page-loading']);
      await looks[1]?.continue();
      await until('its answer', PATIENCE_MS, async () => (await toldOfLoading()).length > 1);
      expect(await toldOfLoading()).toEqual(['page-loading', 'page-loaded']);
    },
  );

  describe('[D28] logout()', () => {
    it('[D28] ends the session that there is, also after a refused login', async () => {
      const product = await browsing.productPage();
      const token = browsing.token('ada');
      await product.login(token);
      await product.event(1);
      await product.login(token);
      await product.event(2);
      const before = await sessions();
      await product.logout();
      expect(await product.event(3)).toEqual(['session-ended', { reason: 'signed-out' }]);
      expect(await sessions()).toBeLessThan(before);
      await product.pointFrameTo(browsing.instanceOrigin);
      await product.heading('You are not signed in');
    });
  });
});
