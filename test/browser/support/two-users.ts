// Elements of several users, in one page or in several tabs, whose logins run at the same time.
import type { Page } from 'playwright-core';
import type { EmbeddedBrowsing } from '../../support/embedded-browsing.js';

/** What became of one element. */
export interface Outcome {
  readonly sub: string;
  readonly shows: string;
  readonly told: readonly string[];
  /** Every text that was ever in the frame. */
  readonly drawn: string;
}

/** Notes every text of each frame's document. */
const NOTE_TEXTS = `if (parent !== window) {
  window.drawn = '';
  new MutationObserver(() => { drawn += document.documentElement.textContent; })
    .observe(document, { subtree: true, childList: true, characterData: true });
}`;

function pageOf(instance: string, tokens: Readonly<Record<string, string>>): string {
  const elements = Object.keys(tokens).map(
    (sub) => `<embedded-instance id="${sub}" title="${sub}"></embedded-instance>`,
  );
  return `<!doctype html><html lang="en"><script src="${instance}/embed.js"></script>${elements.join('')}
  <script type="module">
    window.told = {};
    for (const [sub, token] of Object.entries(${JSON.stringify(tokens)})) {
      const element = document.getElementById(sub);
      told[sub] = [];
      element.addEventListener('session-ready', () => told[sub].push('session-ready'));
      element.addEventListener('session-ended', ({ detail }) => told[sub].push('session-ended ' + detail.reason));
      element.addEventListener('login-failed', ({ detail }) => told[sub].push('login-failed ' + detail.error));
      element.fetchToken = async () => token;
    }
  </script></html>`;
}

/** Pages with elements, each of one customer. */
export class Together {
  private constructor(private readonly elements: readonly { page: Page; sub: string }[]) {}

  /** Loads all pages at once. @param pages the customers of each page; `ada2` is another element of `ada` */
  static async load(browsing: EmbeddedBrowsing, pages: readonly (readonly string[])[]): Promise<Together> {
    const loaded = await Promise.all(
      pages.map(async (subs, index) => {
        const tokens = Object.fromEntries(subs.map((sub) => [sub, browsing.token(sub.replace(/\d/, ''))]));
        const page = await browsing.context.newPage();
        await page.addInitScript(NOTE_TEXTS);
        const url = browsing.serve(`/together-${index}`, pageOf(browsing.instanceOrigin, tokens));
        return { page, subs, url };
      }),
    );
    await Promise.all(loaded.map(({ page, url }) => page.goto(url)));
    return new Together(loaded.flatMap(({ page, subs }) => subs.map((sub) => ({ page, sub }))));
  }

  /** Waits until each element has sent `events` events and, if there is a session, shows its user's workflows. */
  async outcomes(events = 1): Promise<Outcome[]> {
    return Promise.all(
      this.elements.map(async ({ page, sub }) => {
        await page.waitForFunction(`told['${sub}'].length >= ${events}`);
        const told = await page.evaluate<string[]>(`told['${sub}']`);
        const frame = this.frame(sub);
        if (told.at(-1) === 'session-ready') await frame.locator('#person').waitFor();
        const shows = (await frame.locator('#person').allTextContents()).join();
        const drawn = await frame.locator('html').evaluate<string, unknown>('window.drawn');
        return { sub, told, shows, drawn };
      }),
    );
  }

  frame(sub: string) {
    return this.page(sub).frameLocator(`#${sub} iframe`);
  }

  page(sub: string): Page {
    const element = this.elements.find((one) => one.sub === sub);
    if (element === undefined) throw new Error(`no page shows ${sub}`);
    return element.page;
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.elements.map(({ page }) => page))].map((page) => page.close()));
  }
}
