// The whole way of a visitor through a frame of another site, in a Chromium that blocks third-party cookies.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { playwrightTab } from './support/playwright-tab.js';
import { Journey, WORKFLOW } from './support/journey.js';

describeInBrowser('a frame without cookies', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: WORKFLOW, ben: 'Secret of ben' } });

  it('[D25] signs in, lists, opens, renews, survives a reload of the host page, and signs out', async () => {
    await new Journey(browsing, playwrightTab(await browsing.context.newPage())).walk();
    expect(await browsing.context.cookies()).toEqual([]);
  });

  it('[D51] shows two users side by side, and one goes on when the other signs out', async () => {
    await new Journey(browsing, playwrightTab(await browsing.context.newPage())).walkTogether();
  });
});
