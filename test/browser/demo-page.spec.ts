// The demo partner's page in a browser: its customers, the frame, and the displayed requests.
import { join } from 'node:path';
import { ALICE, BRUNO } from '../../demo/cast.js';
import { freePort } from '../../demo/free-port.js';
import { Partner } from '../../demo/partner.js';
import { PartnerPage } from '../../demo/partner-page.js';
import type { TestBrowser } from '../support/browser.js';
import { describeInBrowser, openBrowser } from '../support/browser.js';
import { TestDatabase } from '../support/databases.js';
import { REPOSITORY } from '../support/source-files.js';
import { TestService } from '../support/test-service.js';
import { findingsIn } from './support/accessibility.js';

describeInBrowser("[P.origins] the demo partner's page", () => {
  const database = new TestDatabase('embedded');
  let service: TestService;
  let desk: PartnerPage;
  let browser: TestBrowser;

  beforeAll(async () => {
    await database.create();
    const [port, pagePort] = [await freePort(), await freePort()];
    const instanceUrl = `http://localhost:${port}`;
    const partner = Partner.create({ issuer: 'https://login.fernwick.example', audience: instanceUrl });
    service = await TestService.start(database, {
      trustedKeys: [partner.staticEntry({ origins: [PartnerPage.originAt(pagePort)] })],
      environment: { SVC_BASE_URL: instanceUrl, SVC_PORT: String(port) },
    });
    const assetFolder = join(REPOSITORY, 'demo', 'page');
    const customers = [ALICE, BRUNO];
    desk = await PartnerPage.listen({ assetFolder, port: pagePort, partner, instanceUrl, customers });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await desk?.close();
    await service?.stop();
    await database.remove();
  });

  it('[P.origins] signs the selected customer in, renews, is refused and signs out, and reports each step', async () => {
    const page = await browser.context.newPage();
    const events = page.locator('#events li');
    const told = async (count: number) => {
      await events.nth(count - 1).waitFor();
      return events.first().textContent();
    };
    const shown = () => page.frameLocator('iframe');
    const press = (name: string) => page.getByRole('button', { name }).click();
    await page.goto(desk.url);
    await shown().getByText('Alice Moreau').waitFor();
    expect(await told(1)).toContain('session-ready');

    await page.getByRole('radio', { name: 'Bruno' }).check();
    await press('Open automations');
    await shown().getByText('Bruno Adeyemi').waitFor();
    expect(await shown().getByText('Administrator', { exact: true }).count()).toBe(1);
    expect(await told(2)).toContain('session-ready');
    expect(await page.locator('#sent').textContent()).toContain('"sub": "customer-bruno"');
    await page.getByText('"status": "303 See Other"').waitFor();

    await press('Renew the session');
    expect(await told(3)).toContain('session-ready');
    await press('Sign the customer out');
    expect(await told(4)).toContain('session-ended {"reason":"signed-out"}');
    await press('Send the same token again');
    expect(await told(5)).toContain('login-failed {"during":"login","error":"token_replayed","requestId":');
    await page.getByText('"status": "401 Unauthorized"').waitFor();
  });

  it.each(['light', 'dark'] as const)(
    'is accessible, and shows who is signed in (%s)',
    async (colorScheme) => {
      const page = await browser.context.newPage();
      await page.emulateMedia({ colorScheme });
      await page.goto(desk.url);
      await page.locator('#state', { hasText: 'Alice Moreau is signed in.' }).waitFor();
      expect(await findingsIn(page.mainFrame())).toEqual([]);
      const again = page.getByRole('button', { name: 'Send the same token again' });
      await again.click();
      await page.locator('#state', { hasText: 'The instance refused the login: token_replayed.' }).waitFor();
      expect(await again.evaluate('document.activeElement.id')).toBe('again');
      expect(await page.getByRole('radio').count()).toBe(2);
      await page.getByText('Administrator', { exact: true }).waitFor();
      await page.close();
    },
  );
});
