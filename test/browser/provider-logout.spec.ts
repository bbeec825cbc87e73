// A provider signs a user out while the frame is shown: the host page gets an event with the reason.
import { BackChannelLogoutService } from '../../src/token-exchange/logout/back-channel-logout.service.js';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sendBeside } from '../support/flow-requests.js';
import { logoutToken } from '../support/logout-tokens.js';

/** The page checks its session within this time: docs/partner/logout.md promises five seconds. */
const ASKS_AFTER_MS = 4_000;
const HOUR_MS = 3_600_000;

describeInBrowser('[D131] a logout by the provider', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  let startMs = Date.now();
  beforeAll(() => browsing.context.clock.install());
  // The pages' clock advances only if the test says so, and never goes back.
  beforeEach(() => browsing.context.clock.pauseAt((startMs += HOUR_MS)));

  it('is reported by the page within five seconds without interaction', async () => {
    const product = await browsing.productPage();
    const issuedAt = Math.floor(Date.now() / 1000);
    await product.login(browsing.token('ada', { iat: issuedAt }));
    expect((await product.event(1))[0]).toBe('session-ready');
    await sendBeside(browsing.service, { flow: 'logout', requestId: 'logout' }, (request) =>
      browsing.service
        .part(BackChannelLogoutService)
        .logOut(logoutToken(browsing.partner, { sub: 'ada', iat: issuedAt }), request),
    );
    await browsing.context.clock.runFor(ASKS_AFTER_MS);
    expect(await product.event(2)).toEqual(['session-ended', { reason: 'signed-out-by-provider' }]);
    await product.frame.getByRole('heading', { name: 'Your company has signed you out' }).waitFor();
    await browsing.context.clock.resume();
    for (let look = 0; look < 3; look += 1) await browsing.context.clock.fastForward(ASKS_AFTER_MS);
    expect(await product.eventNames()).toEqual(['session-ready', 'session-ended']);
    await product.page.close();
  });
});
