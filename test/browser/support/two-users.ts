// Two elements, in one page or in two tabs, whose logins run at the same time: what each shows, tells, and has ever drawn.
import type { BrowserContext, Frame, Page } from 'playwright-core';
import type { EmbeddedBrowsing } from '../../support/embedded-browsing.js';

/** What became of one element: its user's name in the frame, or the last thing that it told. */
export interface Outcome {
  readonly sub: string;
  readonly shows: string;
  readonly told: readonly string[];
  /** Everything that was ever in a document of its frames. */
  readonly drawn: string;
}

/** Notes in each document every text that comes into it. */
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
      element.addEventListener('session-ready', ({ detail }) => told[sub].push('session-ready ' + detail.userId));
      element.addEventListener('session-ended', ({ detail }) => told[sub].push('session-ended ' + detail.reason));
      element.addEventListener('login-failed', ({ detail }) => told[sub].push('login-failed ' + detail.error));
      element.fetchToken = async () => token;
    }
  </script></html>`;
}

/** Loads pages with elements, each of one customer, all at once; returns what became of each once nothing changes any more. */
export async function loadTogether(
  browsing: EmbeddedBrowsing,
  pages: readonly (readonly string[])[],
  context: BrowserContext = browsing.context,
): Promise<Outcome[]> {
  const loaded = await Promise.all(
    pages.map(async (subs, index) => {
      // `ada2` is another element of `ada`.
      const tokens = Object.fromEntries(subs.map((sub) => [sub, browsing.token(sub.replace(/\d/, ''))]));
      const page = await context.newPage();
      await page.addInitScript(NOTE_TEXTS);
      return {
        page,
        subs,
        url: browsing.serve(`/together-${index}`, pageOf(browsing.instanceOrigin, tokens)),
      };
    }),
  );
  await Promise.all(loaded.map(({ page, url }) => page.goto(url)));
  const all = loaded.flatMap(({ page, subs }) => subs.map((sub) => ({ page, sub })));
  try {
    return await settled(all);
  } finally {
    await Promise.all(loaded.map(({ page }) => page.close()));
  }
}

async function settled(all: readonly { page: Page; sub: string }[]): Promise<Outcome[]> {
  let before = '';
  let same = 0;
  for (let round = 0; round < 80; round += 1) {
    const outcomes = await Promise.all(all.map(({ page, sub }) => outcomeOf(page, sub)));
    const now = JSON.stringify(outcomes.map(({ sub, shows, told }) => [sub, shows, told]));
    same = now === before ? same + 1 : 0;
    if (same === 2 && outcomes.every(({ told }) => told.length > 0)) return outcomes;
    before = now;
    // Longer than a page takes to look again whose session it is.
    await all[0]?.page.waitForTimeout(1500);
  }
  throw new Error(`the frames do not come to rest: ${before}`);
}

async function outcomeOf(page: Page, sub: string): Promise<Outcome> {
  const told = await page.evaluate<string[]>(`told['${sub}']`);
  const frames = await Promise.all(
    (await page.locator(`#${sub} iframe`).elementHandles()).map((element) => element.contentFrame()),
  );
  const texts = await Promise.all(frames.map((frame) => textsOf(frame)));
  return {
    sub,
    told,
    shows: texts.map(([shows]) => shows).join(' '),
    drawn: texts.map(([, drawn]) => drawn).join(' '),
  };
}

async function textsOf(frame: Frame | null): Promise<[shows: string, drawn: string]> {
  const texts = `[document.querySelector('#person')?.textContent ?? '', window.drawn ?? '']`;
  // A frame may go while it is asked.
  return (await frame?.evaluate<[string, string]>(texts).catch(() => undefined)) ?? ['', ''];
}
