// A provider signs a user out while the frame is in view: the host page hears of it, and who did it.
import { BackChannelLogoutService } from '../../src/token-exchange/flows/back-channel-logout.service.js';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sendBeside } from '../support/flow-requests.js';
import { logoutToken } from '../support/logout-tokens.js';

/** As docs/logout.md promises, and a second for a busy machine. */
const WITHIN_MS = 6_000;
const LOADED_MS = 3_000;

describeInBrowser('[D131] a logout by the provider', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  it.each(['/', '/api/v1/docs'])(
    'is told by the page at %s within five seconds, without anything done there',
    async (path) => {
      const product = await browsing.productPage();
      const issuedAt = Math.floor(Date.now() / 1000);
      await product.login(browsing.token('ada', { iat: issuedAt }), path);
      expect((await product.event(1))[0]).toBe('session-ready');
      // The page that is led to has to know of the session itself.
      await product.page.waitForTimeout(LOADED_MS);
      const startedAt = performance.now();
      await sendBeside(browsing.service, { flow: 'logout', requestId: 'logout' }, (request) =>
        browsing.service
          .part(BackChannelLogoutService)
          .logOut(logoutToken(browsing.partner, { sub: 'ada', iat: issuedAt }), request),
      );
      expect(await product.event(2)).toEqual(['session-ended', { reason: 'signed-out-by-provider' }]);
      expect(performance.now() - startedAt).toBeLessThan(WITHIN_MS);
      await product.page.waitForTimeout(WITHIN_MS);
      expect(await product.eventNames()).toEqual(['session-ready', 'session-ended']);
      await product.page.close();
    },
  );
});
