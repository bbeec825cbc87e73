// An instance with the operator's pages, a partner whose tokens come in, and browsers of operators.
import type { APIRequestContext, APIResponse, Locator, Page } from 'playwright-core';
import { request } from 'playwright-core';
import type { Members } from '../../demo/partner.js';
import { EmbeddedBrowsing } from './embedded-browsing.js';
import { createOperator, PASSWORD } from './operators.js';
import type { TestClock } from './test-clock.js';
import { GRANT_TYPE } from './test-service.js';

const JWT = 'urn:ietf:params:oauth:token-type:jwt';
export const OWNER = 'owner@instance.test';
export const ADMIN = 'admin@instance.test';

const ENVIRONMENT = {
  SVC_ADMIN_ENABLED: 'true',
  SVC_TOKEN_EXCHANGE_JWKS_ALLOW_HTTP: 'true',
  SVC_TOKEN_EXCHANGE_JWKS_ALLOW_PRIVATE: '127.0.0.0/8',
};

export interface OperatorSettings {
  environment?: Record<string, string>;
  clock?: TestClock;
  /** Policy of the partner's entry. */
  policy?: Members;
  /** Trusted key entries in addition to the partner's. */
  trustedKeys?: readonly Members[];
}

/** Call `start` before the tests and `stop` after them. */
export class OperatorBrowsing extends EmbeddedBrowsing {
  constructor({ environment, ...others }: OperatorSettings = {}) {
    super({ environment: { ...ENVIRONMENT, ...environment }, ...others });
  }

  override async start(): Promise<void> {
    await super.start();
    await createOperator(this.service, OWNER, 'global:owner');
    await createOperator(this.service, ADMIN, 'global:admin');
  }

  /** Exchanges a token, as the backend of the partner does. */
  async exchange(token: string): Promise<{ status: number; requestId: string }> {
    const form = { grant_type: GRANT_TYPE, subject_token: token, subject_token_type: JWT };
    const answer = await this.asProgram((program) => program.post('/rest/auth/oauth/token', { form }));
    return { status: answer.status(), requestId: answer.headers()['x-request-id'] ?? '' };
  }

  /** Logs in with a token, in no browser of an operator, and returns the `Cookie` header of the session. */
  async sessionCookie(token: string): Promise<string> {
    const answer = await this.asProgram((program) => program.post('/rest/auth/embed', { form: { token } }));
    const [cookie = ''] = (answer.headers()['set-cookie'] ?? '').split(';');
    return cookie;
  }

  /** The status of a request with an embedded session. */
  async sessionStatus(cookie: string): Promise<number> {
    return (await this.asProgram((program) => program.get('/rest/me', { headers: { cookie } }))).status();
  }

  /** Sends a request that takes the certificate of the tests and knows no cookie of another. */
  async asProgram(send: (program: APIRequestContext) => Promise<APIResponse>): Promise<APIResponse> {
    const settings = { baseURL: this.service.address, ignoreHTTPSErrors: true, maxRedirects: 0 };
    const program = await request.newContext(settings);
    try {
      return await send(program);
    } finally {
      await program.dispose();
    }
  }

  /** Opens a page, signed in or not; the browser's cookie decides. */
  async open(hash = ''): Promise<OperatorPage> {
    const page = await this.context.newPage();
    await page.goto(`${this.instanceOrigin}/admin${hash}`);
    return new OperatorPage(page);
  }

  /** Opens a page and signs in there. */
  async signedIn(hash = '', email = OWNER): Promise<OperatorPage> {
    const opened = await this.open(hash);
    await opened.signIn(email);
    return opened;
  }

  /** Closes all pages but the first, and forgets who is signed in. */
  async leave(): Promise<void> {
    const [, ...pages] = this.context.pages();
    await Promise.all(pages.map((page) => page.close()));
    await this.context.clearCookies();
  }
}

/** A page of the operator, as a test drives it. */
export class OperatorPage {
  constructor(readonly page: Page) {}

  async signIn(email = OWNER, password = PASSWORD): Promise<void> {
    await this.tryToSignIn(email, password);
    await this.button('Sign out').waitFor({ state: 'attached' });
  }

  /** @param email undefined: as the page has it already */
  async tryToSignIn(email: string | undefined, password: string): Promise<void> {
    if (email !== undefined) await this.field('E-mail address').fill(email);
    await this.field('Password').fill(password);
    await this.button('Sign in').click();
  }

  /** Follows a link of the navigation. */
  async goTo(title: string): Promise<void> {
    await this.page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
    await this.heading(title);
  }

  async heading(name: string | RegExp): Promise<void> {
    await this.page
      .getByRole('heading', { name, ...(typeof name === 'string' && { exact: true }) })
      .first()
      .waitFor();
  }

  async text(text: string | RegExp): Promise<void> {
    // The document also contains options that are not chosen.
    const shown = this.page.locator('main').getByText(text).and(this.page.locator(':not(option)'));
    await shown.first().waitFor();
  }

  async alert(text: string | RegExp): Promise<void> {
    await this.page.getByRole('alert').filter({ hasText: text }).waitFor();
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, ...(typeof name === 'string' && { exact: true }) });
  }

  link(name: string | RegExp): Locator {
    return this.page.locator('main').getByRole('link', { name });
  }

  row(text: string | RegExp): Locator {
    return this.page.getByRole('row').filter({ hasText: text });
  }

  /** Opens what forms fold. */
  async unfold(): Promise<void> {
    await this.settled();
    const folded = this.page.locator('form:visible details:not([open]) > summary:visible');
    while ((await folded.count()) > 0) await folded.first().click();
  }

  /** Waits for the confirmation dialog with this title and presses its button. */
  async confirm(title: string | RegExp, action: string): Promise<void> {
    const dialog = this.page.getByRole('dialog', { name: title });
    await dialog.getByRole('button', { name: action, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  /** Waits until nothing is being read any more. */
  async settled(): Promise<void> {
    await this.page.locator('h1').first().waitFor();
    await this.page.locator('body:not(:has([aria-busy=true]))').waitFor();
  }
}
