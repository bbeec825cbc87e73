// Where links, Back, Forward, a reload and a copied address lead: to the right place of the host page, signed in.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { ElementPage } from './support/element-page.js';

/** As many as a page of the list holds. */
const ROWS = 50;

describeInBrowser("a frame's place", () => {
  const browsing = EmbeddedBrowsing.forBlock({
    environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000' },
  });
  beforeAll(async () => {
    const id = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (let index = 0; index < ROWS; index += 1)
      await createWorkflow(browsing.service, id, `Orders ${index}`);
  });
  afterEach(() => browsing.closePages());

  const open = (attributes: string) =>
    ElementPage.open(browsing, { token: () => browsing.token('ada'), attributes });
  const link = (page: ElementPage, name: string) => page.frame.getByRole('link', { name, exact: true });
  const heading = (page: ElementPage, name: string) =>
    page.frame.getByRole('heading', { name, exact: true }).waitFor();
  const isList = (page: ElementPage) => page.frame.getByRole('button', { name: 'Refresh' }).waitFor();
  const openWorkflow = async (page: ElementPage, name: string) => {
    await link(page, name).click();
    await heading(page, name);
  };

  it('is kept by user-key over reloads of the host page, until redirect-to requests another', async () => {
    const page = await open('user-key="1"');
    await openWorkflow(page, 'Orders 3');
    await page.page.reload();
    await heading(page, 'Orders 3');
    await page.page.goto(`${browsing.originOf('partner.test')}/elsewhere`);
    await page.page.goBack();
    await heading(page, 'Orders 3');
    await page.run(`(element.setAttribute('redirect-to', '/#search=orders'), 0)`);
    await isList(page);
    expect(await page.frame.getByRole('searchbox').inputValue()).toBe('orders');
  });

  it('is never shown to another user', async () => {
    const page = await open('user-key="1"');
    await openWorkflow(page, 'Orders 3');
    const path = await page.run<string>('element.instance.path');
    await page.run(`element.setAttribute('user-key', '2')`);
    await page.told('session-ready', 2);
    expect([path, await page.run('element.instance.path')]).toEqual([
      expect.stringContaining('workflow='),
      '/',
    ]);
  });

  describe('with address="hash"', () => {
    it("is the host page's fragment: Back, Forward and reload follow it in single steps", async () => {
      const page = await open('address="hash"');
      const { page: host } = page;
      await isList(page);
      const steps = () => host.evaluate<number>('history.length');
      const before = await steps();
      await openWorkflow(page, 'Orders 3');
      await host.waitForFunction('location.hash !== ""');
      const url = host.url();
      expect(await steps()).toBe(before + 1);
      await host.goBack();
      await isList(page);
      await host.goForward();
      await heading(page, 'Orders 3');
      await host.reload();
      await heading(page, 'Orders 3');
      await page.frame.getByRole('button', { name: 'All workflows' }).click();
      await host.waitForFunction('location.hash === ""');
      // The button of the frame is the same step back.
      await host.goForward();
      await heading(page, 'Orders 3');
      expect(host.url()).toBe(url);
      expect(await steps()).toBe(before + 1);
    });

    it("keeps the host page's own fragment and state", async () => {
      const page = await open('address="hash"');
      await isList(page);
      await page.page.evaluate(`history.replaceState({ own: 1 }, '', '#section')`);
      await page.run(`element.navigate('/')`);
      await openWorkflow(page, 'Orders 4');
      await page.page.waitForFunction(`location.hash.includes('workflow')`);
      expect(await page.page.evaluate('history.state.own')).toBe(1);
      await page.page.goBack();
      await isList(page);
      expect(new URL(page.page.url()).hash).toBe('#section');
    });

    it('can be opened by a middle click, in a new tab and from a copied link, signed in', async () => {
      const page = await open('address="hash"');
      const href = (await link(page, 'Orders 5').getAttribute('href')) ?? '';
      expect(href).toContain(`${browsing.originOf('partner.test')}/element`);
      const opened = browsing.context.waitForEvent('page');
      await link(page, 'Orders 5').click({ button: 'middle' });
      const tab = await opened;
      await tab.waitForURL(href, { waitUntil: 'commit' });
      await tab.close();
      const copied = await browsing.context.newPage();
      await copied.route('**/token', (route) => route.fulfill({ body: browsing.token('ada') }));
      await copied.goto(href);
      await copied
        .frameLocator('embedded-instance iframe')
        .getByRole('heading', { name: 'Orders 5', exact: true })
        .waitFor();
      // A plain click stays in the frame.
      await openWorkflow(page, 'Orders 5');
      expect(await page.run(`document.querySelectorAll('iframe').length`)).toBe(1);
    });
  });

  it('appears in links in the form of link-template', async () => {
    const page = await open('link-template="https://product.test/automation?at={path}"');
    const href = (await link(page, 'Orders 6').getAttribute('href')) ?? '';
    expect(href).toMatch(/^https:\/\/product\.test\/automation\?at=%2F%23workflow%3D[\w-]+$/);
    const at = new URL(href).searchParams.get('at') ?? '';
    const other = await open(`redirect-to="${at}"`);
    await heading(other, 'Orders 6');
  });

  describe('with height="auto"', () => {
    it.each(['/', '/#search=orders'])(
      "includes the host page's scroll position, each time that the visitor returns to the list %s",
      async (path) => {
        const page = await open(`height="auto" redirect-to="${path}"`);
        await page.page.waitForFunction(`document.querySelector('iframe').clientHeight > 2500`);
        for (const name of ['Orders 12', 'Orders 12', 'Orders 9']) {
          await page.page.evaluate('scrollTo(0, 2000)');
          await link(page, name).dispatchEvent('click');
          await heading(page, name);
          await page.page.waitForFunction('scrollY < 1500');
          expect(
            await page.run(`document.querySelector('iframe').getBoundingClientRect().top`),
          ).toBeGreaterThanOrEqual(0);
          await page.frame.getByRole('button', { name: 'All workflows' }).click();
          await page.page.waitForFunction('Math.abs(scrollY - 2000) < 5');
          await page.page.waitForTimeout(300);
          expect(Math.abs((await page.page.evaluate<number>('scrollY')) - 2000)).toBeLessThan(5);
        }
      },
    );

    it("restores the host page's scroll position if the visitor returns before the page reports a new height", async () => {
      await browsing.context.addInitScript(`
        window.ResizeObserver = class extends ResizeObserver {
          constructor(report) {
            super((...changes) => window.isHeightKept || report(...changes));
          }
        };
      `);
      const page = await open('height="auto"');
      await page.page.waitForFunction(`document.querySelector('iframe').clientHeight > 2500`);
      await page.page.evaluate('scrollTo(0, 2000)');
      await (await page.inside()).evaluate('window.isHeightKept = true');
      await link(page, 'Orders 12').dispatchEvent('click');
      await page.page.waitForFunction('scrollY < 1500');
      await page.frame.getByRole('button', { name: 'All workflows' }).click();
      await page.page.waitForFunction('Math.abs(scrollY - 2000) < 5');
    });

    it('respects min-height and max-height, which may change', async () => {
      const page = await open(
        'height="auto" min-height="500" max-height="900" redirect-to="/#search=nothing"',
      );
      const heightIs = (height: number) =>
        page.page.waitForFunction(
          `document.querySelector('iframe').getBoundingClientRect().height === ${height}`,
        );
      await page.frame.getByRole('heading', { name: 'No matching workflows' }).waitFor();
      await heightIs(500);
      await page.run(`element.navigate('/')`);
      await heightIs(900);
      await page.run(`element.setAttribute('max-height', '1200')`);
      await heightIs(1200);
    });
  });
});
