// The whole way of a visitor through a frame of another site, in a Chromium that blocks third-party cookies.
import { describeInBrowser } from '../support/browser.js';
import { describeUnless } from '../support/describe-unless.js';
import { EmbeddedBrowsing } from '../support/embedded-browsing.js';
import { NGINX, ReverseProxy } from '../support/reverse-proxies.js';
import { SetClock } from '../support/set-clock.js';
import { Journey, WORKFLOW } from './support/journey.js';
import { playwrightTab } from './support/playwright-tab.js';

const TWO_HOURS_MS = 7_200_000;

describeInBrowser('a frame without cookies', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: WORKFLOW, ben: 'Secret of ben' } });
  const journey = async () => new Journey(browsing, playwrightTab(await browsing.context.newPage()));

  it('[D25] signs in, lists, opens, renews, survives a reload of the host page, and signs out', async () => {
    await (await journey()).walk();
    expect(await browsing.context.cookies()).toEqual([]);
  });

  it('[D51] shows two users side by side, and one continues when the other signs out', async () => {
    await (await journey()).walkTogether();
  });

  it.each([TWO_HOURS_MS, -TWO_HOURS_MS])(
    "[D142] works even if the visitor's clock is %d ms ahead",
    async (ahead) => {
      const page = await browsing.context.newPage();
      await page.clock.install({ time: Date.now() + ahead });
      await new Journey(browsing, playwrightTab(page)).walk();
    },
  );
});

describeUnless(process.env['TEST_POSTGRES_MISSING'], 'instances thirty minutes apart', () => {
  describeInBrowser('a frame that uses both', () => {
    const browsing = EmbeddedBrowsing.forBlock({
      customers: { ada: WORKFLOW },
      // Less than the clocks differ.
      environment: { SVC_EMBED_SESSION_TTL_SECONDS: '600' },
    });
    const clock = new SetClock();
    // It takes no token: partners' tokens live for a minute. All else it answers.
    beforeAll(async () => {
      const wrong = await browsing.startAnother(clock);
      await browsing.context.route(`${browsing.instanceOrigin}/**`, async (route) => {
        const url = route.request().url();
        if (url.endsWith('/rest/auth/embed')) return route.continue();
        const response = await route.fetch({ url: url.replace(browsing.instanceOrigin, wrong) });
        return route.fulfill({ response });
      });
    });

    it.each([29, -29])(
      '[D97] one of which is %d minutes off: signs in, lists, opens, renews, survives a reload of the host page, and signs out',
      async (minutes) => {
        clock.aheadSeconds = minutes * 60;
        await new Journey(browsing, playwrightTab(await browsing.context.newPage())).walk();
      },
    );
  });
});

describeInBrowser('a frame whose proofs need a nonce', () => {
  const browsing = EmbeddedBrowsing.forBlock({
    customers: { ada: WORKFLOW },
    environment: { SVC_DPOP_NONCE: 'true' },
  });

  it('[D143] signs in, lists, opens, renews, survives a reload of the host page, and signs out', async () => {
    await new Journey(browsing, playwrightTab(await browsing.context.newPage())).walk();
  });
});

describeUnless(ReverseProxy.obstacle(NGINX), 'an instance behind nginx, which ends TLS', () => {
  describeInBrowser('a frame of that instance', () => {
    const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: WORKFLOW }, reverseProxy: NGINX });

    it('[D25] signs in, lists, opens, renews, survives a reload of the host page, and signs out, with proofs for the public address', async () => {
      const page = await browsing.context.newPage();
      const addresses = new Set<string>();
      page.on('request', (request) => {
        const [, payload] = request.headers()['dpop']?.split('.') ?? [];
        if (payload !== undefined)
          addresses.add((JSON.parse(Buffer.from(payload, 'base64url').toString()) as { htu: string }).htu);
      });
      await new Journey(browsing, playwrightTab(page)).walk();
      expect(addresses).toContain(`${browsing.instanceOrigin}/rest/auth/embed`);
      expect([...addresses].filter((address) => !address.startsWith(`${browsing.instanceOrigin}/`))).toEqual(
        [],
      );
    });
  });
});
