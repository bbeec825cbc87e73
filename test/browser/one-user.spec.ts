// One page, one user: what a tab shows and does when another user has signed in in another tab of the same browser.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { ProductPage } from '../support/partner-site.js';

const ANOTHER_USER = 'Another user has signed in';
/** More than a page of the list holds. */
const WORKFLOWS = 60;

describeInBrowser('[D51] two tabs, two users', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  beforeAll(async () => {
    const ada = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (let index = 0; index < WORKFLOWS; index += 1)
      await createWorkflow(browsing.service, ada, `Orders ${String(index).padStart(3, '0')}`);
    await browsing.addCustomer('ben', 'Secret of ben');
  });

  const sessionsOf = async (email: string) =>
    (
      await browsing.service.rows(
        'SELECT 1 FROM token_exchange_session s JOIN user_account u ON u.id = s.user_id WHERE u.email = $1',
        [email],
      )
    ).length;
  const signedIn = async (sub: string, shows: string, open = () => browsing.productPage()) => {
    const product = await open();
    await product.login(browsing.token(sub));
    await product.frame.getByText(shows).first().waitFor();
    return product;
  };
  const closeTabs = () =>
    Promise.all(
      browsing.context
        .pages()
        .slice(1)
        .map((page) => page.close()),
    );
  afterEach(closeTabs);

  /** A tab that never hears of what other frames of the site do. */
  const deafPage = async () => {
    const page = await browsing.context.newPage();
    await page.addInitScript('BroadcastChannel.prototype.addEventListener = () => undefined');
    return ProductPage.open(page, browsing.originOf('partner.test'), browsing.instanceOrigin);
  };
  const overtaken = async () => {
    const one = await signedIn('ada', 'Orders 0', deafPage);
    const two = await signedIn('ben', 'Secret of ben');
    await one.frame.getByText('ada Tester').waitFor();
    return { one, two };
  };
  const expectNothingOfOthers = async ({ one, two }: { one: ProductPage; two: ProductPage }) => {
    await one.heading(ANOTHER_USER);
    const text = await one.frame.locator('body').innerText();
    for (const secret of ['ben', 'ada', 'Orders']) expect(text).not.toContain(secret);
    await one.page.waitForFunction(`events.at(-1)?.[0] === 'session-ended'`);
    expect((await one.events()).at(-1)).toEqual(['session-ended', { reason: 'another-user' }]);
    expect(await sessionsOf('ben@login.partner.test')).toBeGreaterThan(0);
    await two.reloadFrame();
    await two.frame.getByText('Secret of ben').waitFor();
  };

  it('[D51] a login notifies the other tabs: they show nothing any more of either user, also after a reload', async () => {
    const one = await signedIn('ada', 'Orders 0');
    const two = await signedIn('ben', 'Secret of ben');
    await expectNothingOfOthers({ one, two });
    await one.reloadFrameSilently();
    await one.heading(ANOTHER_USER);
    expect(await one.frame.getByRole('button').filter({ visible: true }).count()).toBe(0);
  });

  it('[D51] the way on is a token of the user who was signed in here, where the product page gives one', async () => {
    const one = await signedIn('ada', 'Orders 0');
    const two = await signedIn('ben', 'Secret of ben');
    await one.heading(ANOTHER_USER);
    await one.page.evaluate(`instance.on('retry', () => instance.login('${browsing.token('ada')}'))`);
    await one.frame.getByRole('button', { name: 'Continue' }).click();
    await one.frame.getByText('ada Tester').waitFor();
    await two.heading(ANOTHER_USER);
  });

  it('[D51] a page that no login has named a user for offers to go on as the other one', async () => {
    const one = await signedIn('ada', 'Orders 0');
    await one.pointFrameTo(browsing.instanceOrigin);
    await one.event(2);
    const two = await signedIn('ben', 'Secret of ben');
    await expectNothingOfOthers({ one, two });
    await one.frame.getByRole('button', { name: 'Reload' }).click();
    await one.frame.getByText('ben Tester').waitFor();
  });

  it.each([
    ['Load more', (one: ProductPage) => one.frame.getByRole('button', { name: 'Load more' }).click()],
    ['the switch of a row', (one: ProductPage) => one.frame.getByRole('switch').first().click()],
    ['Sign out', (one: ProductPage) => one.frame.getByRole('button', { name: 'Sign out' }).click()],
    ['the search', (one: ProductPage) => one.frame.getByRole('searchbox').fill('orders')],
    ['the filter', (one: ProductPage) => one.frame.getByLabel('State').selectOption('active')],
    ['the order', (one: ProductPage) => one.frame.getByLabel('Sort by').selectOption('name')],
    ['a workflow', (one: ProductPage) => one.frame.getByRole('link', { name: 'Orders' }).first().click()],
    ['logout() of the product page', (one: ProductPage) => one.logout()],
  ])('[D51] %s in a tab that has not heard of it does nothing in the other name', async (_, press) => {
    const tabs = await overtaken();
    await press(tabs.one);
    await expectNothingOfOthers(tabs);
  });

  it('[D51] a renewal goes on when another tab signs the same user in meanwhile, and both tabs go on with it', async () => {
    const one = await signedIn('ada', 'Orders 0');
    await one.page.evaluate('void instance.renew(new Promise((resolve) => { giveToken = resolve; }))');
    const two = await signedIn('ada', 'Orders 0');
    await one.event(2);
    await one.page.evaluate(`giveToken('${browsing.token('ada')}')`);
    const renewed = await two.event(2);
    expect(await one.event(3)).toEqual(renewed);
    expect(renewed[0]).toBe('session-ready');
    for (const product of [one, two]) {
      await product.frame.getByRole('button', { name: 'Load more' }).click();
      await product.frame.getByText('Orders 000').waitFor();
    }
  });

  it('[D51] a renewal with the token of another user fails, and the session of the first goes on', async () => {
    const one = await signedIn('ada', 'Orders 0');
    await one.renew(browsing.token('ben'));
    const refused = [
      'login-failed',
      { during: 'renewal', error: 'session_of_another_user', requestId: expect.any(String) },
    ];
    expect(await one.event(2)).toEqual(refused);
    await one.reloadFrame();
    await one.frame.getByText('Orders 0').first().waitFor();
    expect(await one.frame.getByText('ada Tester').count()).toBe(1);
    expect((await one.eventNames()).slice(1)).toEqual(['login-failed', 'session-ready']);
  });
});
