// A session belongs to its frame: users in frames of one page and in tabs of one browser do not disturb each other.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sizeOf } from '../support/series.js';
import { Together } from './support/two-users.js';

const LOADS = sizeOf({ small: 1, whole: 50 });
const LONG_MS = 1_000_000;
const SECRETS: Readonly<Record<string, string>> = { ada: 'Morning orders', ben: 'Secret of ben' };
const WHERE: [string, (readonly string[])[]][] = [
  ['frames of one page', [['ada', 'ben']]],
  ['tabs', [['ada'], ['ben']]],
];

describeInBrowser('[D51] several users in one browser', () => {
  const browsing = EmbeddedBrowsing.forBlock({
    customers: SECRETS,
    environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000' },
  });
  let together: Together;
  afterEach(() => together.close());

  it.each(WHERE)(
    '[D51] two users in two %s see only their own data, and disabling one does not affect the other',
    async (_, pages) => {
      for (let load = 0; load < LOADS; load += 1) {
        if (load > 0) await together.close();
        together = await Together.load(browsing, pages);
        for (const { sub, shows, told, drawn } of await together.outcomes()) {
          expect({ sub, shows, told }).toEqual({ sub, shows: `${sub} Tester`, told: ['session-ready'] });
          const other = sub === 'ada' ? 'ben' : 'ada';
          for (const secret of [`${other} Tester`, SECRETS[other] ?? '']) expect(drawn).not.toContain(secret);
        }
      }
      const enable = (is: boolean) =>
        browsing.service.rows('UPDATE user_account SET enabled = $1 WHERE email = $2', [
          is,
          'ada@login.partner.test',
        ]);
      await enable(false);
      try {
        await together.page('ada').waitForFunction(`told.ada.at(-1).startsWith('session-ended')`);
        await together.frame('ben').getByRole('button', { name: 'Refresh' }).click();
        await together.frame('ben').getByText('Secret of ben').waitFor();
        expect(await together.page('ben').evaluate(`told.ben`)).toEqual(['session-ready']);
      } finally {
        await enable(true);
      }
    },
    LONG_MS,
  );

  it('[D28] a sign-out everywhere ends all frames of the user, and no frame of another user', async () => {
    together = await Together.load(browsing, [['ada', 'ben'], ['ada2']]);
    await together.outcomes();
    await together
      .page('ada')
      .evaluate(`document.getElementById('ada').instance.logout({ everywhere: true })`);
    await together.page('ada2').waitForFunction(`told.ada2.length === 2`);
    expect(await together.page('ada').evaluate(`[told.ada, told.ben]`)).toEqual([
      ['session-ready', 'session-ended signed-out'],
      ['session-ready'],
    ]);
    expect(await together.page('ada2').evaluate(`told.ada2.at(-1)`)).toMatch(
      /^session-ended (revoked|signed-out)$/,
    );
  });
});
