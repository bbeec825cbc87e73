// The screenshots of docs/operator/operator-page.md, of a real instance after a day: `npm run docs:screenshots` puts them into docs/images.
import { mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser } from '../support/browser.js';
import { OperatorBrowsing } from '../support/operator-browsing.js';
import { sizeOf } from '../support/series.js';
import { REPOSITORY } from '../support/source-files.js';
import { TestClock } from '../support/test-clock.js';

const DAY_SECONDS = 86_400;
const SIZE = { width: 1280, height: 720 };
const MAX_BYTES = 150_000;
const STEPS = sizeOf({ small: 4, whole: 48 });
/** By `npm test` they are taken, but not kept. */
const FOLDER = STEPS === 48 ? join(REPOSITORY, 'docs', 'images') : join(tmpdir(), 'screenshots');

describeInBrowser('screenshots', () => {
  const clock = new TestClock(Date.now() - DAY_SECONDS * 1000);
  const browsing = new OperatorBrowsing({ clock });
  const present = () => Math.floor(clock.nowMs() / 1000);
  const exchange = (sub: string, iat = present()) =>
    browsing.exchange(browsing.token(sub, { iat, exp: iat + 55 }));

  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    await browsing.start();
    for (let step = 0; step < STEPS; step += 1) {
      const busy = Math.round(9 + 7 * Math.sin((step / STEPS) * 2 * Math.PI));
      for (let count = 0; count < busy; count += 1) await exchange(`customer-${count}`);
      const refused = step % 7 === 3 ? 4 : step % 3 === 0 ? 1 : 0;
      for (let count = 0; count < refused; count += 1) await exchange('alice', present() - 120);
      clock.advance(DAY_SECONDS / STEPS);
    }
    await exchange('alice', present() - 120);
  });
  afterAll(() => browsing.stop());

  const take = async (name: string, hash: string, colorScheme: 'light' | 'dark', shown: string) => {
    const one = await browsing.signedIn(hash);
    await one.page.setViewportSize(SIZE);
    await one.page.emulateMedia({ colorScheme });
    await one.page.locator(shown).first().waitFor();
    await one.settled();
    const path = join(FOLDER, name);
    await one.page.screenshot({ path, animations: 'disabled' });
    await browsing.leave();
    return statSync(path).size;
  };

  it('of the overview and of refusals are small enough to read on a page', async () => {
    const sizes = [
      await take('operator-overview.png', '#/', 'light', '.plot canvas'),
      await take('operator-refusal.png', '#/refusals?reason=token_expired', 'dark', '.remedy'),
    ];
    expect(sizes.filter((bytes) => bytes > MAX_BYTES || bytes < 10_000)).toEqual([]);
  });
});
