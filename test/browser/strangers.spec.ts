// What pages of other origins get of an instance and its sessions: nothing.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { REDIRECTS, TRICKS } from '../support/redirect-targets.js';

describeInBrowser('pages of other origins', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders' } });

  it('[5.5.3] a site that is not listed cannot frame the instance: the browser refuses, the script reports', async () => {
    const product = await browsing.productPage('evil.test');
    const refusal = product.page.waitForEvent('console', (line) => line.text().includes('frame-ancestors'));
    await product.login(browsing.token('ada'));
    expect((await refusal).text()).toContain('violates');
    expect(await product.event(1)).toEqual(['login-failed', { during: 'login', error: 'unreachable' }]);
    expect(product.frameUrl()).not.toContain('instance.test');
  });

  it('[D25] another origin of the same site shares the cookie, yet hears nothing and can sign no user out', async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.event(1);
    const neighbour = await browsing.productPage('app.partner.test');
    await neighbour.pointFrameTo(browsing.instanceOrigin);
    await neighbour.frame.getByText('Morning orders').waitFor();
    await neighbour.logout();
    await neighbour.reloadFrameSilently();
    await neighbour.frame.getByText('Morning orders').waitFor();
    // The script of that page asks, and hears the same whoever is signed in: a page is there, and it has no session to end.
    const said = (await neighbour.messages()).map((message) => (message as { type: string }).type);
    const ofNoSession = ['page-loading', 'page-loaded', 'signing-out', 'no-session'];
    expect(said.filter((type) => !ofNoSession.includes(type))).toEqual([]);
  });

  it('[D25] the script takes no event from another frame', async () => {
    const product = await browsing.productPage();
    await product.page.evaluate(`postMessage({ type: 'session-ready', expiresAt: '2099-01-01' }, '*')`);
    await product.pointFrameTo(`${browsing.originOf('other.test')}/shouting`);
    await product.page.waitForFunction('messages.length >= 2');
    expect(await product.events()).toEqual([]);
  });

  it('the script is the one thing that pages of other sites may load', async () => {
    const page = await browsing.context.newPage();
    await page.goto(`${browsing.originOf('evil.test')}/elsewhere`);
    const load = (path: string) =>
      page.evaluate<boolean>(`new Promise((resolve) => {
        const script = document.createElement('script');
        script.src = '${browsing.instanceOrigin}${path}';
        script.onload = () => resolve(true);
        script.onerror = () => resolve(false);
        document.body.append(script);
      })`);
    expect(await load('/embed.js')).toBe(true);
    expect(await load('/assets/current/wording.js')).toBe(false);
  });

  it('[D24] a page of the instance leads to pages of the instance alone', async () => {
    const { instanceOrigin } = browsing;
    const page = await browsing.context.newPage();
    await page.goto(instanceOrigin);
    const asked = REDIRECTS.map(([target]) => target ?? '');
    const targets = [...asked, ...TRICKS, `blob:${instanceOrigin}/x`, instanceOrigin.replace('//', '//ada@')];
    const led = await page.evaluate<string[]>(
      `import('/assets/current/session.js').then(({ onward }) => ${JSON.stringify(targets)}.map((path) => onward(path)))`,
    );
    expect(led).toHaveLength(targets.length);
    expect(led.filter((address) => !address.startsWith(`${instanceOrigin}/`))).toEqual([]);
  });
});
