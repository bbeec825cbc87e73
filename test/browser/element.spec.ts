// `<embedded-instance>`: the unchanged example of the guide, and the element's own behaviour.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';
import { TestClock } from '../support/test-clock.js';
import { exampleOfTheGuide } from './support/guide-example.js';

const LAST_STEP_SECONDS = 15;

describeInBrowser('<embedded-instance>', () => {
  let clock: TestClock;
  let browsing: EmbeddedBrowsing;
  beforeEach(async () => {
    clock = new TestClock();
    browsing = new EmbeddedBrowsing({ clock, environment: { SVC_EMBED_SESSION_TTL_SECONDS: '600' } });
    await browsing.start();
    await browsing.addCustomer('ada', 'Morning orders');
    await browsing.context.clock.install();
  });
  afterEach(() => browsing.stop());

  /** A page that is the guide's example and nothing else, with a backend that signs a token for each post. */
  const guidePage = async (tokens: () => string | undefined) => {
    const page = await browsing.context.newPage();
    await page.addInitScript(`window.events = [];
      for (const name of ['session-ready', 'session-expiring', 'session-ended', 'login-failed', 'reloaded'])
        document.addEventListener(name, ({ detail }) => events.push([name, detail]), true);`);
    const html = exampleOfTheGuide().replaceAll('https://instance.example', browsing.instanceOrigin);
    const url = browsing.serve('/guide', `<!doctype html><html lang="en">${html}`);
    await page.route('**/automation-token', (route) => {
      const token = tokens();
      return token === undefined ? route.fulfill({ status: 500 }) : route.fulfill({ body: token });
    });
    await page.goto(url);
    return page;
  };
  const token = (claims: object = {}) =>
    browsing.token('ada', { iat: clock.nowSeconds(), exp: clock.nowSeconds() + 60, ...claims });
  const frameOf = (page: ProductPage['page']) => page.frameLocator('embedded-instance iframe:visible');
  /** Waits until these events, and no others, were told. */
  const eventsAre = async (page: ProductPage['page'], names: readonly string[]) => {
    const isSo = `JSON.stringify(events.map(([name]) => name)) === '${JSON.stringify(names)}'`;
    await page.waitForFunction(isSo).catch(() => undefined);
    const events = await page.evaluate<[string, object][]>('events');
    // The details say why a login has failed.
    expect({ told: events.map(([name]) => name), events }).toEqual({ told: names, events });
  };
  /** The last step is shorter than the time limit of a login, which starts in the host page before or after that page's clock moves. */
  const pass = async (seconds: number) => {
    clock.advance(seconds);
    for (const step of [seconds - LAST_STEP_SECONDS, LAST_STEP_SECONDS])
      await browsing.context.clock.fastForward(step * 1000);
  };

  it('logs nothing to the console when it signs in', async () => {
    const lines: string[] = [];
    browsing.context.on('console', (line) => lines.push(line.text()));
    const page = await guidePage(() => token());
    await frameOf(page).getByText('Morning orders').waitFor();
    await page.waitForFunction('events.length > 0');
    expect(lines).toEqual([]);
  });

  it("signs in, renews, and signs in again after the end with the guide's ten lines", async () => {
    expect(exampleOfTheGuide().trim().split('\n').length).toBeLessThanOrEqual(10);
    let isOff = false;
    const page = await guidePage(() => (isOff ? undefined : token()));
    await frameOf(page).getByText('Morning orders').waitFor();
    await pass(541);
    const renewed = ['session-ready', 'session-expiring', 'session-ready'];
    await eventsAre(page, renewed);
    isOff = true;
    await pass(541);
    const failed = [...renewed, 'session-expiring', 'login-failed'];
    await eventsAre(page, failed);
    isOff = false;
    const shown = await page.locator('embedded-instance iframe').elementHandle();
    const inside = await shown?.contentFrame();
    await inside?.evaluate(`parent.postMessage({ type: 'session-ended', reason: 'expired' }, '*')`);
    await eventsAre(page, [...failed, 'session-ended', 'session-ready']);
    await frameOf(page).getByText('Morning orders').waitFor();
  });

  it("[D50] retries once with a new token, and again by the notice's button", async () => {
    const tokens = [token({ exp: 1 })];
    const page = await guidePage(() => tokens.pop() ?? token());
    await frameOf(page).getByText('Morning orders').waitFor();
    await eventsAre(page, ['login-failed', 'session-ready']);

    let isOff = true;
    const other = await guidePage(() => (isOff ? undefined : token()));
    await frameOf(other).getByRole('heading', { name: 'Not available at the moment' }).waitFor();
    await frameOf(other).getByText('tries again automatically').waitFor();
    await eventsAre(other, ['login-failed']);
    isOff = false;
    await frameOf(other).getByRole('button', { name: 'Try again' }).click();
    await frameOf(other).getByText('Morning orders').waitFor();
  });

  it('shows its page again after a move, follows its attributes, and is removed with its element', async () => {
    const page = await guidePage(() => token());
    await frameOf(page).getByText('Morning orders').waitFor();
    await page.evaluate(`document.body.prepend(document.querySelector('embedded-instance'))`);
    await frameOf(page).getByText('Morning orders').waitFor();
    await eventsAre(page, ['session-ready', 'reloaded', 'session-ready']);
    await page.evaluate(`document.querySelector('embedded-instance').setAttribute('lang', 'de')`);
    await frameOf(page).getByRole('button', { name: 'Abmelden' }).waitFor();
    await page.evaluate(`document.querySelector('embedded-instance').setAttribute('hide-header', '')`);
    await frameOf(page).locator('html[data-header="hidden"]').waitFor();
    await page.evaluate(`document.querySelector('embedded-instance').remove()`);
    expect(await page.locator('iframe').count()).toBe(0);
  });
});
