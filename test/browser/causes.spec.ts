// A frame that cannot work names the cause at once. Old browsers also show a message instead of a blank frame.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeInBrowser, openStoppableBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { ElementPage } from './support/element-page.js';

/** Far less than the limit of a login. */
const AT_ONCE_MS = 15_000;
const WORKFLOW = 'Morning orders';

describeInBrowser('a frame that cannot work reports', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: WORKFLOW } });
  afterEach(() => browsing.closePages());
  type Options = Partial<Parameters<typeof ElementPage.open>[1]>;
  const open = (options: Options = {}, host: Parameters<typeof ElementPage.open>[0] = browsing) =>
    ElementPage.open(host, { token: () => browsing.token('ada'), ...options });
  const hostAt = (name: string) => ({
    context: browsing.context,
    instanceOrigin: browsing.instanceOrigin,
    serve: (path: string, html: string) =>
      browsing.serve(path, html).replace(browsing.originOf('partner.test'), browsing.originOf(name)),
  });
  const isTold = async (page: ElementPage, error: string) => {
    expect(await page.told('login-failed')).toEqual({ during: 'login', error });
    expect(await page.page.evaluate<number>('performance.now()')).toBeLessThan(AT_ONCE_MS);
    await page.page.getByRole('alert').getByText(error).waitFor();
    expect(page.warnings.join()).toContain(`<embedded-instance>: ${error}: `);
    expect(await page.page.locator('iframe:visible').count()).toBe(0);
  };

  it('[5.5.3] not_allowed_here: a site that is not listed, if the browser refuses the frame', async () => {
    await isTold(await open({}, hostAt('evil.test')), 'not_allowed_here');
  });

  it('blocked: a policy without frame-src', async () => {
    await isTold(await open({ policy: "frame-src 'self'" }), 'blocked');
  });

  it('opaque_host: a host page in a sandbox without an origin', async () => {
    await isTold(await open({ policy: 'sandbox allow-scripts' }), 'opaque_host');
  });

  it('sandboxed: a frame without an origin or scripts', async () => {
    for (const sandbox of ['allow-scripts', 'allow-same-origin']) {
      const page = await open({
        body: `<script src="INSTANCE/embed.js"></script><script>
          const make = document.createElement.bind(document);
          document.createElement = (name) => {
            const made = make(name);
            if (name === 'iframe') made.sandbox = '${sandbox}';
            return made;
          };</script>ELEMENT<script>document.querySelector('embedded-instance').fetchToken = FETCH</script>`,
      });
      await isTold(page, 'sandboxed');
    }
  });

  it('wrong_address: another address of the instance, with both addresses', async () => {
    const other = browsing.instanceOrigin.replace('instance.test', 'other-name.test');
    const page = await open({ attributes: `url="${other}"` });
    await isTold(page, 'wrong_address');
    expect(page.warnings.join()).toContain(other);
    expect(page.warnings.join()).toContain(browsing.instanceOrigin);
  });

  /** Some pages cannot load it from the instance. */
  const script = async () => {
    const page = await browsing.context.newPage();
    await page.goto(`${browsing.originOf('partner.test')}/elsewhere`);
    return page.evaluate<string>(
      `fetch('${browsing.instanceOrigin}/embed.js').then((answer) => answer.text())`,
    );
  };

  it('local_network: a public host page without access to the local network', async () => {
    const { port } = new URL(browsing.originOf('partner.test'));
    const browser = await openStoppableBrowser([`--ip-address-space-overrides=127.0.0.1:${port}=public`]);
    try {
      const page = await open(
        {
          attributes: `url="${browsing.instanceOrigin}" lang="de"`,
          body: `<script>${await script()}</script>ELEMENT
            <script>document.querySelector('embedded-instance').fetchToken = FETCH</script>`,
        },
        { ...hostAt('partner.test'), context: browser.context },
      );
      expect(await page.told('login-failed')).toEqual({ during: 'login', error: 'local_network' });
      const card = page.page.getByRole('alert');
      await card.getByText('Erlauben Sie dieser Seite den Zugriff auf Geräte').waitFor();
      await card.getByRole('button', { name: 'Erneut versuchen' }).click();
      await page.told('login-failed', 2);
      expect(page.warnings.join()).toContain('local_network');
    } finally {
      await browser.close();
    }
  });

  it('insecure_page: a host page on plain HTTP', async () => {
    const page = await browsing.context.newPage();
    const html = `<!doctype html><script>${await script()}</script>
      <embedded-instance title="x" url="${browsing.instanceOrigin}"></embedded-instance>
      <script>window.told = [];
        const element = document.querySelector('embedded-instance');
        element.addEventListener('login-failed', ({ detail }) => told.push(detail.error));
        element.fetchToken = async () => 'token'</script>`;
    const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      await page.goto(`http://plain.test:${(server.address() as AddressInfo).port}`);
      await page.waitForFunction('told.length > 0');
      expect(await page.evaluate('told[0]')).toBe('insecure_page');
      await page.getByRole('alert').getByText('insecure_page').waitFor();
    } finally {
      server.close();
    }
  });

  describe('on a strict host page a frame works', () => {
    it.each<[string, Options]>([
      ['with Cross-Origin-Embedder-Policy', { embedderPolicy: 'require-corp' }],
      ['without a referrer', { body: `<meta name="referrer" content="no-referrer" />${'BODY'}` }],
      ['in a sandbox without forms', { policy: 'sandbox allow-scripts allow-same-origin' }],
      ['with a policy for forms and requests', { policy: "form-action 'none'; connect-src 'self'" }],
    ])('%s', async (_, options) => {
      const usual = `<script src="INSTANCE/embed.js"></script>ELEMENT
        <script>document.querySelector('embedded-instance').fetchToken = FETCH</script>`;
      const page = await open({ ...options, body: (options.body ?? 'BODY').replace('BODY', usual) });
      await page.frame.getByText(WORKFLOW).waitFor();
      expect(await page.page.getByRole('alert').count()).toBe(0);
    });
  });

  describe('in an old or storage-free browser', () => {
    const without = async (program: string) => {
      const context = await browsing.context.browser()!.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(AT_ONCE_MS);
      await context.addInitScript(program);
      const page = await open(
        { attributes: 'user-key="1" address="hash"' },
        { ...hostAt('partner.test'), context },
      );
      return { page, context };
    };

    it.each([
      [
        'what came later',
        'delete Promise.withResolvers; delete AbortSignal.any; delete AbortSignal.timeout; delete URL.canParse;' +
          'delete Object.groupBy; delete Array.fromAsync; delete Set.prototype.union;',
      ],
      [
        'storage and channels',
        `for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
           Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });
         window.BroadcastChannel = class { constructor() { throw new DOMException('denied', 'SecurityError'); } };`,
      ],
      ['BroadcastChannel', 'delete window.BroadcastChannel'],
    ])('a frame signs in, opens, renews and signs out without %s', async (_, program) => {
      const { page, context } = await without(program);
      await page.frame.getByRole('link', { name: WORKFLOW }).click();
      await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
      await page.run('element.instance.renew(element.fetchToken({}))');
      await page.run('element.instance.logout()');
      await page.frame.getByRole('heading', { name: 'You have signed out' }).waitFor();
      expect(await page.names()).toEqual(['session-ready', 'session-ready', 'session-ended']);
      await context.close();
    });

    it.each([
      ['is missing', `Object.defineProperty(Crypto.prototype, 'subtle', { get: () => undefined })`],
      [
        'throws',
        `SubtleCrypto.prototype.generateKey = () => Promise.reject(new DOMException('denied', 'OperationError'))`,
      ],
    ])('a frame reports the cause if crypto.subtle %s', async (_, program) => {
      const { page, context } = await without(program);
      const { error } = await page.told('login-failed');
      expect(error).toMatch(/^(insecure_page|blocked)$/);
      await page.page.getByRole('alert').getByText(String(error)).waitFor();
      await context.close();
    });
  });
});
