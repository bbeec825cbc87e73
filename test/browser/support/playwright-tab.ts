// A tab that Playwright drives.
import type { Page } from 'playwright-core';
import type { Tab } from './journey.js';

export function playwrightTab(page: Page): Tab {
  return {
    goto: async (url) => void (await page.goto(url)),
    reload: async () => void (await page.reload()),
    run: (expression) => page.evaluate(expression),
    inside: async (expression, frame = 0) => {
      const elements = await page.locator('embedded-instance iframe').elementHandles();
      const content = await elements[frame]?.contentFrame();
      if (!content) throw new Error(`there is no frame ${frame}`);
      return content.evaluate(expression);
    },
  };
}
