// Every state of the pages as assistive technology meets it, and what a host page may ask of their looks.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import type { ProductPage } from '../support/partner-site.js';
import { findingsIn } from './support/accessibility.js';
import { ElementPage } from './support/element-page.js';

/** What a window of 900 by 700 pixels has for a page that is shown at twice its size. */
const AT_200_PERCENT = { width: 450, height: 350 };
/** The parts that are wider than the page, or their box. */
const CUT = `[...document.querySelectorAll('html, body *:not(.unseen, .unseen *)')].filter((part) => {
  const { left, right } = part.getBoundingClientRect();
  const isClipping = getComputedStyle(part).overflowX !== 'visible' && !part.matches('input, pre');
  return left < 0 || right > document.documentElement.clientWidth || (isClipping && part.scrollWidth > part.clientWidth);
}).map((part) => part.outerHTML.slice(0, 100))`;

describeInBrowser('the states of the pages', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });
  afterEach(() => browsing.closePages());

  const signedIn = async (options: object = {}) => {
    const product = await browsing.productPage('partner.test', options);
    await product.login(browsing.token('ada'));
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };
  const WORKFLOWS = /\/api\/v1\/workflows/;
  /** Each state, with the way into it from a page whose list is shown. */
  const STATES: [string, (product: ProductPage) => Promise<void>][] = [
    ['the list', async () => undefined],
    [
      'a row that could not be changed',
      async (product) => {
        await product.page.route(/activate$/, (route) => route.abort());
        await product.frame.getByRole('switch').click();
        await product.frame.getByText('could not be changed').waitFor();
      },
    ],
    [
      'the skeleton',
      async (product) => {
        await product.page.route(/rest\/auth\/embed$/, () => new Promise(() => undefined));
        await product.page.evaluate(() => void instance.logout());
        await product.heading('You have signed out');
        await product.login('any token');
        await product.frame.locator('.skeleton').waitFor();
      },
    ],
    [
      'a workflow by itself',
      async (product) => {
        await product.frame.getByRole('link', { name: 'Morning orders' }).click();
        await product.frame.getByText('ada Tester, administrators').waitFor();
        await product.frame.locator('summary').click();
      },
    ],
    [
      'nothing found',
      async (product) => {
        await product.frame.getByRole('searchbox').fill('nothing');
        await product.heading('No matching workflows');
      },
    ],
    [
      'a failure',
      async (product) => {
        await product.page.route(WORKFLOWS, (route) =>
          route.fulfill({ status: 500, headers: { 'x-request-id': 'a-request' }, json: {} }),
        );
        await product.frame.getByRole('searchbox').fill('morning');
        await product.heading('The workflows could not be loaded');
      },
    ],
    [
      'signed out',
      async (product) => {
        await product.logout();
        await product.heading('You have signed out');
      },
    ],
    [
      'a session that has expired',
      async (product) => {
        await product.page.route(/rest\/me$/, (route) =>
          route.fulfill({ status: 401, json: { error: 'invalid_token' } }),
        );
        await product.page.route(WORKFLOWS, (route) => route.abort());
        await product.heading('Your session has ended');
      },
    ],
    [
      "another user in the page of a plain form's login",
      async (product) => {
        const form = (sub: string) =>
          product.postPlainly(browsing.instanceOrigin, { token: browsing.token(sub) });
        await form('ada');
        await product.frame.getByText('Morning orders').waitFor();
        const other = await browsing.productPage();
        await other.postPlainly(browsing.instanceOrigin, { token: browsing.token('ben') });
        await product.heading('Another user has signed in');
      },
    ],
    [
      'nobody has shared anything yet',
      async (product) => {
        await product.login(browsing.token('ben'));
        await product.heading('No workflows yet');
      },
    ],
    [
      'a refused login',
      async (product) => {
        await product.logout();
        await product.login('no token');
        await product.heading('You could not be signed in');
      },
    ],
  ];

  it.each(STATES)(
    '%s passes axe-core in the light theme, in the dark one and at 200 %%, without clipping',
    async (_, lead) => {
      const product = await signedIn({ theme: 'light' });
      await lead(product);
      const frame = await product.shownFrame();
      // The text is in the document before the script sets the theme. The page is painted only afterwards.
      await frame.waitForLoadState();
      for (const theme of ['light', 'dark']) {
        await frame.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
        expect(await frame.evaluate(`getComputedStyle(document.documentElement).colorScheme`)).toBe(theme);
        expect(await findingsIn(frame)).toEqual([]);
      }
      await product.page.setViewportSize(AT_200_PERCENT);
      expect(await frame.evaluate(CUT)).toEqual([]);
      expect(await findingsIn(frame)).toEqual([]);
    },
  );

  it('an unknown address passes axe-core too, and is in German', async () => {
    const page = await browsing.context.newPage();
    for (const [lang, title] of [
      ['en', 'Page not found'],
      ['de', 'Seite nicht gefunden'],
    ]) {
      await page.goto(`${browsing.instanceOrigin}/nowhere?lang=${lang}`);
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await findingsIn(page)).toEqual([]);
    }
  });

  it('forced colours keep states and switches distinguishable', async () => {
    const product = await signedIn();
    await product.page.emulateMedia({ forcedColors: 'active' });
    const border = async (selector: string) =>
      (await product.shownFrame()).evaluate<string>(
        `getComputedStyle(document.querySelector('${selector}'), '::before').borderTopWidth`,
      );
    expect(await border('.state')).toBe('2px');
    await product.frame.getByRole('switch').click();
    await product.frame.locator('.state.active').waitFor();
    expect(await border('.state')).toBe('5px');
    expect(await findingsIn(await product.shownFrame())).toEqual([]);
    await product.frame.getByRole('switch').click();
    await product.frame.locator('.state:not(.active)').waitFor();
  });

  it.each([
    ['page', '<body dir="rtl">ELEMENT</body>', ''],
    ['element', 'ELEMENT', 'dir="rtl"'],
  ])('a right-to-left host %s clips nothing, and mirrors no sentence', async (_, place, attributes) => {
    const body = `<script src="INSTANCE/embed.js"></script>${place}
      <script>document.querySelector('embedded-instance').fetchToken = FETCH</script>`;
    const open = (more: string, token: () => string) =>
      ElementPage.open(browsing, { attributes: `${attributes} ${more}`, body, token });
    const page = await open('height="auto"', () => browsing.token('ada'));
    await page.frame.getByText('Morning orders').waitFor();
    await page.page.setViewportSize(AT_200_PERCENT);
    const frame = await page.inside();
    for (const where of [frame, page.page]) expect(await where.evaluate(CUT)).toEqual([]);
    expect(await findingsIn(frame)).toEqual([]);
    const failed = await open('url="https://nowhere.test:1"', () => 'token');
    const card = failed.page.getByRole('alert');
    await card.getByText('Not available at the moment.').waitFor();
    expect(await card.getAttribute('dir')).toBe('ltr');
  });

  describe("a host page's options", () => {
    it.each(['#ffffff', '#101820', '#808080', '#c2185b'])(
      'include a background, %s, with readable content in both themes',
      async (background) => {
        const product = await signedIn({ background });
        const frame = await product.shownFrame();
        for (const theme of ['light', 'dark']) {
          await product.configure({ theme });
          await product.frame.locator(`[data-theme=${theme}]`).waitFor();
          expect(await findingsIn(frame)).toEqual([]);
        }
        expect(await frame.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe(
          `rgb(${[1, 3, 5].map((start) => parseInt(background.slice(start, start + 2), 16)).join(', ')})`,
        );
      },
    );

    it('include a font, no background and full width, without further changes', async () => {
      const product = await signedIn({ font: 'Georgia, serif', background: 'transparent', fullWidth: true });
      const frame = await product.shownFrame();
      const look = () =>
        frame.evaluate<string[]>(
          `(({ fontFamily, backgroundColor, maxWidth }) => [fontFamily, backgroundColor, maxWidth])(getComputedStyle(document.body))`,
        );
      const bare = ['system-ui, system-ui, sans-serif', 'rgb(245, 246, 249)', '1280px'];
      expect(await look()).toEqual(['Georgia, serif, system-ui, sans-serif', 'rgba(0, 0, 0, 0)', 'none']);
      const evil = ['x;} body{display:none', 'url(https://evil.test/)', 'var(--ink)', 'a,,b', 'a\nb'];
      for (const word of evil) {
        const query = new URLSearchParams({ font: word, background: word, fullWidth: word, theme: 'light' });
        await frame.goto(`${browsing.instanceOrigin}/?${query.toString()}`);
        await product.frame.locator('[data-theme=light]').waitFor();
        expect([word, await look()]).toEqual([word, bare]);
      }
    });

    it('include a language that applies to everything shown', async () => {
      const product = await signedIn({ lang: 'de-AT' });
      await product.frame.locator('#count', { hasText: '1 Workflow' }).waitFor();
      await product.frame.getByRole('button', { name: 'Abmelden' }).waitFor();
      await product.configure({ lang: 'en' });
      await product.frame.getByRole('button', { name: 'Sign out' }).waitFor();
      expect(await (await product.shownFrame()).evaluate('document.documentElement.lang')).toBe('en');
      await product.configure({ lang: 'de' });
      await product.frame.getByRole('link', { name: 'Morning orders' }).click();
      await product.frame.getByText('Bearbeiten dürfen').waitFor();
      await product.logout();
      await product.heading('Sie haben sich abgemeldet');
      await product.login('no token');
      await product.heading('Sie konnten nicht angemeldet werden');
    });

    it('include a theme that follows the host page, and no header', async () => {
      const product = await signedIn({ hideHeader: true });
      const frame = await product.shownFrame();
      const scheme = () => frame.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
      expect(await product.frame.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(false);
      expect(await scheme()).toBe('light dark');
      await product.configure({ theme: 'dark' });
      await product.frame.locator('[data-theme=dark]').waitFor();
      expect(await scheme()).toBe('dark');
      await product.configure({ hideHeader: false });
      await product.frame.getByRole('button', { name: 'Sign out' }).waitFor();
    });

    it("include a sized frame with the host page's style that reports its content's height", async () => {
      const product = await signedIn();
      await product.page.waitForFunction('heights.length > 0');
      const before = await product.askedHeight();
      expect(before).toBeGreaterThan(150);
      await product.frame.getByRole('link', { name: 'Morning orders' }).click();
      await product.frame.getByText('ada Tester, administrators').waitFor();
      await product.page.waitForFunction((height) => heights.at(-1) !== height, before);
      const style = (property: string) =>
        product.page.evaluate<string>(`getComputedStyle(instance.frame).${property}`);
      // Of the product page's own style.
      expect(await style('height')).toBe('480px');
      await product.page.evaluate(`document.querySelector('style').remove()`);
      expect(await style('height')).toBe('600px');
    });
  });
});

declare const heights: number[];
declare const instance: { logout(): Promise<unknown> };
