// A frame of another site in Firefox: with strict protection, with all third-party cookies blocked, and after sleep and outages.
import { setTimeout as pause } from 'node:timers/promises';
import { ElementPage } from '../../browser/support/element-page.js';
import { exampleOfTheGuide } from '../../browser/support/guide-example.js';
import { Journey, LISTS, ORDERS, WORKFLOW } from '../../browser/support/journey.js';
import { playwrightTab } from '../../browser/support/playwright-tab.js';
import type { StoppableBrowser } from '../../support/browser.js';
import { describeInBrowser, firefoxPath, openFirefox } from '../../support/browser.js';
import { EmbeddedBrowsing } from '../../support/embedded-browsing.js';

const NAMES = ['partner.test', 'instance.test'];
const SESSION_SECONDS = 60;
const LONGER_MS = (SESSION_SECONDS + 5) * 1000;
const PATIENCE_MS = 70_000;
const PROTECTIONS: [string, Record<string, number | boolean | string>][] = [
  [
    'strict protection',
    {
      'browser.contentblocking.category': 'strict',
      'network.cookie.cookieBehavior': 5,
      'privacy.trackingprotection.enabled': true,
    },
  ],
  ['all third-party cookies blocked', { 'network.cookie.cookieBehavior': 1 }],
];

describeInBrowser('<embedded-instance> in Firefox', () => {
  if (firefoxPath() === undefined) {
    it.skip('skipped: there is no Firefox; set FIREFOX_PATH, or install it (Debian: apt-get install -y firefox-esr)', () =>
      undefined);
    return;
  }
  const browsing = EmbeddedBrowsing.forBlock({
    isBehindProxy: true,
    customers: { ada: WORKFLOW, ben: 'Secret of ben' },
    environment: { SVC_EMBED_SESSION_TTL_SECONDS: String(SESSION_SECONDS) },
  });
  let firefox: StoppableBrowser;
  beforeAll(() => browsing.addCustomer('eve', ...ORDERS));
  const start = async (preferences: Record<string, number | boolean | string> = {}) => {
    firefox = await openFirefox(NAMES, preferences);
    firefox.context.setDefaultTimeout(PATIENCE_MS);
    return firefox.context;
  };
  afterEach(async () => {
    await firefox.close();
    await browsing.proxy.behave('none');
  });

  it.each(PROTECTIONS)(
    'with %s signs in, lists, opens, renews, survives a reload of the host page, and signs out',
    async (_, preferences) => {
      const context = await start(preferences);
      await new Journey(browsing, playwrightTab(await context.newPage())).walk();
    },
  );

  it.each(PROTECTIONS)(
    '[D51] with %s shows two users side by side, and one continues when the other signs out',
    async (_, preferences) => {
      const context = await start(preferences);
      await new Journey(browsing, playwrightTab(await context.newPage())).walkTogether();
    },
  );

  it("follows Back and Forward of the host page, and opens a link's place", async () => {
    const context = await start();
    await new Journey(browsing, playwrightTab(await context.newPage())).walkHistory();
  });

  it.each(LISTS)("returns to the host page's scroll position each time, from %s", async (path) => {
    const context = await start();
    await new Journey(browsing, playwrightTab(await context.newPage())).walkBack(path);
  });

  it("signs in with the guide's ten lines, and shows its page again after a move", async () => {
    const html = exampleOfTheGuide().replaceAll('https://instance.example', browsing.instanceOrigin);
    browsing.serve('/automation-token', browsing.token('ada'));
    const page = await (await start()).newPage();
    await page.goto(browsing.serve('/guide', `<!doctype html><html lang="en">${html}`));
    const shown = page.frameLocator('embedded-instance iframe').getByText(WORKFLOW);
    await shown.waitFor();
    await page.evaluate(`document.body.prepend(document.querySelector('embedded-instance'))`);
    await shown.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it.each<[string, () => void | Promise<void>, () => void | Promise<void>]>([
    ['a sleep', () => firefox.signal('SIGSTOP'), () => firefox.signal('SIGCONT')],
    ['an outage', () => browsing.proxy.behave('away'), () => browsing.proxy.behave('none')],
  ])('returns to its place after %s that is longer than the session', async (_, begin, end) => {
    const host = {
      context: await start(),
      instanceOrigin: browsing.instanceOrigin,
      serve: (path: string, html: string) => browsing.serve(path, html),
    };
    const token = () => browsing.token('ada');
    const page = await ElementPage.open(host, { token, attributes: 'redirect-to="/#search=morning"' });
    await page.frame.getByRole('link', { name: WORKFLOW }).waitFor();
    // The driver's mouse cannot reach a frame of another site.
    const click = async (selector: string) =>
      (await page.inside()).evaluate(`document.querySelector('${selector}').click()`);
    await click('main a');
    await page.frame.getByText('administrators').waitFor();
    // Half of the session may have passed: then it was renewed.
    const logins = (await page.names()).filter((name) => name === 'session-ready').length;
    await begin();
    await pause(LONGER_MS);
    await end();
    await page.told('session-ready', logins + 1);
    await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
    await click('#back');
    await page.frame.locator('#count', { hasText: '1 found' }).waitFor();
    expect(await page.frame.getByRole('searchbox').inputValue()).toBe('morning');
    expect(await page.page.getByRole('alert').count()).toBe(0);
  });
});
