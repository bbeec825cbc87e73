// What a frame shows where the host page or the network get in its way: outages, moves in the document, wrong calls.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';

const LOGIN = /\/rest\/auth\/embed/;
const WORKFLOW_LIST = /\/api\/v1\/workflows\?/;

describeInBrowser('a frame in a host page that gets in its way', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  const signedIn = async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.event(1);
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };

  it('lays a frame out while its login is under way: Chromium may never paint what came into one without a box', async () => {
    const product = await signedIn();
    await product.page.route(LOGIN, () => undefined);
    await product.login(browsing.token('ada'));
    const boxes = await product.page.evaluate(
      `[...document.querySelectorAll('#container iframe')].map((frame) => [frame.clientWidth, frame.clientHeight])`,
    );
    expect(boxes).toEqual([expect.any(Array), (boxes as number[][])[0]]);
    expect((boxes as number[][])[0]).toEqual([884, 480]);
    expect(await product.frame.getByText('Morning orders').count()).toBe(1);
  });

  it('shows its page again after a move in the document, and says that it was loaded again', async () => {
    const product = await signedIn();
    await product.page.evaluate(
      `instance.on('reloaded', (detail) => events.push(['reloaded', detail])); document.body.prepend(container)`,
    );
    await product.frame.getByText('Morning orders').waitFor();
    await product.page.waitForFunction(`events.some(([name]) => name === 'reloaded')`);
    await product.page.evaluate('document.body.append(container)');
    await product.frame.getByText('Morning orders').waitFor();
  });

  it('shows the page of a renewal that follows a refused login', async () => {
    const product = await browsing.productPage();
    await product.login('no token');
    await product.page.getByRole('alert').getByText('You could not be signed in').waitFor();
    await product.renew(browsing.token('ada'));
    await product.frame.getByText('Morning orders').waitFor();
    await product.event(2);
    expect(await product.eventNames()).toEqual(['login-failed', 'session-ready']);
  });

  it('asks again by itself for what had no answer: at once, and when the browser is online', async () => {
    const product = await signedIn();
    let lost = 1;
    await product.page.route(WORKFLOW_LIST, (route) => ((lost -= 1) >= 0 ? route.abort() : route.continue()));
    await product.frame.getByRole('button', { name: 'Refresh' }).click();
    await product.frame.getByText('Morning orders').waitFor();
    expect(await product.frame.locator('#notice').isVisible()).toBe(false);
    lost = Number.POSITIVE_INFINITY;
    await product.frame.getByRole('button', { name: 'Refresh' }).click();
    await product.heading('The workflows could not be loaded');
    lost = 0;
    await (await product.shownFrame()).evaluate(`dispatchEvent(new Event('online'))`);
    await product.frame.getByText('Morning orders').waitFor();
  });

  it.each([
    ['lang must be a language tag, and is null', `{ container, title: 'x', lang: null }`],
    ['container must be an element, and is null', `{ container: null, title: 'x' }`],
    ['container must be an element, and is undefined', ''],
    ['theme must be light, dark or auto, and is "blue"', `{ container, title: 'x', theme: 'blue' }`],
    ['title must be a text, and is undefined', `{ container }`],
    ['There is no option colour', `{ container, title: 'x', colour: '#ffffff' }`],
  ])('says "%s", and leaves no frame behind', async (message, options) => {
    const product = await browsing.productPage();
    const caught = `(() => { try { new EmbeddedInstance(${options}) } catch (error) { return error.message } })()`;
    expect(await product.page.evaluate(caught)).toBe(message);
    expect(await product.page.locator('iframe').count()).toBe(1);
  });

  it('knows no other events than its own, and calls every listener though one throws', async () => {
    const product = await browsing.productPage();
    const caught = `(() => { try { instance.on('ready', () => 0) } catch (error) { return error.message } })()`;
    expect(await product.page.evaluate(caught)).toBe('There is no event ready');
    const thrown = product.page.waitForEvent('pageerror');
    await product.page.evaluate(`
      instance.on('session-ready', () => { throw new Error('of a listener') });
      instance.on('session-ready', () => events.push(['after', {}]));`);
    await product.login(browsing.token('ada'));
    expect((await thrown).message).toBe('of a listener');
    expect((await product.event(2))[0]).toBe('after');
  });
});
