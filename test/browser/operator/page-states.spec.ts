// Every page of the operator as assistive technology meets it, in both themes, and on a screen of 320 px.
import { describeInBrowser } from '../../support/browser.js';
import type { OperatorPage } from '../../support/operator-browsing.js';
import { OperatorBrowsing } from '../../support/operator-browsing.js';
import { findingsIn } from '../support/accessibility.js';

const NARROW = { width: 320, height: 640 };
const MIDDLE = { width: 768, height: 800 };
const WIDE = { width: 1280, height: 800 };

/** Each with the way into it from the page that its address leads to. */
const STATES: [string, string, (one: OperatorPage) => Promise<unknown>][] = [
  ['the overview', '#/', (one) => one.page.locator('.plot canvas').last().waitFor()],
  ['the trusted entries', '#/entries', (one) => one.row('partner').waitFor()],
  ['an entry', '#/entries/partner', (one) => one.button(/^Revoke the key/).waitFor()],
  [
    'a question whether to revoke',
    '#/entries/partner',
    async (one) => {
      await one.button(/^Revoke the key/).click();
      await one.page.getByRole('dialog').waitFor();
    },
  ],
  ['no such entry', '#/entries/nothing', (one) => one.heading('This entry does not exist')],
  [
    'everything that a new entry may do',
    '#/entries/add-partner',
    async (one) => {
      await one.field('Name').waitFor();
      await one.unfold();
      await one.page.getByLabel('Only these: Sign-in methods').check();
    },
  ],
  [
    'an entry that is refused',
    '#/entries/new',
    async (one) => {
      await one.field('Entry as JSON').fill('{}');
      await one.button('Add entry').click();
      await one.page.getByRole('alert').locator('p').first().waitFor();
    },
  ],
  ['refusals', '#/refusals', (one) => one.text('token_malformed')],
  ['no refusals', '#/refusals?issuer=https%3A%2F%2Fnone.example', (one) => one.heading('No refusal matches')],
  ['no such request', '#/requests/none', (one) => one.heading('The trail has no event of this request')],
  [
    'an explanation',
    '#/explain',
    async (one) => {
      await one.field('Token').fill('no token');
      await one.button('Explain').click();
      await one.heading('It would be refused');
    },
  ],
  ['the users', '#/users', (one) => one.row('ada@').waitFor()],
  [
    'a user',
    '#/users',
    async (one) => {
      await one.page.getByRole('link', { name: 'ada@login.partner.test' }).click();
      await one.text('Linked identities');
    },
  ],
  ['the sessions', '#/sessions', (one) => one.button(/^End the session/).waitFor()],
  ['the usage', '#/usage', (one) => one.row('None free').waitFor()],
  ['the trail', '#/trail', (one) => one.row('Operator signed in').first().waitFor()],
  ['the revocations', '#/revocations', (one) => one.heading('Nothing is revoked')],
  ['the instance', '#/instance', (one) => one.row('SVC_BASE_URL').waitFor()],
  ['a password to be changed', '#/password', (one) => one.field('Present password').waitFor()],
  ['an address where nothing is', '#/nowhere', (one) => one.heading('Page not found')],
  [
    'a failure',
    '#/users',
    async (one) => {
      await one.page.route(/users\/search/, (route) => route.abort());
      await one.button('Search').click();
      await one.heading('This could not be loaded');
    },
  ],
  [
    'the menu',
    '#/users',
    async (one) => {
      const menu = one.button('Menu');
      if (await menu.isVisible()) await menu.click();
    },
  ],
];

describeInBrowser("the states of the operator's pages", () => {
  const browsing = new OperatorBrowsing({ policy: { maxUsers: 1 } });
  beforeAll(async () => {
    await browsing.start();
    await browsing.exchange('no token');
    await browsing.sessionCookie(browsing.token('ada'));
  });
  afterAll(() => browsing.stop());

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    let one: OperatorPage;
    beforeAll(async () => {
      await browsing.leave();
      one = await browsing.signedIn();
      await one.page.emulateMedia({ colorScheme });
      // A form that was filled asks before it is left; the navigation may have ended that by itself.
      one.page.on('dialog', (dialog) => void dialog.accept().catch(() => undefined));
    });

    it.each(STATES)('%s passes axe-core, and fits the screen', async (_, hash, lead) => {
      for (const size of [NARROW, MIDDLE, WIDE]) {
        await one.page.setViewportSize(size);
        await one.page.unrouteAll();
        await one.page.goto('about:blank');
        await one.page.goto(`${browsing.instanceOrigin}/admin${hash}`);
        await one.settled();
        await lead(one);
        await one.settled();
        expect(
          await one.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
        ).toBeLessThanOrEqual(0);
        expect(await findingsIn(one.page)).toEqual([]);
      }
    });
  });

  it('the sign-in by password and by code passes axe-core', async () => {
    await browsing.leave();
    const one = await browsing.open();
    await one.page.setViewportSize(NARROW);
    await one.heading('Sign in to the administration');
    expect(await findingsIn(one.page)).toEqual([]);
    await one.button('I have a code').click();
    await one.heading('Set a password with a code');
    expect(
      await one.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    expect(await findingsIn(one.page)).toEqual([]);
  });
});
