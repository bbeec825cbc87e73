// What the host page is told of logins that are refused, slow or lost: at once, exactly once, with a reason.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';

/** Longer than the wait after which silence counts as a failure. */
const SLOW_MS = 4_000;

describeInBrowser('the events of a login', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });
  afterEach(() => browsing.closePages());

  const wait = (product: ProductPage) => product.page.waitForTimeout(SLOW_MS);
  const signedIn = async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.event(1);
    return product;
  };

  describe('[D50] a refused login', () => {
    it('[D50] is reported at once and once with its code, and the previous session continues', async () => {
      const product = await browsing.productPage();
      const token = browsing.token('ada');
      await product.login(token);
      await product.event(1);
      await product.login(token);
      expect(await product.event(2)).toEqual([
        'login-failed',
        { during: 'login', error: 'token_replayed', requestId: expect.any(String) },
      ]);
      await product.frame.getByRole('button', { name: 'Refresh' }).click();
      await product.frame.getByText('Morning orders').waitFor();
      await wait(product);
      expect(await product.eventNames()).toEqual(['session-ready', 'login-failed']);
    });

    it('[D50] is a notice with a reference if nothing else is shown', async () => {
      const product = await browsing.productPage();
      await product.login('no token');
      const [, { requestId }] = await product.event(1);
      await product.heading('You could not be signed in');
      await product.frame.getByText(String(requestId)).waitFor();
      expect(await product.page.getByRole('alert').count()).toBe(0);
    });

    it('[D50] in a renewal is reported too, and the frame keeps its content', async () => {
      const product = await signedIn();
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
});
