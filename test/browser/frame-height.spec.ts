// A frame as high as its page: what the host page sees of the height, the way to a workflow and back, and steps of the history.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import type { ProductPage } from '../support/partner-site.js';

/** As many as a page of the list holds. */
const ROWS = 50;
const TALL = 2500;

describeInBrowser('a frame as high as its page', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  let product: ProductPage;
  beforeAll(async () => {
    const id = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (let index = 0; index < ROWS; index += 1)
      await createWorkflow(browsing.service, id, `Orders ${index}`);
  });
  beforeEach(async () => {
    product = await browsing.productPage('partner.test', { height: 'auto' });
    await product.page.evaluate(
      `instance.on('navigated', ({ path }) => events.push(['navigated', { path }]))`,
    );
    await product.login(browsing.token('ada'));
    await product.event(1);
    await height((now) => now > TALL);
  });
  afterEach(() => product.page.close());

  const heightNow = () => product.page.evaluate<number>('instance.frame.getBoundingClientRect().height');
  const height = async (isIt: (now: number) => boolean) => {
    for (const since = Date.now(); !isIt(await heightNow()); await product.page.waitForTimeout(50))
      if (Date.now() - since > 60_000) throw new Error(`the frame is ${await heightNow()} px high`);
  };
  const link = (name: string) => product.frame.getByRole('link', { name, exact: true });

  it('shows its position again after a move in the document', async () => {
    await link('Orders 12').click();
    await product.event(2);
    await product.page.evaluate('document.body.prepend(container)');
    await product.frame.getByRole('heading', { name: 'Orders 12' }).waitFor();
  });

  it('goes back in history instead of adding entries', async () => {
    const steps: number[] = [];
    for (const index of [1, 2, 3]) {
      await link(`Orders ${index}`).click();
      await product.frame.getByRole('button', { name: 'All workflows' }).click();
      await link('Orders 49').waitFor();
      steps.push(await product.historyLength());
    }
    expect(new Set(steps).size).toBe(1);
  });

  it('is no higher than its page after a refused login', async () => {
    await product.logout();
    await product.login('no token');
    await product.heading('You could not be signed in');
    await height((now) => now > 100 && now < 500);
  });
});
