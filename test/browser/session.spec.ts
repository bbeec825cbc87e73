// The life of a session in the frame: login, renewal, end, sign-out, and what the host page is told of it.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sessionHashOf } from '../support/logins.js';
import { ProductPage } from '../support/partner-site.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 60_000;
const SESSION_COOKIE = '__Host-svc-session';

describeInBrowser('a session in the frame', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  const signedIn = async (name?: string) => {
    const product = await browsing.productPage(name);
    await product.login(browsing.token('ada'));
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };
  const openSessions = () =>
    browsing.service.rows<{ id_hash: Buffer }>('SELECT id_hash FROM token_exchange_session');
  const carriedSessions = async () => {
    const cookies = await browsing.context.cookies(browsing.instanceOrigin);
    return cookies.map(({ value }) => sessionHashOf(`${SESSION_COOKIE}=${value}`));
  };

  describe('[D28] logout', () => {
    it('[D28] by the host page ends the session without loading the frame again', async () => {
      const product = await signedIn();
      await product.markFrame();
      const before = await openSessions();
      await product.logout();
      await product.heading('You have signed out');
      await product.event(2);
      expect((await product.events()).slice(1)).toEqual([['session-ended', { reason: 'signed-out' }]]);
      expect(await product.isFrameMarked()).toBe(true);
      expect(await openSessions()).toHaveLength(before.length - 1);
    });

    it('[D28] is reported once, though the page in the frame hears of it late', async () => {
      const product = await browsing.productPage();
      await product.holdSignOutUp();
      await product.login(browsing.token('ada'));
      await product.event(1);
      // Meanwhile another frame signs out, and the page hears that the session is over.
      await product.logout();
      await product.heading('Your session has ended');
      await product.deliver();
      await product.page.waitForTimeout(500);
      expect((await product.events()).slice(1)).toEqual([['session-ended', { reason: 'signed-out' }]]);
      await product.login(browsing.token('ada'));
      await product.event(3);
      await product.logout();
      expect(await product.event(4)).toEqual(['session-ended', { reason: 'signed-out' }]);
    });

    it.each(['/', '/nowhere'])(
      '[D28] is reported for what it is, though %s finds the session over before the answer comes',
      async (path) => {
        const product = await browsing.productPage();
        await product.holdSignOutAnswerUp();
        await product.login(browsing.token('ada'), path);
        await product.event(1);
        let refusals = 0;
        product.page.on('response', (answer) => {
          if (answer.url().endsWith('/rest/me') && answer.status() === 401) refusals += 1;
        });
        await product.logout();
        if (path === '/') {
          // It asks a second time before it believes that the session is over, and looks again once it has taken note of that.
          const hasFound = async () => refusals > 2 || (await product.events()).length > 1;
          await until('the page has found the session over', PATIENCE_MS, hasFound);
          await product.deliver();
        }
        expect(await product.event(2)).toEqual(['session-ended', { reason: 'signed-out' }]);
        if (path === '/') await product.heading('You have signed out');
      },
    );

    it('[D28] by the button in the frame notifies the host page, and leaves nothing of the user in view', async () => {
      const product = await signedIn();
      await product.frame.getByRole('button', { name: 'Sign out' }).click();
      await product.heading('You have signed out');
      expect(await product.event(2)).toEqual(['session-ended', { reason: 'signed-out' }]);
      expect(await product.frame.locator('body').textContent()).not.toContain('ada Tester');
      expect(await product.frame.getByText('Morning orders').count()).toBe(0);
    });

    it('[D28] in one frame reaches the other frames of the site, as an end before its time', async () => {
      const [one, other] = [await signedIn(), await signedIn()];
      await one.logout();
      await other.heading('Your session has ended');
      expect(await other.event(2)).toEqual(['session-ended', { reason: 'revoked' }]);
    });
  });

  it('[D28] a sign-out is reported once, for what it is, where the frame shows a page that says that nothing is there', async () => {
    const [one, other] = [await browsing.productPage(), await browsing.productPage()];
    for (const product of [one, other]) {
      await product.login(browsing.token('ada'), '/nowhere');
      expect((await product.event(1))[0]).toBe('session-ready');
      await product.heading('Page not found');
    }
    // The second login has put another session in the place of the first.
    expect((await one.event(2))[0]).toBe('session-ready');
    await one.logout();
    expect(await one.event(3)).toEqual(['session-ended', { reason: 'signed-out' }]);
    expect(await other.event(2)).toEqual(['session-ended', { reason: 'revoked' }]);
    await one.page.waitForTimeout(500);
    expect(await one.eventNames()).toEqual(['session-ready', 'session-ready', 'session-ended']);
  });

  it('[D26] a session that an operator ends is over at the next look', async () => {
    const product = await signedIn();
    for (const hash of await carriedSessions())
      await browsing.service.rows('DELETE FROM token_exchange_session WHERE id_hash = $1', [hash]);
    await product.reloadFrameSilently();
    await product.heading('You are not signed in');
  });

  describe('[4.1] the ways in', () => {
    it('[4.1] a login by GET works too, but has no origin that the page could talk to', async () => {
      const product = await browsing.productPage();
      await product.pointFrameTo(`${browsing.instanceOrigin}/rest/auth/embed?token=${browsing.token('ada')}`);
      await product.frame.getByText('Morning orders').waitFor();
      expect(product.frameUrl()).toBe(`${browsing.instanceOrigin}/`);
      // That a page of the instance is there is all that it says, to the script that asks.
      const said = (await product.messages()).map((message) => (message as { type: string }).type);
      expect(said.filter((type) => !/^page-load(ing|ed)$/.test(type))).toEqual([]);
    });

    it('[D24] going back after a second login leaves the product page, and posts no token again', async () => {
      const page = await browsing.context.newPage();
      await page.goto(`${browsing.originOf('partner.test')}/elsewhere`);
      const product = await ProductPage.open(
        page,
        browsing.originOf('partner.test'),
        browsing.instanceOrigin,
      );
      for (const count of [1, 2]) {
        await product.login(browsing.token('ada'));
        await product.event(count);
      }
      await page.goBack();
      await page.getByRole('heading', { name: 'Elsewhere' }).waitFor();
    });

    it('[D24] coming back from another page of the product shows the page, or an empty frame, never a refusal', async () => {
      const product = await signedIn();
      await product.page.getByRole('link', { name: 'Elsewhere' }).click();
      await product.page.getByRole('heading', { name: 'Elsewhere' }).waitFor();
      await product.page.goBack();
      await product.page.waitForLoadState('load');
      expect(product.frameUrl()).toMatch(
        new RegExp(`^(about:blank|${browsing.instanceOrigin}/(\\?lang=en)?)$`),
      );
      await product.login(browsing.token('ada'));
      await product.frame.getByText('Morning orders').waitFor();
    });
  });

  describe('[D26] renewal', () => {
    it('[D26] takes a new session without loading the frame again', async () => {
      const product = await signedIn();
      const [, first] = await product.event(1);
      await product.markFrame();
      await product.renew(browsing.token('ada'));
      const [name, second] = await product.event(2);
      expect(name).toBe('session-ready');
      expect(String(second['expiresAt']) > String(first['expiresAt'])).toBe(true);
      expect(await product.isFrameMarked()).toBe(true);
      expect(await product.page.locator('iframe').count()).toBe(1);
    });

    it('[D28] and a logout leave no session that the frame ever had', async () => {
      const product = await signedIn();
      const carried = await carriedSessions();
      await product.renew(browsing.token('ada'));
      await product.event(2);
      carried.push(...(await carriedSessions()));
      const open = async () =>
        (await openSessions()).filter((row) => carried.some((hash) => hash.equals(row.id_hash))).length;
      expect(await open()).toBe(2);
      await product.logout();
      await product.heading('You have signed out');
      expect(await open()).toBe(0);
    });
  });
});

