// The product pages of pretend partners, over HTTPS under any name: each loads /embed.js and notes its events.
import { once } from 'node:events';
import type { Server } from 'node:https';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Frame, Page } from 'playwright-core';
import type { Identity } from './jwks-server.js';

/** An event of the script, as the page has noted it. */
export type HostEvent = [name: string, detail: Record<string, unknown>];

export class PartnerSite {
  private constructor(
    private readonly server: Server,
    /** Pages of a test's own, by their path. */
    readonly pages: Map<string, string>,
  ) {}

  static async listen(identity: Identity): Promise<PartnerSite> {
    const pages = new Map<string, string>();
    const server = createServer(identity, (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'https://any.test');
      const page = PAGES.get(pathname);
      const body =
        pages.get(pathname) ??
        page?.(searchParams.get('instance') ?? '', searchParams.get('options') ?? '{}');
      if (body === undefined) return response.writeHead(404).end();
      const policies = { policy: 'content-security-policy', embedderPolicy: 'cross-origin-embedder-policy' };
      for (const [name, header] of Object.entries(policies)) {
        const policy = searchParams.get(name);
        if (policy) response.setHeader(header, policy);
      }
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PartnerSite(server, pages);
  }

  /** The origin of the site under one of its names, `partner.test` for example. */
  originOf(name: string): string {
    return `https://${name}:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

/** A product page with a frame of an instance, as a test drives it. */
export class ProductPage {
  private constructor(readonly page: Page) {}

  /**
   * @param instance origin of the instance whose script the page loads
   * @param options further options of the frame; container and title are set here
   * @param policy of the product page: a content security policy
   */
  static async open(
    page: Page,
    origin: string,
    instance: string,
    options: object = {},
    policy?: string,
  ): Promise<ProductPage> {
    const query = new URLSearchParams({ instance, options: JSON.stringify(options) });
    if (policy !== undefined) query.set('policy', policy);
    await page.goto(`${origin}/?${query.toString()}`);
    return new ProductPage(page);
  }

  /** The visible text of the frame. */
  get frame() {
    return this.page.frameLocator(SHOWN_FRAME);
  }

  async login(token: string, redirectTo?: string): Promise<void> {
    await this.page.evaluate(
      ([first, second]) => void instance.login(first ?? '', second),
      [token, redirectTo],
    );
  }

  async renew(token: string): Promise<void> {
    await this.page.evaluate((value) => void instance.renew(value), token);
  }

  async configure(appearance: object): Promise<void> {
    await this.page.evaluate((value) => instance.configure(value), appearance);
  }

  async logout(): Promise<void> {
    await this.page.evaluate(() => void instance.logout());
  }

  /** Has the frame load an address by itself, as a plain `<iframe src>` does. */
  async pointFrameTo(url: string): Promise<void> {
    await this.page.evaluate(`instance.frame.src = ${JSON.stringify(url)}`);
  }

  /** Signs in as a page without the script does, by a form that it posts into a frame of its own. */
  async postPlainly(instance: string, fields: Readonly<Record<string, string>>): Promise<void> {
    await this.page.evaluate(`(() => {
      instance.remove();
      const frame = Object.assign(document.createElement('iframe'), { name: 'plain' });
      container.replaceChildren(frame);
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', target: 'plain', action: '${instance}/rest/auth/embed' });
      for (const [name, value] of Object.entries(${JSON.stringify(fields)}))
        form.append(Object.assign(document.createElement('input'), { name, value }));
      document.body.append(form);
      form.submit();
      form.remove();
    })()`);
  }

  /** Loads again what the frame shows: the page of somebody who is signed in, which tells so once more. */
  async reloadFrame(): Promise<void> {
    const toldBefore = (await this.events()).length;
    await (await this.shownFrame()).evaluate('location.reload()');
    await this.event(toldBefore + 1);
  }

  /** Puts a mark on the document in the frame, which is gone when another is loaded. */
  async markFrame(): Promise<void> {
    await (await this.shownFrame()).evaluate('window.isMarked = true');
  }

  async isFrameMarked(): Promise<boolean> {
    try {
      return await (await this.shownFrame()).evaluate<boolean>('window.isMarked === true');
    } catch (error) {
      // It went while it was asked.
      if (String(error).includes('Execution context was destroyed')) return false;
      throw error;
    }
  }

  /** The address of what the frame shows. */
  frameUrl(): string {
    return this.page.frames().at(-1)?.url() ?? '';
  }

  /** The length of the tab's history, including frames. */
  historyLength(): Promise<number> {
    return this.page.evaluate<number>('history.length');
  }

  async shownFrame(): Promise<Frame> {
    const element = await this.page.locator(SHOWN_FRAME).elementHandle();
    const frame = await element?.contentFrame();
    if (!frame) throw new Error('the page has no frame');
    return frame;
  }

  /** Waits until the frame shows a heading. @throws Error with the events of the page if it does not */
  async heading(name: string): Promise<void> {
    try {
      await this.frame.getByRole('heading', { name }).waitFor();
    } catch (cause) {
      const told = JSON.stringify(await this.events());
      const frames = this.page.frames().map((frame) => frame.url().replace(/[?#].*/, ''));
      throw new Error(`no heading "${name}"; told: ${told}; frames: ${frames.join(', ')}`, { cause });
    }
  }

  /** Everything that was told so far. */
  events(): Promise<HostEvent[]> {
    return this.page.evaluate(() => events);
  }

  async eventNames(): Promise<string[]> {
    return (await this.events()).map(([name]) => name);
  }

  /** Waits until the page has received `count` events, and returns the last one. */
  async event(count: number): Promise<HostEvent> {
    await this.page.waitForFunction((wanted) => events.length >= wanted, count);
    const told = (await this.events())[count - 1];
    if (told === undefined) throw new Error('an event has vanished');
    return told;
  }

  /** The height that the page in the frame has asked for last, in CSS pixels. */
  askedHeight(): Promise<number> {
    return this.page.evaluate(() => heights.at(-1) ?? 0);
  }

  /** Every message that reached the page from any sender. */
  messages(): Promise<unknown[]> {
    return this.page.evaluate(() => messages);
  }
}

// Names of the product page's own script, for the functions above that run there.
declare const instance: {
  login(token: string, redirectTo?: string): Promise<unknown>;
  renew(token: string): Promise<unknown>;
  logout(): Promise<unknown>;
  configure(appearance: object): void;
};
declare const events: HostEvent[];
declare const heights: number[];
declare const messages: unknown[];

const PAGES = new Map([
  ['/', productPage],
  ['/shouting', () => '<script>parent.postMessage({ type: "session-ready" }, "*")</script>'],
  ['/elsewhere', () => '<!doctype html><html lang="en"><title>Elsewhere</title><h1>Elsewhere</h1></html>'],
]);

export const SHOWN_FRAME = '#container iframe';

function productPage(instanceOrigin: string, options: string): string {
  return `<!doctype html>
<html lang="en">
  <title>Product</title>
  <style>iframe { width: 100%; height: 30rem; border: 0 }</style>
  <a href="/elsewhere">Elsewhere</a>
  <div id="container"></div>
  <script src="${instanceOrigin}/embed.js"></script>
  <script>
    const events = [];
    const messages = [];
    addEventListener('message', ({ data }) => messages.push(data));
    const container = document.querySelector('#container');
    const heights = [];
    const instance = new EmbeddedInstance({ container, title: 'Automation', ...${options} });
    instance.on('resize', ({ height }) => heights.push(height));
    for (const name of ['session-ready', 'session-expiring', 'session-ended', 'login-failed']) {
      instance.on(name, (detail) => events.push([name, detail]));
    }
  </script>
</html>`;
}
