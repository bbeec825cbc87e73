// What Chromium prints of a host page with a frame: every row, also if paper is narrower than the window.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { createUser, createWorkflow } from '../support/local-users.js';
import { ElementPage } from './support/element-page.js';
import { printedText } from './support/printed-text.js';

const LONG = 'A workflow whose name takes two lines on paper, and one line in the window';
const NAMES = [...Array.from({ length: 30 }, (_, index) => `Orders ${index + 1}`), LONG];

describeInBrowser('a printed page', () => {
  const browsing = EmbeddedBrowsing.forBlock();
  beforeAll(async () => {
    const id = await createUser(browsing.service, { email: 'ada@login.partner.test' });
    for (const name of NAMES) await createWorkflow(browsing.service, id, name);
  });
  afterEach(() => browsing.closePages());

  it.each(['100%', '55%'])(
    'shows every row of a frame that is as high as its list and %s wide, and no controls',
    async (width) => {
      const page = await ElementPage.open(browsing, {
        attributes: `height="auto" style="display: block; width: ${width}"`,
        token: () => browsing.token('ada'),
      });
      await page.frame.getByText(NAMES[0] ?? '', { exact: true }).waitFor();
      await page.page.waitForFunction(`document.querySelector('iframe').clientHeight > 2000`);
      const text = printedText(await page.page.pdf({ format: 'A4' }));
      const lines = text.split('\n').map((line) => line.trim());
      expect(NAMES.filter((name) => name !== LONG && !lines.includes(name))).toEqual([]);
      expect(lines.join(' ')).toContain(LONG);
      for (const part of ['just now', 'Inactive'])
        expect([part, lines.filter((line) => line === part).length]).toEqual([part, NAMES.length]);
      expect(lines.filter((line) => ['Sign out', 'Refresh', 'Sort by'].includes(line))).toEqual([]);
    },
  );
});