describeInBrowser('[D26] the end of a session', () => {
  let clock: TestClock;
  let browsing: EmbeddedBrowsing;
  // Time that has passed in one test would be there from the start in the next, and licences end.
  beforeEach(async () => {
    clock = new TestClock();
    browsing = new EmbeddedBrowsing({ clock });
    await browsing.start();
    // It stands still, however long a busy machine takes.
    await browsing.context.clock.install();
    await browsing.context.clock.pauseAt(Date.now() + 60_000);
  });
  afterEach(() => browsing.stop());

  /** Time passes for the instance and for the browser. */
  const pass = async (seconds: number) => {
    clock.advance(seconds);
    await browsing.context.clock.fastForward(seconds * 1000);
  };
  /** The page asks again, half a second later, before it believes that the session is over. */
  const goOn = () => browsing.context.clock.resume();

  it('[D26] is announced 60 seconds before, put off by a renewal, and reported in the page and to the host', async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 }));
    const [, { expiresAt }] = await product.event(1);
    await pass(3539);
    expect(await product.eventNames()).toEqual(['session-ready']);
    await pass(1);
    expect(await product.event(2)).toEqual(['session-expiring', { expiresAt }]);
    await product.markFrame();

    await product.renew(browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 }));
    expect((await product.event(3))[0]).toBe('session-ready');
    // The frame of the renewal tells of it first; the page in view hears of it, and asks, a moment later.
    await product.found(1);
    await pass(3539);
    expect(await product.eventNames()).toHaveLength(3);
    await pass(1);
    expect((await product.event(4))[0]).toBe('session-expiring');

    await pass(60);
    await goOn();
    expect(await product.event(5)).toEqual(['session-ended', { reason: 'expired' }]);
    await product.heading('Your session has ended');
    expect(await product.frame.locator('body').innerText()).not.toContain('{');
    expect(await product.isFrameMarked()).toBe(true);
  });

  it('[D26] is announced at half time where little is left, so that renewals do not chase each other', async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 }));
    await product.event(1);
    const end = new Date(clock.nowMs() + 60_000).toISOString();
    await browsing.service.rows('UPDATE token_exchange_session SET expires_at = $1', [end]);
    await product.reloadFrame();
    await pass(29);
    expect(await product.eventNames()).toEqual(['session-ready', 'session-ready']);
    await pass(1);
    expect(await product.event(3)).toEqual(['session-expiring', { expiresAt: end }]);
  });

  it('[D26] is announced and reported while the frame shows a page that says that nothing is there, and put off by a renewal', async () => {
    const product = await browsing.productPage();
    const token = () => browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 });
    await product.login(token(), '/nowhere');
    const [, { expiresAt }] = await product.event(1);
    // The page in the frame has to find out whose session it is.
    await product.found(1);
    await pass(3540);
    expect(await product.event(2)).toEqual(['session-expiring', { expiresAt }]);
    await product.renew(token());
    expect((await product.event(3))[0]).toBe('session-ready');
    await product.found(2);
    await pass(3539);
    expect(await product.eventNames()).toHaveLength(3);
    await pass(1);
    expect((await product.event(4))[0]).toBe('session-expiring');
    await pass(60);
    await goOn();
    expect(await product.event(5)).toEqual(['session-ended', { reason: 'expired' }]);
    await product.page.waitForTimeout(500);
    expect(await product.eventNames()).toHaveLength(5);
  });
});
