// A host page with one `<embedded-instance>`, whose tokens a test gives and counts, and whose events it reads.
import type { Frame, Page } from 'playwright-core';
import type { EmbeddedBrowsing } from '../../support/embedded-browsing.js';

/** The browser context that opens the page, and the server of the page. */
export type ElementHost = Pick<EmbeddedBrowsing, 'context' | 'instanceOrigin' | 'serve'>;

export interface ElementPageOptions {
  /** The element's attributes, as HTML. A title is already set. */
  readonly attributes?: string;
  /** The element's content, as HTML. */
  readonly content?: string;
  /** The page's body, which contains the script. `INSTANCE` is replaced by the instance's address. */
  readonly body?: string;
  /** Headers of the page: its content security policy and its embedder policy. */
  readonly policy?: string;
  readonly embedderPolicy?: string;
  /** What the backend answers; undefined: nothing but a failure. */
  readonly token: () => string | undefined;
}

const EVENTS = ['session-ready', 'session-ended', 'login-failed', 'retry', 'navigated', 'reloaded'];
const FETCH_TOKEN = `async () => {
  const answer = await fetch('/token', { method: 'POST' });
  if (!answer.ok) throw new Error('There is no token');
  return answer.text();
}`;
/** First the script, then the element and its property. */
const USUAL = `<script src="INSTANCE/embed.js"></script>ELEMENT
  <script>document.querySelector('embedded-instance').fetchToken = FETCH</script>`;

export class ElementPage {
  /** How many tokens were asked for. */
  tokens = 0;
  readonly warnings: string[] = [];

  private constructor(readonly page: Page) {}

  static async open(browsing: ElementHost, options: ElementPageOptions): Promise<ElementPage> {
    const page = await browsing.context.newPage();
    const opened = new ElementPage(page);
    const { attributes = '', content = '', body = USUAL, policy = '', embedderPolicy = '', token } = options;
    page.on('console', (line) => line.type() === 'warning' && opened.warnings.push(line.text()));
    await page.addInitScript(`window.events = [];
      for (const name of ${JSON.stringify(EVENTS)})
        document.addEventListener(name, ({ detail }) => events.push([name, detail]), true);`);
    await page.route('**/token', (route) => {
      opened.tokens += 1;
      const value = token();
      return value === undefined ? route.fulfill({ status: 500 }) : route.fulfill({ body: value });
    });
    const element = `<embedded-instance title="Automation" ${attributes}>${content}</embedded-instance>`;
    const html = body
      .replaceAll('ELEMENT', element)
      .replaceAll('FETCH', FETCH_TOKEN)
      .replaceAll('INSTANCE', browsing.instanceOrigin);
    const query = new URLSearchParams({ policy, embedderPolicy });
    const url = browsing.serve('/element', `<!doctype html><html lang="en">${html}</html>`);
    await page.goto(`${url}?${query.toString()}`);
    return opened;
  }

  /** The content of the frame. */
  get frame() {
    return this.page.frameLocator('embedded-instance iframe');
  }

  /** The document in the frame. */
  async inside(): Promise<Frame> {
    const frame = await (await this.page.locator('embedded-instance iframe').elementHandle())?.contentFrame();
    if (!frame) throw new Error('there is no frame');
    return frame;
  }

  /** Runs with `element` and `events`. */
  run<Result>(program: string): Promise<Result> {
    return this.page.evaluate<Result>(
      `(() => { const element = document.querySelector('embedded-instance'); return ${program}; })()`,
    );
  }

  events(): Promise<[name: string, detail: Record<string, unknown>][]> {
    return this.run('events');
  }

  async names(): Promise<string[]> {
    return (await this.events()).map(([name]) => name).filter((name) => name !== 'navigated');
  }

  /** Waits for `count` events of a name. */
  async told(name: string, count = 1): Promise<Record<string, unknown>> {
    await this.page.waitForFunction(`events.filter(([name]) => name === '${name}').length >= ${count}`);
    return (await this.events()).filter(([told]) => told === name)[count - 1]?.[1] ?? {};
  }
}
