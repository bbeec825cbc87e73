// A login by a plain form, without the script: its session is a cookie, and its page is `/`.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';

describeInBrowser('[D25] a login by a plain form, with third-party cookies blocked', () => {
  const fields = (browsing: EmbeddedBrowsing, sub: string) => ({ token: browsing.token(sub) });

  describe('with partitioned cookies', () => {
    const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });
    const signedIn = async (sub = 'ada', site?: string) => {
      const product = await browsing.productPage(site);
      await product.postPlainly(browsing.instanceOrigin, fields(browsing, sub));
      await product.frame.getByText(`${sub} Tester`).waitFor();
      return product;
    };
    const told = async (product: ProductPage) =>
      (await product.messages()).filter((message) =>
        (message as { type: string }).type.startsWith('session-'),
      );

    it("[D25] shows the user's workflows, and sends the session's event to the host page", async () => {
      const product = await signedIn();
      await product.frame.getByText('Morning orders').waitFor();
      expect(product.frameUrl()).toBe(`${browsing.instanceOrigin}/`);
      expect(await told(product)).toEqual([
        { type: 'session-ready', expiresAt: expect.any(String), userId: expect.any(String) },
      ]);
    });

    it('[D28] signs out by its button, and tells the host page', async () => {
      const product = await signedIn();
      await product.frame.getByRole('button', { name: 'Sign out' }).click();
      await product.heading('You have signed out');
      expect((await told(product)).at(-1)).toEqual({ type: 'session-ended', reason: 'signed-out' });
    });

    it('[D25] keeps the session when the product page reloads with a frame that points to the instance', async () => {
      const product = await signedIn();
      await product.page.reload();
      await product.pointFrameTo(browsing.instanceOrigin);
      await product.frame.getByText('Morning orders').waitFor();
    });

    it('[D25] keeps two users on two partner sites apart in one browser', async () => {
      const [one, other] = [await signedIn('ada'), await signedIn('ben', 'other.test')];
      for (const product of [one, other]) await (await product.shownFrame()).evaluate('location.reload()');
      await one.frame.getByText('ada Tester').waitFor();
      await other.frame.getByText('ben Tester').waitFor();
    });

    it('[D51] never reads or writes as another user than the one shown', async () => {
      const one = await signedIn('ada');
      const control = one.frame.getByRole('switch', { name: 'Morning orders' });
      await control.waitFor();
      await signedIn('ben');
      await one.heading('Another user has signed in');
      expect(await one.frame.getByText('Morning orders').count()).toBe(0);
      expect((await told(one)).at(-1)).toEqual({ type: 'session-ended', reason: 'another-user' });
      await one.frame.getByRole('button', { name: 'Reload' }).click();
      await one.frame.getByText('ben Tester').waitFor();
    });

    it('[D25] shares the cookie with another origin of the same site, which receives no messages', async () => {
      const product = await signedIn();
      const neighbour = await browsing.productPage('app.partner.test');
      await neighbour.pointFrameTo(browsing.instanceOrigin);
      await neighbour.frame.getByText('Morning orders').waitFor();
      expect(await told(neighbour)).toEqual([]);
      expect(await told(product)).toHaveLength(1);
    });

    it('[D25] does not sign in a direct visit to the instance', async () => {
      const page = await browsing.context.newPage();
      await page.goto(browsing.instanceOrigin);
      await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    });
  });

  describe('with SVC_EMBED_COOKIE_PARTITIONED=false', () => {
    const environment = { SVC_EMBED_COOKIE_PARTITIONED: 'false' };
    const browsing = EmbeddedBrowsing.forBlock({ environment, customers: { ada: 'Morning orders' } });

    it('[D25] leaves no cookie, and the page says that no one is signed in', async () => {
      const product = await browsing.productPage();
      await product.postPlainly(browsing.instanceOrigin, fields(browsing, 'ada'));
      await product.heading('You are not signed in');
    });
  });
});
