// A frame of the built service returns to its page: after sleep, a network failure, a killed service, or a provider's logout.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { BrowserContext } from 'playwright-core';
import { Partner } from '../../demo/partner.js';
import { ServiceProcess } from '../../demo/service-process.js';
import type { StoppableBrowser } from '../support/browser.js';
import { describeInBrowser, openStoppableBrowser } from '../support/browser.js';
import { describeBuilt, surroundingsOf } from '../support/built-service.js';
import { TestDatabase } from '../support/databases.js';
import { LOGOUT_PATH, logoutToken } from '../support/logout-tokens.js';
import { describeOutsideMain } from '../support/series.js';
import { GRANT_TYPE } from '../support/test-service.js';
import { ElementPage } from './support/element-page.js';

const WORKFLOW = 'Morning orders';
const SESSION_SECONDS = 60;
const LONGER_MS = (SESSION_SECONDS + 5) * 1000;
/** The page waits for 15 seconds. */
const WAIT_MS = 20_000;
/** The element waits for half a minute at most after so short an outage. */
const PATIENCE_MS = 70_000;

describeBuilt('a frame of a real process', () => {
  describeInBrowser('<embedded-instance> after an interruption', () => {
    const database = TestDatabase.ofAnyKind();
    const partner = Partner.create({ issuer: 'https://login.partner.test' });
    let surroundings: Awaited<ReturnType<typeof surroundingsOf>>;
    let service: ServiceProcess;
    let browser: StoppableBrowser;
    let origin: string;
    let html = '';
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));

    beforeAll(async () => {
      await database.create();
      await once(site.listen(0), 'listening');
      origin = `http://localhost:${(site.address() as AddressInfo).port}`;
      surroundings = await surroundingsOf({
        ...database.environment,
        SVC_ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
        SVC_TOKEN_EXCHANGE_TRUSTED_KEYS: JSON.stringify([partner.staticEntry()]),
        SVC_EMBED_FRAME_ANCESTORS: origin,
        SVC_EMBED_SESSION_TTL_SECONDS: String(SESSION_SECONDS),
      });
      service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
      browser = await openStoppableBrowser();
      browser.context.setDefaultTimeout(PATIENCE_MS);
      await createWorkflow();
    });
    afterAll(async () => {
      await browser?.close();
      site.close();
      await service?.stop();
      rmSync(surroundings.directory, { recursive: true, force: true });
      await database.remove();
    });

    const token = () => partner.sign(partner.claims({ sub: 'ada' }));
    const post = (path: string, fields: Record<string, string>) =>
      fetch(surroundings.baseUrl + path, { method: 'POST', body: new URLSearchParams(fields) });
    const createWorkflow = async () => {
      const exchanged = await post('/rest/auth/oauth/token', {
        grant_type: GRANT_TYPE,
        subject_token: token(),
      });
      const { access_token } = (await exchanged.json()) as { access_token: string };
      const made = await fetch(`${surroundings.baseUrl}/api/v1/workflows`, {
        method: 'POST',
        headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: WORKFLOW }),
      });
      expect(made.status).toBe(201);
    };
    /** A window without the sessions of others. */
    const openContext = async () => {
      const context = await browser.context.browser()!.newContext();
      context.setDefaultTimeout(PATIENCE_MS);
      return context;
    };
    const open = (context: BrowserContext, tokens: () => string | undefined = token) => {
      const serve = (path: string, body: string) => {
        html = body;
        return origin + path;
      };
      const host = { context, instanceOrigin: surroundings.baseUrl, serve };
      return ElementPage.open(host, { token: tokens, attributes: `redirect-to="/#search=morning"` });
    };
    const atWorkflow = async (context = browser.context, tokens?: () => string | undefined) => {
      const page = await open(context, tokens);
      await page.frame.getByRole('link', { name: WORKFLOW }).click();
      await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
      // Nothing of it is still under way.
      await page.frame.getByText('administrators').waitFor();
      return page;
    };
    /** Opens a workflow whose request is not answered at first. */
    const onItsWay = async (context = browser.context) => {
      const page = await open(context);
      let answers = 0;
      await page.page.route(/\/api\/v1\/workflows\/[^/?]+$/, (route) => {
        answers += 1;
        return answers === 1 ? undefined : route.continue();
      });
      await page.frame.getByRole('link', { name: WORKFLOW }).click();
      await page.frame.locator('#detail[aria-busy=true]').waitFor();
      return page;
    };
    const stopBrowser = async (stopMs: number) => {
      browser.signal('SIGSTOP');
      await pause(stopMs);
      browser.signal('SIGCONT');
    };
    const logins = async (page: ElementPage) =>
      (await page.names()).filter((name) => name === 'session-ready').length;
    /** @param before how many logins and renewals there were: half of the session may have passed by then */
    const isBackAtWorkflow = async (page: ElementPage, before: number) => {
      await page.told('session-ready', before + 1);
      await page.frame.getByRole('heading', { name: WORKFLOW }).waitFor();
      await page.frame.getByRole('button', { name: 'All workflows' }).click();
      await page.frame.locator('#count', { hasText: '1 found' }).waitFor();
      expect(await page.frame.getByRole('searchbox').inputValue()).toBe('morning');
      expect(await page.page.getByRole('alert').count()).toBe(0);
      await page.page.close();
    };
    const showsWorkflow = async (page: ElementPage) => {
      await page.frame.getByText('administrators').waitFor();
      expect(await page.frame.getByText('could not be loaded').count()).toBe(0);
      await page.page.close();
    };

    it('[D131] shows "Continue" after a logout by the provider, which requests one token', async () => {
      let isOff = false;
      const page = await atWorkflow(browser.context, () => (isOff ? undefined : token()));
      const answer = await post(LOGOUT_PATH, { logout_token: logoutToken(partner, { sub: 'ada' }) });
      expect(answer.status).toBe(200);
      expect(await page.told('session-ended')).toEqual({ reason: 'signed-out-by-provider' });
      const [before, tokens] = [await logins(page), page.tokens];
      expect(tokens).toBe(before);
      isOff = true;
      await page.frame.getByRole('button', { name: 'Continue' }).click();
      await page.told('login-failed');
      // Of other ends it would ask again after half a second to one and a half.
      await pause(3000);
      expect(page.tokens).toBe(tokens + 1);
      isOff = false;
      await page.frame.getByRole('button', { name: 'Try again' }).click();
      await isBackAtWorkflow(page, before);
    });

    describeOutsideMain('longer than the session', () => {
      it('recovers a suspended browser, and shows the workflow that was loading', async () => {
        const contexts = [await openContext(), await openContext()];
        const shown = await atWorkflow(contexts[0]);
        const coming = await onItsWay(contexts[1]);
        const before = await logins(shown);
        await stopBrowser(LONGER_MS);
        await isBackAtWorkflow(shown, before);
        await showsWorkflow(coming);
        await Promise.all(contexts.map((context) => context.close()));
      });

      it('shows the workflow that was loading in a browser suspended for longer than the request timeout', async () => {
        const page = await onItsWay();
        await stopBrowser(WAIT_MS);
        await showsWorkflow(page);
      });

      it('keeps the content and recovers after an offline browser and a killed service', async () => {
        const contexts = [await openContext(), await openContext()] as const;
        const pages = [await atWorkflow(contexts[0]), await atWorkflow(contexts[1])];
        const before = await Promise.all(pages.map(logins));
        await contexts[0].setOffline(true);
        // No public method of the class kills.
        service['child'].kill('SIGKILL');
        expect(await service.exited).toBe('SIGKILL');
        await pause(LONGER_MS);
        for (const page of pages)
          expect(await page.frame.getByRole('heading', { name: WORKFLOW }).count()).toBe(1);
        service = await ServiceProcess.start(surroundings, surroundings.baseUrl);
        await isBackAtWorkflow(pages[1]!, before[1]!);
        expect(await logins(pages[0]!)).toBe(before[0]);
        await contexts[0].setOffline(false);
        await isBackAtWorkflow(pages[0]!, before[0]!);
        await Promise.all(contexts.map((context) => context.close()));
      });
    });
  });
});
