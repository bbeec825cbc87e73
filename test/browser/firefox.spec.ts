// The example of the guide in Firefox, which partitions the cookies of frames and reports the loading of empty ones; and its ways back.
import { setTimeout as pause } from 'node:timers/promises';
import type { StoppableBrowser } from '../support/browser.js';
import { firefoxPath, describeInBrowser, openFirefox } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { ElementPage } from './support/element-page.js';
import { exampleOfTheGuide } from './support/guide-example.js';
import { loadTogether } from './support/two-users.js';

const WORKFLOW = 'Morning orders';
const SESSION_SECONDS = 60;
const LONGER_MS = (SESSION_SECONDS + 5) * 1000;
const PATIENCE_MS = 70_000;

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
  beforeEach(async () => {
    firefox = await openFirefox(['partner.test', 'instance.test']);
    firefox.context.setDefaultTimeout(PATIENCE_MS);
  });
  afterEach(async () => {
    await firefox.close();
    await browsing.proxy.behave('none');
  });

  it('signs in by the ten lines of the guide, and shows its page again after a move', async () => {
    const html = exampleOfTheGuide().replaceAll('https://instance.example', browsing.instanceOrigin);
    browsing.serve('/my-backend/automation-token', browsing.token('ada'));
    const page = await firefox.context.newPage();
    await page.goto(browsing.serve('/guide', `<!doctype html><html lang="en">${html}`));
    const shown = page.frameLocator('embedded-instance iframe:visible').getByText(WORKFLOW);
    await shown.waitFor();
    await page.evaluate(`document.body.prepend(document.querySelector('embedded-instance'))`);
    await shown.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('[D51] two users in two frames: one shows its user, the other says that it is another', async () => {
    const outcomes = await loadTogether(browsing, [['ada', 'ben']], firefox.context);
    const [loser, ...others] = outcomes.filter(({ told }) => /another[-_]user$/.test(told.at(-1) ?? ''));
    const winner = outcomes.find((outcome) => outcome !== loser);
    expect(others).toEqual([]);
    expect([loser?.shows, winner?.shows]).toEqual(['', `${winner?.sub} Tester`]);
    expect(loser?.drawn).not.toContain(`${winner?.sub} Tester`);
  });

  it.each<[string, () => void | Promise<void>, () => void | Promise<void>]>([
    ['a sleep', () => firefox.signal('SIGSTOP'), () => firefox.signal('SIGCONT')],
    ['an outage', () => browsing.proxy.behave('away'), () => browsing.proxy.behave('none')],
  ])('comes back to where it was after %s that is longer than the session', async (_, begin, end) => {
    const { context } = firefox;
    const host = {
      context,
      instanceOrigin: browsing.instanceOrigin,
      serve: (path: string, html: string) => browsing.serve(path, html),
    };
    const token = () => browsing.token('ada');
    const page = await ElementPage.open(host, { token, attributes: 'redirect-to="/#search=morning"' });
    await page.frame.getByRole('link', { name: WORKFLOW }).waitFor();
    // The driver's mouse reaches no frame of another site, whatever is in it.
    await clickInFrame(page, '.name');
    await page.frame.getByText('administrators').waitFor();
    // Half of the session may have passed: then it was renewed.
    const logins = (await page.names()).filter((name) => name === 'session-ready').length;
    await begin();
    await pause(LONGER_MS);
    await end();
    await page.told('session-ready', logins + 1);
    await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
    await clickInFrame(page, '#back');
    await page.frame.locator('#count', { hasText: '1 found' }).waitFor();
    expect(await page.frame.getByRole('searchbox').inputValue()).toBe('morning');
    expect(await page.page.getByRole('alert').count()).toBe(0);
  });
});

async function clickInFrame({ page }: ElementPage, selector: string): Promise<void> {
  const frame = await (await page.locator('embedded-instance iframe').elementHandle())?.contentFrame();
  await frame?.evaluate(`document.querySelector('${selector}').click()`);
}
