// The example of the guide in Firefox, which partitions the cookies of frames and reports the loading of empty ones.
import { firefoxPath, describeInBrowser, openFirefox } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { exampleOfTheGuide } from './support/guide-example.js';
import { loadTogether } from './support/two-users.js';

describeInBrowser('<embedded-instance> in Firefox', () => {
  if (firefoxPath() === undefined) {
    it.skip('skipped: there is no Firefox; set FIREFOX_PATH, or install it (Debian: apt-get install -y firefox-esr)', () =>
      undefined);
    return;
  }
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders', ben: 'Secret of ben' } });

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

  it('[D51] two users in two frames: one shows its user, the other says that it is another', async () => {
    const firefox = await openFirefox(['partner.test', 'instance.test']);
    try {
      const outcomes = await loadTogether(browsing, [['ada', 'ben']], firefox.context);
      const [loser, ...others] = outcomes.filter(({ told }) => /another[-_]user$/.test(told.at(-1) ?? ''));
      const winner = outcomes.find((outcome) => outcome !== loser);
      expect(others).toEqual([]);
      expect([loser?.shows, winner?.shows]).toEqual(['', `${winner?.sub} Tester`]);
      expect(loser?.drawn).not.toContain(`${winner?.sub} Tester`);
    } finally {
      await firefox.close();
    }
  });
});
