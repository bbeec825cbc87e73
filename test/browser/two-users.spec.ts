// A page belongs to its login: two frames or tabs whose logins run at once, of two users and of one.
import { describeInBrowser } from '../support/browser.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { sizeOf } from '../support/series.js';
import type { Outcome } from './support/two-users.js';
import { loadTogether } from './support/two-users.js';

const LOADS = sizeOf({ small: 2, whole: 20 });
const LOADS_OF_ONE = sizeOf({ small: 2, whole: 50 });
const SECRETS: Readonly<Record<string, string>> = { ada: 'Morning orders', ben: 'Secret of ben' };
const WHERE: [string, (readonly string[])[]][] = [
  ['frames of one page', [['ada', 'ben']]],
  ['tabs', [['ada'], ['ben']]],
];

describeInBrowser('[D51] logins at the same time', () => {
  const browsing = EmbeddedBrowsing.forBlock({
    customers: SECRETS,
    environment: { SVC_TOKEN_EXCHANGE_EMBED_LOGIN_PER_MINUTE: '1000' },
  });
  const forget = () => browsing.context.clearCookies();

  const loser = ({ told }: Outcome) => /another[-_]user$/.test(told.at(-1) ?? '');

  it.each(WHERE)(
    '[D51] two users in two %s: one shows its user, the other says that it is another, and nothing of the wrong one is drawn',
    async (_, pages) => {
      for (let load = 0; load < LOADS; load += 1) {
        await forget();
        const outcomes = await loadTogether(browsing, pages);
        const summary = outcomes.map(({ sub, shows, told }) => ({ sub, shows, told }));
        expect(JSON.stringify([outcomes.filter(loser).length, summary])).toMatch(/^\[1,/);
        for (const { sub, shows, drawn, ...outcome } of outcomes) {
          expect([sub, shows]).toEqual([
            sub,
            loser({ sub, shows, drawn, ...outcome }) ? '' : `${sub} Tester`,
          ]);
          const other = sub === 'ada' ? 'ben' : 'ada';
          for (const secret of [`${other} Tester`, SECRETS[other] ?? '']) expect(drawn).not.toContain(secret);
        }
      }
    },
    1_000_000,
  );

  it.each([
    ['frames of one page', [['ada', 'ada2']]],
    ['tabs', [['ada'], ['ada2']]],
  ])(
    'one user in two %s: both are signed in, and no login fails',
    async (_, pages) => {
      for (let load = 0; load < LOADS_OF_ONE; load += 1) {
        await forget();
        const outcomes = await loadTogether(browsing, pages);
        for (const { sub, told, shows } of outcomes) {
          expect([sub, shows]).toEqual([sub, 'ada Tester']);
          expect({ sub, told, failed: told.filter((event) => event.startsWith('login-failed')) }).toEqual({
            sub,
            told,
            failed: [],
          });
        }
      }
    },
    1_000_000,
  );
});
