// The page of the API's description in a browser: search, examples, calls by Bearer, dark colours, a strict policy.
import type { Page } from 'playwright-core';
import { ApiWorld } from '../support/api-world.js';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { findingsIn } from './support/accessibility.js';

describeInBrowser('the API page', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  const complaints: string[] = [];
  const asked: string[] = [];
  let page: Page;
  let token: string;

  beforeAll(async () => {
    const world = new ApiWorld(browsing.service);
    await world.createParties();
    await world.createWorkflow(await world.createProject(), 'Morning orders');
    token = await world.tokenOf('owner');
    const [name = '', value = ''] = (await world.sessionOf('owner')).split('=');
    const cookie = { name, value, url: browsing.instanceOrigin, secure: true, httpOnly: true };
    await browsing.context.addCookies([cookie]);
    page = await browsing.context.newPage();
    page.on('console', (line) => ['error', 'warning'].includes(line.type()) && complaints.push(line.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${browsing.instanceOrigin}/api/v1/docs`);
    await operation('/api/v1/workflows').waitFor();
  });
  // The browser reports errors at once, so they belong to the current test.
  afterEach(() => expect(complaints).toEqual([]));

  const operation = (path: string) => page.locator(`.opblock [data-path="${path}"]`).first();
  const read = () => page.locator('#operations-Session-Session_me');
  const search = () => page.getByRole('searchbox', { name: 'Search operations' });
  const shown = () => page.locator('.opblock').count();

  it('requests nothing from other hosts, and shows every operation', async () => {
    const { paths } = await page.evaluate<{ paths: Record<string, object> }>(
      'fetch("/api/v1/openapi.json").then((answer) => answer.json())',
    );
    expect(await shown()).toBe(Object.values(paths).flatMap((methods) => Object.keys(methods)).length);
    expect(await page.locator('main').count()).toBe(1);
    expect(asked.length).toBeGreaterThan(4);
    const foreign = asked.filter(
      (url) => !url.startsWith(browsing.instanceOrigin) && !url.startsWith('data:'),
    );
    expect(foreign).toEqual([]);
  });

  it('searches descriptions of operations as well as tag names', async () => {
    await search().fill('count WORKFLOWS');
    await onlyOne(page.locator('.opblock'));
    expect(await operation('/api/v1/workflow-count').count()).toBe(1);
    await search().fill('');
    await operation('/rest/me').waitFor();
    expect(await shown()).toBeGreaterThan(20);
  });

  it('makes calls with the entered Bearer token, and without a session otherwise', async () => {
    // The browser has a session cookie. A page that sent it would be signed in.
    expect(await page.evaluate('fetch("/rest/me").then(({ status }) => status)')).toBe(200);
    await read().locator('.opblock-summary-control').click();
    await read().getByRole('button', { name: 'Execute' }).click();
    await read().locator('.live-responses-table .response-col_status', { hasText: '401' }).waitFor();
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('401')));

    await page.locator('.auth-wrapper .authorize').first().click();
    const dialog = page.locator('.modal-ux');
    expect(await dialog.locator('.auth-container').count()).toBe(1);
    await dialog.locator('input').fill(token);
    await dialog.getByRole('button', { name: 'Authorize' }).click();
    await dialog.locator('.close-modal').click();
    await read().getByRole('button', { name: 'Execute' }).click();
    await read().locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    await read().locator('.live-responses-table').getByText('access_token').first().waitFor();
  });

  it('shows a sample body that works', async () => {
    const make = page.locator('#operations-Workflows-Workflow_create');
    await make.locator('.opblock-summary-control').click();
    const example = JSON.parse(await make.locator('textarea').first().inputValue()) as { name: string };
    expect(example.name).toBe('Import of orders');
    await make.getByRole('button', { name: 'Execute' }).click();
    await make.locator('.live-responses-table .response-col_status', { hasText: '201' }).waitFor();
  });

  it.each<[string, () => Promise<void>]>([
    ['the opened and called operations', async () => undefined],
    [
      'filters with their choices',
      async () => {
        const list = page.locator('#operations-Workflows-Workflow_list');
        await list.locator('.opblock-summary-control').click();
        await list.locator('select').first().waitFor();
      },
    ],
    [
      'all schemas',
      async () => {
        await page.getByRole('button', { name: 'Schemas' }).click();
        await page.locator('.models article').first().waitFor();
      },
    ],
    [
      'the dialog for a Bearer',
      async () => {
        await page.locator('.auth-wrapper .authorize').first().click();
        await page.locator('.modal-ux').waitFor();
      },
    ],
  ])('%s: passes axe-core in the light theme and in the dark one', async (_, open) => {
    await open();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html${colorScheme === 'dark' ? '.dark-mode' : ':not(.dark-mode)'}`).waitFor();
      expect(await findingsIn(page)).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('fits into 320 pixels without horizontal scrolling', async () => {
    await page.locator('.close-modal').click();
    const ofRoot = (width: string) => page.locator('html').evaluate(width);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await ofRoot('document.documentElement.scrollWidth')).toBe(320);
  });
});

async function onlyOne(locator: ReturnType<Page['locator']>): Promise<void> {
  await locator.nth(1).waitFor({ state: 'detached' });
  expect(await locator.count()).toBe(1);
}
