// The list of workflows in the frame: order, search, filter, counts, pages, and rows that change while they are looked at.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import type { ProductPage } from '../support/partner-site.js';
import { SHOWN_FRAME } from '../support/partner-site.js';

/** Three pages of the list, the last one not full. */
const COUNT = 120;
const CHANGE = /\/(de)?activate$/;
const LIST = /\/api\/v1\/workflows\?/;
const orders = (index: number) => `Orders ${String(index).padStart(3, '0')}`;

describeInBrowser('the workflow list', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  let product: ProductPage;
  let workflows: { id: string; name: string }[];

  /** Each as it was: changed as many minutes ago as its number says, the first ten active. */
  const putBack = () =>
    browsing.service.rows(
      `UPDATE workflow w SET name = o.name, active = o.name < 'Orders 010', nodes = '[]', connections = '{}',
         updated_at = now() - (substr(o.name, 8)::int || ' minutes')::interval
       FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::text[]) AS name) o WHERE w.id = o.id`,
      [workflows.map(({ id }) => id), workflows.map(({ name }) => name)],
    );

  beforeAll(async () => {
    const ada = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (let index = 0; index < COUNT; index += 1) await createWorkflow(browsing.service, ada, orders(index));
    workflows = await browsing.service.rows('SELECT id, name FROM workflow ORDER BY name');
  });
  beforeEach(async () => {
    await putBack();
    product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.frame.getByText('Orders 000').waitFor();
  });
  afterEach(() => product.page.close());

  const names = () => product.frame.locator('#list .name').allTextContents();
  const all = Array.from({ length: COUNT }, (_, index) => orders(index));
  const loadMore = async (untilShown: string) => {
    await product.frame.getByRole('button', { name: 'Load more' }).click();
    await product.frame.getByText(untilShown, { exact: true }).waitFor();
  };
  const count = (text: string) => product.frame.locator('#count', { hasText: text }).waitFor();
  const row = (name: string) => product.frame.getByRole('listitem').filter({ hasText: name });

  it('starts with the latest change, continues page by page, and shows the total', async () => {
    await count('120 workflows');
    expect(await names()).toEqual(all.slice(0, 50));
    await loadMore('Orders 099');
    await loadMore('Orders 119');
    expect(await names()).toEqual(all);
    expect(await product.frame.getByRole('button', { name: 'Load more' }).count()).toBe(0);
    // The button has gone: the first row that it brought has the focus.
    expect(await product.frame.locator(':focus').textContent()).toBe('Orders 100');
  });

  it('adds no page of the previous order while a newly sorted list is loading', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await product.page.route(/sort=name/, async (route) => {
      await held;
      await route.continue().catch(() => undefined);
    });
    await product.frame.getByLabel('Sort by').selectOption('name');
    await product.frame.locator('#list[aria-busy=true]').waitFor();
    await product.frame.getByRole('button', { name: 'Load more' }).click();
    release();
    await product.frame.locator('#list:not([aria-busy=true])').waitFor();
    expect(await names()).toEqual(all.slice(0, 50));
    await loadMore('Orders 099');
    expect(await names()).toEqual(all.slice(0, 100));
  });

  it('changes a row in place even if it becomes the latest change', async () => {
    await row('Orders 042').getByRole('switch').click();
    await row('Orders 042').getByText('just now').waitFor();
    expect(await names()).toEqual(all.slice(0, 50));
  });

  it('shows the error of a row far down next to it, in view', async () => {
    await product.page.route(CHANGE, (route) => route.fulfill({ status: 500, json: {} }));
    const control = row('Orders 049').getByRole('switch');
    await control.click();
    const problem = row('Orders 049').getByRole('alert');
    await problem.getByText('This could not be changed.').waitFor();
    const [whole, box] = [await row('Orders 049').boundingBox(), await problem.boundingBox()];
    const frame = await product.page.locator(SHOWN_FRAME).boundingBox();
    if (whole === null || box === null || frame === null) throw new Error('something is not shown');
    expect(box.y).toBeGreaterThan(whole.y);
    expect(box.y + box.height).toBeLessThan(frame.y + frame.height);
    await product.page.unroute(CHANGE);
    await control.click();
    await row('Orders 049').getByText('Active', { exact: true }).waitFor();
    expect(await problem.isVisible()).toBe(false);
  });

  it('searches during input without taking the focus, and finds parts of names', async () => {
    const search = product.frame.getByRole('searchbox', { name: 'Search workflows' });
    await search.pressSequentially('ERS 01');
    await count('10 found');
    expect(await names()).toEqual(all.slice(10, 20));
    expect(await product.frame.locator(':focus').getAttribute('id')).toBe('search');
    expect(await product.frame.getByRole('status').textContent()).toBe('10 found');
  });

  it('filters by state, and offers to reset filters without matches', async () => {
    await product.frame.getByLabel('State').selectOption('active');
    await count('10 found');
    await product.frame.getByRole('searchbox').fill('nothing');
    await product.heading('No matching workflows');
    await product.frame.getByRole('button', { name: 'Show all workflows' }).click();
    await count('120 workflows');
    expect(await product.frame.getByRole('searchbox').inputValue()).toBe('');
    expect(await product.frame.getByLabel('State').inputValue()).toBe('');
  });

  it('is refreshed on demand, without rows that no longer match its filter', async () => {
    await product.frame.getByLabel('State').selectOption('active');
    await count('10 found');
    const row = product.frame.getByRole('listitem').first();
    const name = (await row.getByRole('link').textContent()) ?? '';
    await row.getByRole('switch').click();
    await count('9 found');
    expect(await product.frame.getByRole('link', { name, exact: true }).count()).toBe(0);
    await browsing.service.rows('UPDATE workflow SET active = true WHERE name = $1', [name]);
    await product.frame.getByRole('button', { name: 'Refresh' }).click();
    await count('10 found');
    await product.frame.getByLabel('State').selectOption('');
    await count('120 workflows');
  });

  it('is empty with a next step for users without workflows', async () => {
    const other = await browsing.productPage('other.test');
    await other.login(browsing.token('ben'));
    await other.heading('No workflows yet');
    const ben = await browsing.service.rows<{ id: string }>(
      `SELECT id FROM user_account WHERE email = 'ben@login.partner.test'`,
    );
    await createWorkflow(browsing.service, String(ben[0]?.id), 'Just shared');
    await other.frame.getByRole('button', { name: 'Check again' }).click();
    await other.frame.getByText('Just shared').waitFor();
    await other.page.close();
  });

  it('offers a retry if it cannot be loaded, or not continued', async () => {
    await product.page.route(LIST, (route) => route.fulfill({ status: 500, json: {} }));
    await product.frame.getByRole('button', { name: 'Load more' }).click();
    await product.frame.getByText('More workflows could not be loaded.').waitFor();
    expect(await names()).toEqual(all.slice(0, 50));
    await product.frame.getByLabel('Sort by').selectOption('name');
    await product.heading('The workflows could not be loaded');
    await product.page.unroute(LIST);
    await product.frame.getByRole('button', { name: 'Try again' }).click();
    await product.frame.getByText('Orders 000').waitFor();
    expect(await product.frame.getByLabel('Sort by').inputValue()).toBe('name');
  });

  it(`shows the exact count up to the instance's limit, then "over"`, async () => {
    await product.page.route(/workflow-count/, (route) =>
      route.fulfill({ json: { count: 1000, hasMore: true } }),
    );
    await product.frame.getByLabel('Sort by').selectOption('name');
    await count('More than 1,000 workflows');
    await product.page.unroute(/workflow-count/);
  });

  it('gives a blank name a visible link', async () => {
    await browsing.service.rows(`UPDATE workflow SET name = '  ' WHERE name = 'Orders 000'`);
    await product.frame.getByLabel('Sort by').selectOption('name');
    await product.frame.getByRole('link', { name: 'Workflow without a name' }).click();
    await product.heading('Workflow without a name');
  });

  describe('a workflow page', () => {
    it('shows definition, state, last change and editors, and leads back to the same place', async () => {
      const definition = {
        nodes: [
          { name: 'Every morning', type: 'schedule' },
          { name: 'Send message', type: 'message' },
        ],
        connections: { 'Every morning': { main: [[{ node: 'Send message', type: 'main', index: 0 }]] } },
      };
      await browsing.service.rows(
        `UPDATE workflow SET nodes = $1, connections = $2 WHERE name = 'Orders 030'`,
        [JSON.stringify(definition.nodes), JSON.stringify(definition.connections)],
      );
      await product.frame.getByRole('link', { name: 'Orders 030' }).click();
      await product.heading('Orders 030');
      await product.frame.getByText('Leads to').waitFor();
      await product.frame.getByText('ada Tester, administrators').waitFor();
      expect(await product.frame.locator(':focus').textContent()).toBe('Orders 030');
      expect(JSON.parse(String(await product.frame.locator('#definition').textContent()))).toEqual(
        definition,
      );
      await product.frame.getByRole('switch', { name: 'Orders 030' }).click();
      await product.frame.locator('#detail').getByText('Active', { exact: true }).waitFor();
      await product.frame.getByRole('button', { name: 'All workflows' }).click();
      await row('Orders 030').getByText('Active', { exact: true }).waitFor();
      expect(await product.frame.locator(':focus').textContent()).toBe('Orders 030');
      expect(await names()).toEqual(all.slice(0, 50));
    });

    it('cannot be mirrored by a name of the workflow, its project, its editors or its steps', async () => {
      const turned = (name: string) => `${name} \u202Etxt.${name}`;
      const [nodes, connections] = [
        [{ name: turned('Start'), type: turned('type') }],
        { [turned('Start')]: { main: [[{ node: turned('Next') }]] } },
      ];
      await browsing.service.rows(
        `UPDATE workflow SET name = $1, nodes = $2, connections = $3 WHERE name = 'Orders 030'`,
        [turned('Orders'), JSON.stringify(nodes), JSON.stringify(connections)],
      );
      await browsing.service.rows('UPDATE user_account SET given_name = $1', [turned('Ada')]);
      await product.page.route(/\/projects\/[^/]+$/, (route) =>
        route.fulfill({ json: { type: 'team', name: turned('Team') } }),
      );
      await product.frame.getByRole('button', { name: 'Refresh' }).click();
      await product.frame.getByRole('link', { name: 'Orders txt.Orders' }).click();
      for (const name of ['Orders', 'Team', 'Ada', 'Start', 'Next'])
        await product.frame.locator('#detail').getByText(`${name} txt.${name}`).first().waitFor();
      expect(await product.frame.locator('body').innerHTML()).not.toMatch(/[\u202A-\u202E]/);
      const shown = JSON.parse(String(await product.frame.locator('#definition').textContent()));
      expect(shown).toEqual({ nodes, connections });
    });

    it('reports a deleted workflow', async () => {
      await product.login(browsing.token('ada'), '/#workflow=00000000-0000-4000-8000-000000000000');
      await product.heading('This workflow does not exist');
      await product.frame.getByRole('button', { name: 'All workflows' }).click();
      await product.frame.getByText('Orders 000').waitFor();
    });
  });
});
