// The session cookie in a browser that blocks third-party cookies: it must survive, and without Partitioned it does not.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';

describeInBrowser('[D25] third-party cookies are blocked', () => {
  describe('with Partitioned', () => {
    const browsing = EmbeddedBrowsing.forBlock();

    it('[D25] a posted login shows the workflows of the user, and notifies the host page', async () => {
      await browsing.addCustomer('ada', 'Morning orders');
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'));
      expect((await product.event(1))[0]).toBe('session-ready');
      await product.frame.getByText('Morning orders').waitFor();
      expect(await product.frame.getByText('ada Tester').count()).toBe(1);
    });

    it('[D25] the session survives the reload of the product page, also for a frame that only points there', async () => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'));
      await product.frame.getByText('Morning orders').waitFor();
      await product.page.reload();
      await product.pointFrameTo(browsing.instanceOrigin);
      await product.frame.getByText('Morning orders').waitFor();
    });

    it('[D25] two users on two partner sites stay apart in one browser', async () => {
      const [one, other] = [await browsing.productPage(), await browsing.productPage('other.test')];
      await one.login(browsing.token('ada'));
      await other.login(browsing.token('ben'));
      await one.frame.getByText('ada Tester').waitFor();
      await other.frame.getByText('ben Tester').waitFor();
      await one.reloadFrame();
      await other.reloadFrame();
      await one.frame.getByText('ada Tester').waitFor();
      await other.frame.getByText('ben Tester').waitFor();
      expect(await other.frame.getByText('Morning orders').count()).toBe(0);
      await other.logout();
      await other.heading('You have signed out');
      await one.reloadFrame();
      await one.frame.getByText('ada Tester').waitFor();
    });

    it('[D25] who visits the instance itself is not signed in by a frame elsewhere', async () => {
      const page = await browsing.context.newPage();
      await page.goto(browsing.instanceOrigin);
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    });
  });

  describe('with SVC_EMBED_COOKIE_PARTITIONED=false', () => {
    const browsing = EmbeddedBrowsing.forBlock({ environment: { SVC_EMBED_COOKIE_PARTITIONED: 'false' } });

    it('[D25] the same login fails, and the script says so', async () => {
      const product = await browsing.productPage();
      await product.login(browsing.token('ada'));
      await product.page.getByRole('alert').getByText('Your browser did not keep the sign-in.').waitFor();
      expect(await product.event(1)).toEqual(['login-failed', { during: 'login', error: 'no_session' }]);
    });
  });
});
