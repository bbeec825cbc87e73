// Pages of other origins cannot use an instance or its sessions.
import type { Frame } from 'playwright-core';
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';

describeInBrowser('pages around a frame', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders', ben: 'Secret of ben' } });
  afterEach(() => browsing.closePages());
  const signedIn = async () => {
    const product = await browsing.productPage();
    await product.login(browsing.token('ada'));
    await product.frame.getByText('Morning orders').waitFor();
    return product;
  };
  /** A stranger's messages: to end the session, to sign in another user, and to open another path. */
  const attack = (target: string) => `{
    const say = (message) => ${target}.postMessage(message, '*');
    say({ type: 'sign-out', id: 1, everywhere: true });
    say({ type: 'login', id: 2, token: '${browsing.token('ben')}', path: '/' });
    say({ type: 'navigate', path: '/#search=nothing' });
    say({ type: 'hello', path: '/', canRetry: true, retries: true, showsFailures: true, look: {} });
  }`;

  it('[D25] cannot send messages to a sibling frame, or receive any about its session', async () => {
    const product = await signedIn();
    const html = `<script>window.heard = []; addEventListener('message', ({ data }) => heard.push(data));
      ${attack(`parent.frames[0]`)}</script>`;
    const url = browsing.serve('/sibling', html).replace('partner.test', 'other.test');
    await product.page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${url}' }))`,
    );
    const sibling = await frameAt(product.page.frames.bind(product.page), '/sibling');
    await product.page.waitForTimeout(1000);
    expect(await sibling.evaluate('heard')).toEqual([]);
    expect(await product.eventNames()).toEqual(['session-ready']);
    expect(await product.frame.getByText('Morning orders').count()).toBe(1);
  });

  it('[D25] cannot send messages as an opener or as an unknown page', async () => {
    const product = await browsing.productPage();
    const opened = browsing.context.waitForEvent('page');
    const host = encodeURIComponent(browsing.originOf('partner.test'));
    await product.page.evaluate(`window.opened = open('${browsing.instanceOrigin}/frame?host=${host}')`);
    const tab = await opened;
    await tab.waitForLoadState();
    const before = (await browsing.service.rows('SELECT 1 FROM token_exchange_session')).length;
    await product.page.evaluate(attack('window.opened'));
    await product.page.waitForTimeout(1000);
    expect(await browsing.service.rows('SELECT 1 FROM token_exchange_session')).toHaveLength(before);
    const types = (await product.messages()).map((message) => (message as { type: string }).type);
    expect(types.filter((type) => type.startsWith('session-') || type.startsWith('login-'))).toEqual([]);
  });
  it('[5.5.3] receive nothing if a listed page names another host', async () => {
    const product = await browsing.productPage('other.test');
    const host = encodeURIComponent(browsing.originOf('partner.test'));
    await product.pointFrameTo(`${browsing.instanceOrigin}/frame?host=${host}`);
    await product.page.waitForTimeout(1000);
    const before = (await product.messages()).length;
    await product.page.evaluate(attack('instance.frame.contentWindow'));
    await product.page.waitForTimeout(1000);
    expect(await product.messages()).toHaveLength(before);
    expect(await product.events()).toEqual([]);
  });

  it('[D25] cannot send events to the script from another window, another frame or another page in its frame', async () => {
    const product = await browsing.productPage();
    await product.page.evaluate(`postMessage({ type: 'session-ready', expiresAt: '2099-01-01' }, '*')`);
    await product.pointFrameTo(`${browsing.originOf('other.test')}/shouting`);
    await product.page.waitForFunction(`messages.filter(({ type }) => type === 'session-ready').length >= 2`);
    expect(await product.events()).toEqual([]);
  });
  it("[D127] cannot use a token that is bound to another frame's key", async () => {
    const [one, other] = [await browsing.productPage(), await browsing.productPage()];
    const jkt = await one.page.evaluate<string>(`new Promise((resolve) => {
      void instance.login((asked) => { resolve(asked.jkt); return new Promise((give) => { giveToken = give; }); });
    })`);
    const token = browsing.token('ada', { cnf: { jkt } });
    await other.login(token);
    const [name, { error }] = await other.event(1);
    expect([name, error]).toEqual(['login-failed', expect.any(String)]);
    await one.page.evaluate(`giveToken('${token}')`);
    expect((await one.event(1))[0]).toBe('session-ready');
  });
});

async function frameAt(frames: () => Frame[], path: string): Promise<Frame> {
  for (;;) {
    const frame = frames().find((one) => one.url().endsWith(path));
    if (frame !== undefined) return frame;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
