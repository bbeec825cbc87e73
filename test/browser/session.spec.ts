// A session in the frame: login, renewal, end, sign-out, and the events for the host page.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';
import { TestClock } from '../support/test-clock.js';
import { until } from '../support/until.js';

describeInBrowser('a session in the frame', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  const signedIn = async (name?: string) => {
    const product = await browsing.productPage(name);
    await product.login(browsing.token('ada'));
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };
  const openSessions = () => browsing.service.rows('SELECT id_hash FROM token_exchange_session');
  const userShown = (product: ProductPage) => product.frame.getByText('ada Tester').count();

  describe('[D28] logout', () => {
    it('[D28] by the host page ends the session without reloading the frame', async () => {
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

    it("[D28] during a renewal ends the session, and the renewal's answer does not reopen it", async () => {
      const product = await signedIn();
      const frame = await product.shownFrame();
      await frame.evaluate(`{
        const ask = fetch;
        window.fetch = async (...how) => {
          const answer = await ask(...how);
          if (how[0] === '/rest/auth/embed') await new Promise((resolve) => (window.release = resolve));
          return answer;
        };
      }`);
      await product.renew(browsing.token('ada'));
      // The page's content security policy forbids eval, so Playwright cannot wait inside the page.
      await until('the renewal is answered', 60_000, () =>
        frame.evaluate<boolean>('window.release !== undefined'),
      );
      await product.logout();
      await product.heading('You have signed out');
      await frame.evaluate('release()');
      await product.page.waitForTimeout(300);
      expect(await product.eventNames()).toEqual(['session-ready', 'session-ended']);
      await product.heading('You have signed out');
    });
  });

  describe('[D25] and other windows', () => {
    it('[D25] no request has a cookie, and the key cannot be exported', async () => {
      const product = await signedIn();
      const headers: Promise<Record<string, string>>[] = [];
      product.page.on('request', (request) => headers.push(request.allHeaders()));
      await product.frame.getByRole('button', { name: 'Refresh' }).click();
      await product.frame.getByRole('status').getByText('1 workflow').waitFor();
      const sent = await Promise.all(headers);
      expect(sent.length).toBeGreaterThan(0);
      for (const each of sent) {
        expect(each['cookie']).toBeUndefined();
        expect(each['authorization']).toMatch(/^DPoP svs_/);
        expect(each['dpop']).toBeDefined();
      }
      expect(await browsing.context.cookies(browsing.instanceOrigin)).toEqual([]);
      const exported = `new Promise((resolve) => addEventListener('message', async ({ data }) => {
        if (data.type !== 'session-ready') return;
        const { privateKey } = data.handle.keys;
        resolve([privateKey.extractable, await crypto.subtle.exportKey('jwk', privateKey).catch(({ name }) => name)]);
      }))`;
      const tried = product.page.evaluate(exported);
      await product.reloadFrame();
      expect(await tried).toEqual([false, 'InvalidAccessError']);
    });

    it('[D25] an injected script cannot write HTML or script text', async () => {
      const product = await signedIn();
      const frame = await product.shownFrame();
      const tried = await frame.evaluate<string[]>(`[
        () => { document.body.innerHTML = '<img>'; },
        () => { document.body.append(Object.assign(document.createElement('script'), { text: 'window.ran = 1' })); },
      ].map((attempt) => { try { attempt(); return String(window.ran); } catch ({ name }) { return name; } })`);
      expect(tried).toEqual(['TypeError', 'TypeError']);
    });
  });

  describe('[4.1] without the script', () => {
    it('[4.1] a login by GET works too, but has no origin to send messages to', async () => {
      const product = await browsing.productPage();
      await product.page.evaluate('messages.length = 0');
      await product.pointFrameTo(`${browsing.instanceOrigin}/rest/auth/embed?token=${browsing.token('ada')}`);
      await product.frame.getByText('Morning orders').waitFor();
      expect(product.frameUrl()).toBe(`${browsing.instanceOrigin}/`);
      expect((await product.messages()).filter((message) => String(message).includes('session'))).toEqual([]);
    });

    it('[D24] going back after a second login leaves the product page', async () => {
      const product = await signedIn();
      await product.login(browsing.token('ada'));
      await product.event(2);
      expect(await product.historyLength()).toBe(2);
    });
  });

  describe('[D26] renewal', () => {
    it("[D51] with another user's token fails, and the content stays", async () => {
      const product = await signedIn();
      await product.renew(browsing.token('ben'));
      expect(await product.event(2)).toMatchObject(['login-failed', { error: 'session_of_another_user' }]);
      expect(await userShown(product)).toBe(1);
      await product.renew(browsing.token('ada'));
      expect((await product.event(3))[0]).toBe('session-ready');
    });
  });
});

describeInBrowser('[D26] the end of a session', () => {
  let clock: TestClock;
  let browsing: EmbeddedBrowsing;
  // Each test has its own clock and service: a clock that one test has advanced would expire the licence in the next.
  beforeEach(async () => {
    clock = new TestClock();
    browsing = new EmbeddedBrowsing({ clock, customers: { ada: 'Morning orders' } });
    await browsing.start();
    // The clock is stopped, so that a slow machine does not change the result.
    await browsing.context.clock.install();
    await browsing.context.clock.pauseAt(Date.now() + 60_000);
  });
  afterEach(() => browsing.stop());

  const token = () => browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 });
  /** Advances the clocks of the instance and the browser. */
  const pass = async (seconds: number) => {
    clock.advance(seconds);
    await browsing.context.clock.fastForward(seconds * 1000);
  };

  /** Shortens the session to a minute, because a test's licence ends soon after an hour, and lets the page notice it. */
  const shorten = async (product: ProductPage) => {
    const end = new Date(clock.nowMs() + 60_000).toISOString();
    await browsing.service.rows('UPDATE token_exchange_session SET expires_at = $1', [end]);
    await product.reloadFrame();
    return end;
  };

  it('[D26] is announced 60 seconds ahead, postponed by a renewal, and reported to the user and the host page', async () => {
    const product = await browsing.productPage();
    await product.login(token());
    const [, { expiresAt }] = await product.event(1);
    await pass(3539);
    expect(await product.eventNames()).toEqual(['session-ready']);
    await pass(1);
    expect(await product.event(2)).toEqual(['session-expiring', { expiresAt }]);
    await product.markFrame();

    await product.renew(token());
    expect((await product.event(3))[0]).toBe('session-ready');
    await pass(3539);
    expect(await product.eventNames()).toHaveLength(3);
    await pass(1);
    expect((await product.event(4))[0]).toBe('session-expiring');

    await pass(60);
    expect(await product.event(5)).toEqual(['session-ended', { reason: 'expired' }]);
    await product.heading('Your session has ended');
    expect(await product.isFrameMarked()).toBe(true);
  });

  it('[D26] keeps the content visible but inert under one notice, until the same user signs in again', async () => {
    const product = await browsing.productPage();
    await product.page.evaluate(`instance.on('retry', () => undefined)`);
    await product.login(token());
    await product.event(1);
    await shorten(product);
    await product.frame.getByRole('link', { name: 'Morning orders' }).click();
    await product.frame.getByText('Created').waitFor();
    await pass(61);
    await product.heading('Your session has ended');
    expect(await product.frame.getByRole('button', { name: 'Continue' }).count()).toBe(1);
    expect(await product.frame.locator('[inert] #detail').count()).toBe(1);
    await product.renew('no token');
    await product.page.waitForFunction(`events.some(([name]) => name === 'login-failed')`);
    const failed = `instance.renew(() => Promise.reject(new Error('The partner is away.'))).catch(({ error }) => error)`;
    expect(await product.page.evaluate(failed)).toBe('no_token');
    expect(await product.frame.locator('main h2').allTextContents()).toEqual([
      'Your session has ended',
      'Morning orders',
    ]);
    await product.renew(token());
    await product.frame.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await product.frame.locator('main h2').allTextContents()).toEqual(['Morning orders']);
    expect(await product.frame.locator('[inert]').count()).toBe(0);
  });

  it("[D26] shows the content to no one else: another user's login shows that user's workflows", async () => {
    const product = await browsing.productPage();
    await product.login(token());
    await product.event(1);
    await shorten(product);
    await product.frame.getByRole('link', { name: 'Morning orders' }).waitFor();
    await pass(61);
    await product.heading('Your session has ended');
    await product.login(browsing.token('ben', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60 }));
    await product.heading('No workflows yet');
    expect(await product.frame.getByText('Morning orders').count()).toBe(0);
  });

  it('[D26] is announced at half time if little time is left, so that renewals do not loop', async () => {
    const product = await browsing.productPage();
    await product.login(token());
    await product.event(1);
    const end = await shorten(product);
    await pass(29);
    expect(await product.eventNames()).toEqual(['session-ready', 'session-ready']);
    await pass(1);
    expect(await product.event(3)).toEqual(['session-expiring', { expiresAt: end }]);
  });
});
