// The frame while the network, a proxy or the instance fails: it keeps its page or shows a card, and reports one event.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { Fault } from '../support/faulty-proxy.js';
import type { ProductPage } from '../support/partner-site.js';

describeInBrowser('a frame behind a proxy that fails', () => {
  const browsing = EmbeddedBrowsing.forBlock({ isBehindProxy: true, customers: { ada: 'Morning orders' } });
  afterEach(() => browsing.proxy.behave('none'));

  const signedIn = async (options: object = {}) => {
    const product = await browsing.productPage('partner.test', options);
    await product.login(browsing.token('ada'));
    await product.event(1);
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };
  const card = ({ page }: ProductPage) => page.getByRole('alert');
  /** The outcome of a promise of the script. */
  const outcomeOf = (product: ProductPage, call: string) =>
    product.page.evaluate<[string, object]>(`(async () => {
      try { return ['resolved', await ${call}]; }
      catch ({ during, error }) { return ['rejected', { during, error }]; }
    })()`);
  const login = (product: ProductPage) => outcomeOf(product, `instance.login('${browsing.token('ada')}')`);
  /** A host page that has loaded the script but not the frame. */
  const withoutFrame = async (fault: Fault, options: object = {}) => {
    const product = await browsing.productPage();
    await browsing.proxy.behave(fault);
    await product.page.evaluate(`{
      instance.remove();
      window.instance = new EmbeddedInstance({ container, title: 'Automation', ...${JSON.stringify(options)} });
      for (const name of ['session-ready', 'session-ended', 'login-failed', 'retry'])
        window.instance.on(name, (detail) => events.push([name, detail]));
    }`);
    return product;
  };

  it.each<[Fault, error: string]>([
    ['away', 'unreachable'],
    ['cut', 'unreachable'],
    ['bad-gateway', 'unreachable'],
    ['hang', 'timeout'],
  ])('reports %s by one event and one rejection, and keeps the shown page', async (fault, error) => {
    const product = await signedIn({ loginTimeoutSeconds: 10 });
    await product.markFrame();
    await browsing.proxy.behave(fault);
    expect(await login(product)).toEqual(['rejected', { during: 'login', error }]);
    expect((await product.events()).slice(1)).toEqual([['login-failed', { during: 'login', error }]]);
    expect(await product.isFrameMarked()).toBe(true);
    expect(await card(product).count()).toBe(0);
    expect(await product.frame.getByText('Morning orders').count()).toBe(1);
  });

  it.each<Fault>(['away', 'cut', 'bad-gateway'])(
    "on %s shows a card instead of a missing page, in the host page's language and with a retry button",
    async (fault) => {
      const product = await withoutFrame(fault, { lang: 'de-CH' });
      const failed = await outcomeOf(product, `window.instance.login('${browsing.token('ada')}')`);
      expect(failed).toEqual(['rejected', { during: 'login', error: 'unreachable' }]);
      await card(product).getByText('Zurzeit nicht verfügbar.').waitFor();
      expect(await product.page.locator('#container iframe:visible').count()).toBe(0);
      await browsing.proxy.behave('none');
      await card(product).getByRole('button', { name: 'Erneut versuchen' }).click();
      expect((await product.event(2))[0]).toBe('retry');
      const ready = await outcomeOf(product, `window.instance.login('${browsing.token('ada')}')`);
      expect(ready).toEqual(['resolved', (await product.event(3))[1]]);
      await product.frame.getByText('Morning orders').waitFor();
      expect(await card(product).count()).toBe(0);
      // Chromium may never paint a page that loads in a frame without layout.
      const box = await product.page.locator('#container iframe').boundingBox();
      expect(box?.height).toBeGreaterThan(400);
    },
  );

  it("signs in even if the host page's policy blocks the diagnosis, and reports no other cause", async () => {
    const product = await browsing.productPage('partner.test', {}, "connect-src 'none'");
    expect((await login(product))[0]).toBe('resolved');
  });

  it('settles each promise once: with the session, or because another call replaced it', async () => {
    const product = await browsing.productPage();
    const [first, second] = [browsing.token('ada'), browsing.token('ada')];
    const ends = await product.page.evaluate<[object, object]>(
      `Promise.all(['${first}', '${second}'].map((token) => instance.login(token).catch(({ during, error }) => ({ during, error }))))`,
    );
    expect(ends[0]).toEqual({ during: 'login', error: 'given_up' });
    expect(await product.events()).toEqual([['session-ready', ends[1]]]);
    const renewed = await outcomeOf(product, `instance.renew(Promise.resolve('${browsing.token('ada')}'))`);
    expect((await product.events()).at(-1)).toEqual(['session-ready', renewed[1]]);
    expect((await outcomeOf(product, `instance.renew(Promise.reject(new Error('no backend')))`))[1]).toEqual({
      during: 'renewal',
      error: 'no_token',
    });
    expect((await outcomeOf(product, 'instance.logout()'))[0]).toBe('resolved');
    expect((await product.events()).at(-1)).toEqual(['session-ended', { reason: 'signed-out' }]);
    // Nobody is signed in any more.
    expect((await outcomeOf(product, 'instance.logout()'))[0]).toBe('resolved');
    expect((await product.eventNames()).filter((name) => name === 'session-ended')).toHaveLength(1);
  });

  it('reports that a sign-out did not reach the instance, and retries', async () => {
    const product = await signedIn();
    await product.page.evaluate(
      `instance.on('logout-failed', (detail) => events.push(['logout-failed', detail]))`,
    );
    await browsing.proxy.behave('away');
    expect(await outcomeOf(product, 'instance.logout()')).toEqual([
      'rejected',
      { during: 'logout', error: 'unreachable' },
    ]);
    expect(await product.event(2)).toEqual(['logout-failed', { error: 'unreachable' }]);
    await browsing.proxy.behave('none');
    await product.page.evaluate(`dispatchEvent(new Event('online'))`);
    expect(await product.event(3)).toEqual(['session-ended', { reason: 'signed-out' }]);
  });

  it('removes the notice of a failed sign-out once the network is back', async () => {
    const product = await signedIn();
    await browsing.proxy.behave('away');
    await product.frame.getByRole('button', { name: 'Sign out' }).click();
    const note = product.frame.getByText('You could not be signed out');
    await note.waitFor();
    await (await product.shownFrame()).evaluate(`dispatchEvent(new Event('online'))`);
    await note.waitFor({ state: 'hidden' });
  });
});
