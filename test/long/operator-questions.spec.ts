// Five questions of an operator, by clicks from the page that stands after the sign-in: each takes three at most.
import { describeInBrowser } from '../support/browser.js';
import type { OperatorPage } from '../support/operator-browsing.js';
import { OWNER, OperatorBrowsing } from '../support/operator-browsing.js';

const MOST_CLICKS = 3;
const FIND = 'Why can somebody not sign in?';

describeInBrowser('questions of an operator', () => {
  const browsing = new OperatorBrowsing();
  let requestId = '';

  beforeAll(async () => {
    await browsing.start();
    await browsing.sessionCookie(browsing.token('alice'));
    const expired = browsing.token('alice', { iat: 1_700_000_000, exp: 1_700_000_050 });
    ({ requestId } = await browsing.exchange(expired));
    const one = await browsing.signedIn('#/users');
    await one.page.getByRole('link', { name: 'alice@login.partner.test' }).click();
    await one.button('Sign out everywhere').click();
    await one.confirm(/^Sign alice/, 'Sign out everywhere');
    await one.text('0 embedded sessions');
    await browsing.leave();
  });
  afterEach(() => browsing.leave());
  afterAll(() => browsing.stop());

  /** A list that is chosen from counts as a click. */
  interface Hand {
    readonly one: OperatorPage;
    click(name: string): Promise<void>;
    choose(field: string, label: string): Promise<void>;
  }
  const causeOfExpired = async ({ one }: Hand) => {
    await one.text('Token expired');
    await one.text('What to do:');
  };
  const ask = (text: () => string) => async (hand: Hand) => {
    await hand.one.field(FIND).fill(text());
    await hand.click('Find out');
    await causeOfExpired(hand);
  };

  it.each<[string, (hand: Hand) => Promise<void>]>([
    ['why was a user refused, by the e-mail address', ask(() => 'alice@login.partner.test')],
    ['why was a user refused, by the request id', ask(() => requestId)],
    ['why are tokens refused, by the issuer', ask(() => browsing.partner.issuer)],
    [
      'what was refused in the last hour',
      async (hand) => {
        await hand.click('Refusals');
        await hand.choose('Time', 'Last hour');
        await hand.click('Search');
        await causeOfExpired(hand);
      },
    ],
    [
      'who ended the sessions of a user',
      async (hand) => {
        await hand.click('Audit trail');
        await hand.one.field('Person').fill('alice@login.partner.test');
        await hand.click('Search');
        await hand.one.row('alice@login.partner.test').getByText(OWNER).first().waitFor();
      },
    ],
  ])('%s', async (title, answer) => {
    const one = await browsing.signedIn();
    let clicks = 0;
    const hand = {
      one,
      click: async (name: string) => {
        clicks += 1;
        const pressed = one.button(name).or(one.page.getByRole('navigation').getByRole('link', { name }));
        await pressed.first().click();
      },
      choose: async (field: string, label: string) => {
        clicks += 1;
        await one.field(field).selectOption({ label });
      },
    };
    const since = performance.now();
    await answer(hand);
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    process.stdout.write(`${title}: ${clicks} clicks, ${seconds} s\n`);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
  });
});
