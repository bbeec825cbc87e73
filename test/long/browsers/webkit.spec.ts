// A frame of another site in WebKitGTK, whose tracking prevention blocks the frame's cookies.
import { Journey, LISTS, ORDERS, WORKFLOW } from '../../browser/support/journey.js';
import { describeInBrowser } from '../../support/browser.js';
import { EmbeddedBrowsing } from '../../support/embedded-browsing.js';
import { hasWebKit, WebKitTab } from '../../support/webdriver.js';

describeInBrowser('<embedded-instance> in WebKit', () => {
  if (!hasWebKit()) {
    it.skip('skipped: there is no WebKit; install it (Debian: apt-get install -y webkit2gtk-driver xvfb)', () =>
      undefined);
    return;
  }
  // WebKit cannot resolve the tests' host names, so two addresses of this machine are the two sites.
  const browsing = EmbeddedBrowsing.forBlock({
    customers: { ada: WORKFLOW, ben: 'Secret of ben' },
    isWithoutNames: true,
  });
  let tab: WebKitTab;
  beforeAll(() => browsing.addCustomer('eve', ...ORDERS));
  beforeEach(async () => {
    tab = await WebKitTab.open();
  });
  afterEach(() => tab.close());

  it('signs in, lists, opens, renews, continues after a reload of the host page, and signs out', () =>
    new Journey(browsing, tab).walk());

  it('[D51] shows two users side by side, and one continues when the other signs out', () =>
    new Journey(browsing, tab).walkTogether());

  it("follows Back and Forward of the host page, and opens a link's place", () =>
    new Journey(browsing, tab).walkHistory());

  it.each(LISTS)("returns to the host page's scroll position each time, from %s", (path) =>
    new Journey(browsing, tab).walkBack(path),
  );
});
