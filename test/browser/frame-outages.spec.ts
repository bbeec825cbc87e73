// What a frame shows and says where the network, a proxy or the instance fails: the page that was there, a card, one event.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { Fault } from '../support/faulty-proxy.js';
import type { ProductPage } from '../support/partner-site.js';
import { until } from '../support/until.js';

const PATIENCE_MS = 60_000;
/** Counts the frames that show the browser's own page of an error: nobody may read it. */
const NOTE_FAILED_FRAMES = `
  window.failed = 0;
  document.addEventListener('load', ({ target }) => (failed += target.contentDocument === null ? 1 : 0), true);
`;

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
  /** How a promise of the script ends, and after how many milliseconds. */
  const outcomeOf = (product: ProductPage, call: string) =>
    product.page.evaluate<[string, object, number]>(`(async () => {
      const since = performance.now();
      try { return ['resolved', await ${call}, performance.now() - since]; }
      catch ({ during, error }) { return ['rejected', { during, error }, performance.now() - since]; }
    })()`);
  const login = (product: ProductPage) => outcomeOf(product, `instance.login('${browsing.token('ada')}')`);

  it.each<[Fault, error: string]>([
    ['away', 'unreachable'],
    ['cut', 'unreachable'],
    ['bad-gateway', 'unreachable'],
    ['hang', 'timeout'],
  ])(
    '%s: says so by one event and one rejection, and keeps the page that was there',
    async (fault, error) => {
      const product = await signedIn({ loginTimeoutSeconds: 15 });
      await product.markFrame();
      await browsing.proxy.behave(fault);
      const [ended, detail] = await login(product);
      expect([ended, detail]).toEqual(['rejected', { during: 'login', error }]);
      expect((await product.events()).slice(1)).toEqual([['login-failed', { during: 'login', error }]]);
      expect(await product.isFrameMarked()).toBe(true);
      expect(await card(product).textContent()).toMatch(/^Not available at the moment\.(Try again)?$/);
      expect(await product.frame.getByText('Morning orders').count()).toBe(1);
    },
  );

  it('draws its card in the place of an empty frame, in the language of the host page, with a button that asks again', async () => {
    await browsing.proxy.behave('none');
    const product = await browsing.productPage('partner.test', { lang: 'de-CH' });
    await product.page.evaluate(`instance.on('retry', () => events.push(['retry', {}]))`);
    await browsing.proxy.behave('away');
    await login(product);
    await card(product).getByText('Zurzeit nicht verfügbar.').waitFor();
    expect(await product.page.locator('#container iframe:visible').count()).toBe(0);
    await browsing.proxy.behave('none');
    await card(product).getByRole('button', { name: 'Erneut versuchen' }).click();
    expect(await product.event(2)).toEqual(['retry', {}]);
    expect(await login(product)).toEqual(['resolved', (await product.event(3))[1], expect.any(Number)]);
    await product.frame.getByText('Morning orders').waitFor();
    expect(await card(product).count()).toBe(0);
  });

  it.each<Fault>(['away', 'cut'])(
    '%s: says so within a second where the script may ask by itself',
    async (fault) => {
      const { clock } = browsing.context;
      await clock.install();
      const product = await browsing.productPage();
      await product.page.evaluate(NOTE_FAILED_FRAMES);
      await browsing.proxy.behave(fault);
      await clock.pauseAt(Date.now() + PATIENCE_MS);
      try {
        const asked = product.page.waitForEvent('requestfailed', (request) =>
          request.url().endsWith('/embed.js'),
        );
        await product.login(browsing.token('ada'));
        await until('the frame has failed', PATIENCE_MS, () => product.page.evaluate<boolean>('failed > 0'));
        await clock.runFor(300);
        await asked;
        await clock.runFor(700);
        expect(await product.events()).toEqual([['login-failed', { during: 'login', error: 'unreachable' }]]);
      } finally {
        await clock.resume();
      }
    },
  );

  it('asks nothing by itself where the policy of the host page forbids it, and signs in all the same', async () => {
    const product = await browsing.productPage('partner.test', {}, "connect-src 'none'");
    expect((await login(product))[0]).toBe('resolved');
    await browsing.proxy.behave('away');
    const [, detail, milliseconds] = await login(product);
    expect(detail).toEqual({ during: 'login', error: 'unreachable' });
    expect(milliseconds).toBeGreaterThan(2900);
  });

  it('has each promise end once: with the session, or because another call took its place', async () => {
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
  });

  it.each(['/', '/nowhere'])(
    'says that a sign-out did not reach the instance, and tries again: %s',
    async (path) => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'), path);
      await product.event(1);
      await product.page.evaluate(
        `instance.on('logout-failed', (detail) => events.push(['logout-failed', detail]))`,
      );
      await browsing.proxy.behave('away');
      const [ended, detail] = await outcomeOf(product, 'instance.logout()');
      expect([ended, detail]).toEqual(['rejected', { during: 'logout', error: 'unreachable' }]);
      expect(await product.event(2)).toEqual(['logout-failed', { error: 'unreachable' }]);
      expect(await product.frame.getByText('Signing out did not work').count()).toBe(0);
      await browsing.proxy.behave('none');
      await product.page.evaluate(`dispatchEvent(new Event('online'))`);
      expect(await product.event(3)).toEqual(['session-ended', { reason: 'signed-out' }]);
    },
  );

  it('takes the note of a sign-out that failed away once the network is back', async () => {
    const product = await signedIn();
    await browsing.proxy.behave('away');
    await product.frame.getByRole('button', { name: 'Sign out' }).click();
    const note = product.frame.getByText('Signing out did not work');
    await note.waitFor();
    await (await product.shownFrame()).evaluate(`dispatchEvent(new Event('online'))`);
    await note.waitFor({ state: 'hidden' });
  });
});
