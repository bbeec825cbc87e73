// The example of the guide in Firefox, which partitions the cookies of frames and reports the loading of empty ones.
import { firefoxPath, describeInBrowser, openFirefox } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { exampleOfTheGuide } from './support/guide-example.js';

describeInBrowser('<embedded-instance> in Firefox', () => {
  if (firefoxPath() === undefined) {
    it.skip('skipped: there is no Firefox; set FIREFOX_PATH, or install it (Debian: apt-get install -y firefox-esr)', () =>
      undefined);
    return;
  }
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  it('signs in by the ten lines of the guide, and shows its page again after a move', async () => {
    const firefox = await openFirefox(['partner.test', 'instance.test']);
    try {
      const html = exampleOfTheGuide().replaceAll('https://instance.example', browsing.instanceOrigin);
      browsing.serve('/my-backend/automation-token', browsing.token('ada'));
      const page = await firefox.context.newPage();
      await page.goto(browsing.serve('/guide', `<!doctype html><html lang="en">${html}`));
      const shown = page.frameLocator('embedded-instance iframe:visible').getByText('Morning orders');
      await shown.waitFor();
      await page.evaluate(`document.body.prepend(document.querySelector('embedded-instance'))`);
      await shown.waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    } finally {
      await firefox.close();
    }
  });
});
