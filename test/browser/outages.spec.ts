// What a frame shows if the host page or the network gets in its way: outages, moves in the document, wrong calls.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';

const WORKFLOW_LIST = /\/api\/v1\/workflows\?/;

describeInBrowser('a frame in an interfering host page', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  const signedIn = async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.event(1);
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };

  it('continues its session after a move in the document without a token, and reports the reload', async () => {
    const product = await signedIn();
    await product.page.evaluate(
      `instance.on('reloaded', (detail) => events.push(['reloaded', detail])); document.body.prepend(container)`,
    );
    await product.event(3);
    expect((await product.eventNames()).slice(1).sort()).toEqual(['reloaded', 'session-ready']);
    await product.frame.getByText('Morning orders').waitFor();
    await product.page.evaluate('document.body.append(container)');
    await product.event(5);
    await product.frame.getByText('Morning orders').waitFor();
  });

  it('retries unanswered requests: at once, and when the browser is online', async () => {
    const product = await signedIn();
    let lost = 1;
    await product.page.route(WORKFLOW_LIST, (route) => ((lost -= 1) >= 0 ? route.abort() : route.continue()));
    await product.frame.getByRole('button', { name: 'Refresh' }).click();
    await product.frame.getByText('Morning orders').waitFor();
    lost = Number.POSITIVE_INFINITY;
    await product.frame.getByRole('button', { name: 'Refresh' }).click();
    await product.heading('The workflows could not be loaded');
    lost = 0;
    await (await product.shownFrame()).evaluate(`dispatchEvent(new Event('online'))`);
    await product.frame.getByText('Morning orders').waitFor();
  });

  it.each([
    ['lang is null. It must be a language tag', `{ container, title: 'x', lang: null }`],
    ['container is undefined. It must be an element', ''],
    ['minHeight is -1. It must be a number of pixels', `{ container, title: 'x', minHeight: -1 }`],
  ])('reports "%s", and leaves no frame behind', async (message, options) => {
    const product = await browsing.productPage();
    const caught = `(() => { try { new EmbeddedInstance(${options}) } catch (error) { return error.message } })()`;
    expect(await product.page.evaluate(caught)).toBe(message);
    expect(await product.page.locator('iframe').count()).toBe(1);
  });

  it('refuses changes that need another frame', async () => {
    const product = await browsing.productPage();
    const caught = `(() => { try { instance.configure({ userKey: '2' }) } catch (error) { return error.message } })()`;
    expect(await product.page.evaluate(caught)).toBe('userKey cannot be changed');
  });

  it('accepts only its own events, and calls every listener even if one throws', async () => {
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
