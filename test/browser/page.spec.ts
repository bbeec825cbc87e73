// The page in the frame: its controls, the keyboard, narrow frames, and its requests to the browser.
import type { Page, Route } from 'playwright-core';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { SHOWN_FRAME } from '../support/partner-site.js';

const LIST = /\/api\/v1\/workflows\?/;
const WIDTHS = {
  scrollWidth: 'document.documentElement.scrollWidth',
  clientWidth: 'document.documentElement.clientWidth',
};
const CHANGE = /\/api\/v1\/workflows\/[^/]+\/(de)?activate$/;

describeInBrowser('the page in the frame', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  let page: Page;
  beforeAll(async () => {
    const id = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (const name of ['Morning orders', 'A very long name of a workflow that'.repeat(3)])
      await createWorkflow(browsing.service, id, name);
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.event(1);
    page = product.page;
  });

  const frame = () => page.frameLocator(SHOWN_FRAME);
  const stateSwitch = () => frame().getByRole('switch', { name: 'Morning orders', exact: true });
  const checked = (isChecked: boolean) =>
    frame().getByRole('switch', { name: 'Morning orders', exact: true, checked: isChecked }).waitFor();
  const reload = async () => {
    const shown = await page.locator(SHOWN_FRAME).elementHandle();
    await (await shown?.contentFrame())?.evaluate('location.reload()');
    await frame().locator('#list:not([aria-busy=true])').getByText('Morning orders').waitFor();
  };

  it('respects its content security policy', async () => {
    const complaints: string[] = [];
    page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()));
    await reload();
    await frame().getByText('2 workflows').first().waitFor();
    await page.evaluate(`instance.configure({ theme: 'dark', accent: '#c2185b', hideHeader: true })`);
    await frame().locator('[data-header=hidden]').waitFor();
    expect(complaints).toEqual([]);
  });

  it('fits into 320 pixels without horizontal scrolling', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await reload();
    const { scrollWidth, clientWidth } = WIDTHS;
    const html = frame().locator('html');
    expect(await html.evaluate(scrollWidth)).toBe(await html.evaluate(clientWidth));
    await page.setViewportSize({ width: 900, height: 700 });
  });

  it('shows its filters in one line from 540 pixels', async () => {
    await page.setViewportSize({ width: 540, height: 640 });
    const tops = `[...document.querySelectorAll('.filters input, .filters select')].map((one) => one.getBoundingClientRect().bottom)`;
    expect(new Set(await frame().locator('html').evaluate<number[], unknown>(tops))).toHaveProperty(
      'size',
      1,
    );
    await page.setViewportSize({ width: 900, height: 700 });
  });

  it('offers no change if the user may not make one', async () => {
    await page.route(LIST, (route) => listed(route, {}));
    await reload();
    expect(await frame().getByRole('switch').count()).toBe(0);
    await frame().getByRole('listitem').getByText('Inactive', { exact: true }).waitFor();
    await page.unroute(LIST);
  });

  it('activates what the user may change', async () => {
    await reload();
    await stateSwitch().click();
    await checked(true);
    await reload();
    await checked(true);
    await stateSwitch().click();
    await checked(false);
  });

  // What the page makes of answers that the instance seldom gives.
  describe('if the user may change workflows', () => {
    const asked: string[] = [];
    const answerChanges = (work: (route: Route) => Promise<void>) =>
      page.route(CHANGE, async (route) => {
        asked.push(
          `${route.request().method()} ${new URL(route.request().url()).pathname.split('/').at(-1)}`,
        );
        await work(route);
      });

    beforeAll(async () => {
      await page.route(LIST, (route) => listed(route, { canEdit: true }));
      await reload();
    });
    afterEach(() => page.unroute(CHANGE));

    it('a switch works by keyboard, keeps the focus and reports the new state', async () => {
      await answerChanges((route) => route.fulfill({ status: 204 }));
      await stateSwitch().focus();
      await page.keyboard.press('Enter');
      await checked(true);
      expect(await frame().locator(':focus').getAttribute('aria-label')).toBe('Morning orders');
      await frame().getByRole('listitem').getByText('Active', { exact: true }).waitFor();
      expect(await frame().getByRole('status').textContent()).toBe(
        '\u2068Morning orders\u2069 is active now.',
      );
      expect(asked.splice(0)).toEqual(['POST activate']);
    });

    it("the instance's answer is shown", async () => {
      const updatedAt = new Date(Date.now() - 3 * 3_600_000).toISOString();
      await answerChanges((route) => route.fulfill({ json: { active: false, updatedAt } }));
      await stateSwitch().click();
      await checked(false);
      await frame().getByText('3 hours ago').waitFor();
      expect(asked.splice(0)).toEqual(['POST deactivate']);
    });

    it.each([
      [403, 'You can no longer change this workflow.'],
      [404, 'This workflow no longer exists.'],
      [500, 'This could not be changed. Please try again.'],
    ])('a failure (%d) is reported, and nothing is shown as changed', async (status, text) => {
      await answerChanges((route) => route.fulfill({ status, json: { error: 'any' } }));
      await stateSwitch().click();
      await frame().getByRole('listitem').getByText(text).waitFor();
      await checked(false);
    });

    it('[D26] the end of the session is reported', async () => {
      await answerChanges((route) => route.fulfill({ status: 401, json: { error: 'invalid_token' } }));
      await stateSwitch().click();
      await frame().getByRole('heading', { name: 'Your session has ended' }).waitFor();
    });
  });
});

/** A list of one workflow, with what the instance may say of it. */
async function listed(route: Route, more: object): Promise<void> {
  const updatedAt = new Date().toISOString();
  const workflow = { id: '1', name: 'Morning orders', active: false, updatedAt, ...more };
  await route.fulfill({ json: { data: [workflow], nextCursor: null } });
}
