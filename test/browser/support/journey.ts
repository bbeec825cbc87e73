// The way of a visitor through a frame, in any browser: sign in, list, open, renew, reload of the host page, sign out.
import type { EmbeddedBrowsing } from '../../support/embedded-browsing.js';
import { until } from '../../support/until.js';

export const WORKFLOW = 'Morning orders';
const PATIENCE_MS = 60_000;
/** Where the list of a journey back begins: at all rows, and at found ones. */
export const LISTS = ['/', '/#search=orders'];
/** As many as one page of the list shows. */
export const ORDERS = Array.from({ length: 50 }, (_, index) => `Orders ${index}`);
/** How far the host page is scrolled down, in pixels. */
const SCROLLED = 2000;
/** As many logins and renewals as a journey needs. */
const TOKENS = 4;

/** One tab of a browser, as its driver runs programs in it. */
export interface Tab {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs an expression in the host page. */
  run<Result>(expression: string): Promise<Result>;
  /** Runs an expression in the page within one frame. @throws Error if there is none */
  inside<Result>(expression: string, frame?: number): Promise<Result>;
}

/** A page with an element for each customer, and its own tokens: any browser can be without a way to answer requests. */
function hostPage(browsing: EmbeddedBrowsing, subs: readonly string[], attributes = ''): string {
  const tokens = Object.fromEntries(
    subs.map((sub) => [sub, Array.from({ length: TOKENS }, () => browsing.token(sub))]),
  );
  const elements = subs.map(
    (sub) =>
      `<embedded-instance id="${sub}" title="${sub}" user-key="${sub}" ${attributes}></embedded-instance>`,
  );
  return `<!doctype html><html lang="en"><script src="${browsing.instanceOrigin}/embed.js"></script>${elements.join('')}
    <script>
      window.told = [];
      const tokens = ${JSON.stringify(tokens)};
      for (const name of ['session-ready', 'session-ended', 'login-failed'])
        document.addEventListener(name, ({ target, detail }) => told.push(target.id + ' ' + name + ' ' + (detail.error ?? '')), true);
      for (const element of document.querySelectorAll('embedded-instance'))
        element.fetchToken = async () => tokens[element.id].pop();
    </script></html>`;
}

export class Journey {
  constructor(
    private readonly browsing: EmbeddedBrowsing,
    private readonly tab: Tab,
  ) {}

  /** Opens a new page with unused tokens. */
  async open(subs: readonly string[] = ['ada']): Promise<void> {
    await this.tab.goto(this.serve(subs));
  }

  async walk(): Promise<void> {
    await this.open();
    await this.shows(WORKFLOW);
    await this.tab.inside(`document.querySelector('main a').click()`);
    await this.hasHeading(WORKFLOW);
    await this.tab.run(
      `document.querySelector('embedded-instance').instance.renew(tokens.ada.pop()).then(() => 0)`,
    );
    expect(await this.told()).toEqual(['ada session-ready ', 'ada session-ready ']);
    this.serve(['ada']);
    await this.tab.reload();
    await this.hasHeading(WORKFLOW);
    await this.tab.inside(`document.querySelector('#sign-out').click()`);
    await this.hasHeading('You have signed out');
    expect(await this.told()).toEqual(['ada session-ready ', 'ada session-ended ']);
  }

  /** Two users in one page: one signs out, the other goes on. */
  async walkTogether(): Promise<void> {
    await this.open(['ada', 'ben']);
    await this.shows('ada Tester', 0);
    await this.shows('ben Tester', 1);
    await this.tab.inside(`document.querySelector('#sign-out').click()`, 0);
    await this.hasHeading('You have signed out', 0);
    await this.tab.inside(`document.querySelector('#refresh').click()`, 1);
    await this.shows('Secret of ben', 1);
    expect((await this.told()).sort()).toEqual([
      'ada session-ended ',
      'ada session-ready ',
      'ben session-ready ',
    ]);
  }

  /** Back and Forward of the host page, and the address of a link, lead to a place of the frame. */
  async walkHistory(): Promise<void> {
    const url = this.serve(['ada'], 'address="hash"');
    await this.tab.goto(url);
    await this.shows(WORKFLOW);
    const link = await this.tab.inside<string>(`document.querySelector('main a').href`);
    expect(link.startsWith(`${url}#`)).toBe(true);
    await this.tab.inside(`document.querySelector('main a').click()`);
    await this.hasHeading(WORKFLOW);
    for (const [step, isOpen] of [
      ['back', false],
      ['forward', true],
    ] as const) {
      await this.tab.run(`void history.${step}()`);
      await this.holds(`(document.querySelector('#back') !== null) === ${isOpen}`, 0);
      expect(await this.tab.run('decodeURIComponent(location.href)')).toBe(
        isOpen ? decodeURIComponent(link) : url,
      );
    }
    this.serve(['ada'], 'address="hash"');
    await this.tab.goto('about:blank');
    await this.tab.goto(link);
    await this.hasHeading(WORKFLOW);
  }

  /** Opens `ORDERS` of the customer `eve`, and returns to the scrolled position of the host page. */
  async walkBack(path: string): Promise<void> {
    await this.tab.goto(this.serve(['eve'], `height="auto" redirect-to="${path}"`));
    const isAt = (condition: string) =>
      until(condition, PATIENCE_MS, () => this.tab.run<boolean>(condition).catch(() => false));
    await isAt(`document.querySelector('iframe').clientHeight > ${SCROLLED + 500}`);
    for (const row of [12, 12, 9]) {
      await this.tab.run(`scrollTo(0, ${SCROLLED})`);
      await this.tab.inside(`document.querySelectorAll('main a')[${row}].click()`);
      await this.holds(`document.querySelector('#back') !== null`, 0);
      await isAt(`scrollY < ${SCROLLED - 500}`);
      await this.tab.inside(`document.querySelector('#back').click()`);
      await this.holds(`document.querySelector('#workflows:not([hidden]) a') !== null`, 0);
      await isAt(`Math.abs(scrollY - ${SCROLLED}) < 5`);
    }
  }

  async shows(text: string, frame = 0): Promise<void> {
    await this.holds(`document.body.innerText.includes(${JSON.stringify(text)})`, frame);
  }

  async hasHeading(name: string, frame = 0): Promise<void> {
    const heads = `[...document.querySelectorAll('h1, h2')].map((head) => head.textContent.trim())`;
    await this.holds(`${heads}.includes(${JSON.stringify(name)})`, frame);
  }

  told(): Promise<string[]> {
    return this.tab.run('told');
  }

  private serve(subs: readonly string[], attributes?: string): string {
    return this.browsing.serve('/journey', hostPage(this.browsing, subs, attributes));
  }

  private async holds(expression: string, frame: number): Promise<void> {
    await until(`${expression} in frame ${frame}`, PATIENCE_MS, () =>
      // The frame may be on its way.
      this.tab.inside<boolean>(expression, frame).catch(() => false),
    );
  }
}
