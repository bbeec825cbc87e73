// An instance on one site, partners on others, and a browser that visits them.
import { freePort } from '../../demo/free-port.js';
import type { Members } from '../../demo/partner.js';
import { Partner } from '../../demo/partner.js';
import type { Clock } from '../../src/platform/clock.js';
import type { TestBrowser } from './browser.js';
import { openBrowser } from './browser.js';
import { TestDatabase } from './databases.js';
import { FaultyProxy } from './faulty-proxy.js';
import { createUser, createWorkflow } from './local-users.js';
import { PartnerSite, ProductPage } from './partner-site.js';
import type { ProxyKind } from './reverse-proxies.js';
import { ReverseProxy } from './reverse-proxies.js';
import { makeSelfSignedCertificate } from './self-signed-certificate.js';
import type { TestServiceOptions } from './test-service.js';
import { TestService } from './test-service.js';

/** Settings of the instance. */
export interface InstanceSettings {
  environment?: Record<string, string>;
  clock?: Clock;
  /** Policy of the partner's entry. */
  policy?: Members;
  /** Trusted key entries in addition to the partner's. */
  trustedKeys?: readonly Members[];
  /** Whether a proxy that can be made to fail is in front of the instance. */
  isBehindProxy?: boolean;
  /** A reverse proxy in front of it, which ends TLS; the instance itself answers plain HTTP. */
  reverseProxy?: ProxyKind;
  /** Whether the browser is none of Chromium, which alone finds the names of the tests: then hosts are `127.0.0.1` and `localhost`. */
  isWithoutNames?: boolean;
  /** Names of customers who are there before, each with the name of a workflow. */
  customers?: Readonly<Record<string, string>>;
}

/** `forBlock`, or call `start` before the tests and `stop` after them. */
export class EmbeddedBrowsing {
  private readonly database = TestDatabase.ofAnyKind();
  /** The certificate of the instance and all partners' sites in PEM. */
  certificate = '';
  private parts:
    | {
        browser: TestBrowser;
        site: PartnerSite;
        service: TestService;
        partner: Partner;
        proxy: FaultyProxy | undefined;
        reverseProxy: ReverseProxy | undefined;
        options: TestServiceOptions;
        others: TestService[];
      }
    | undefined;
  instanceOrigin = '';

  constructor(private readonly settings: InstanceSettings = {}) {}

  /** Starts before the tests of the block that it is called in, and stops after them. */
  static forBlock(settings?: InstanceSettings): EmbeddedBrowsing {
    const browsing = new EmbeddedBrowsing(settings);
    beforeAll(() => browsing.start());
    afterAll(() => browsing.stop());
    return browsing;
  }

  /** Closes the pages that tests have opened. */
  async closePages(): Promise<void> {
    const [, ...opened] = this.context.pages();
    await Promise.all(opened.map((page) => page.close()));
  }

  async start(): Promise<void> {
    const {
      environment,
      clock,
      policy,
      trustedKeys = [],
      isBehindProxy = false,
      reverseProxy: kind,
      customers = {},
    } = this.settings;
    await this.database.create();
    const certificate = makeSelfSignedCertificate('instance.test', '127.0.0.1');
    this.certificate = certificate.cert;
    const site = await PartnerSite.listen(certificate);
    const port = await freePort();
    const proxy = isBehindProxy ? await FaultyProxy.listen(certificate, await freePort(), port) : undefined;
    const publicPort = kind === undefined ? (proxy?.port ?? port) : await freePort();
    this.instanceOrigin = `https://${this.names.instance}:${publicPort}`;
    const partner = Partner.create({ issuer: 'https://login.partner.test', audience: this.instanceOrigin });
    const options: TestServiceOptions = {
      trustedKeys: [partner.staticEntry({ name: 'partner', ...policy }), ...trustedKeys],
      ...(clock && { clock }),
      environment: {
        SVC_PORT: String(port),
        SVC_BASE_URL: this.instanceOrigin,
        ...httpsBy(kind, certificate),
        SVC_EMBED_FRAME_ANCESTORS: HOSTS.map((name) => site.originOf(name)).join(),
        ...environment,
      },
    };
    const service = await TestService.start(this.database, options);
    const reverseProxy = kind && (await ReverseProxy.start(kind, [`127.0.0.1:${port}`], publicPort));
    const browser = await openBrowser();
    this.parts = { browser, site, service, partner, proxy, reverseProxy, options, others: [] };
    for (const [sub, workflow] of Object.entries(customers)) await this.addCustomer(sub, workflow);
  }

  async stop(): Promise<void> {
    await this.parts?.browser.close();
    await this.parts?.proxy?.close();
    await this.parts?.reverseProxy?.stop();
    for (const other of this.parts?.others ?? []) await other.stop();
    await this.parts?.service.stop();
    await this.parts?.site.close();
    await this.database.remove();
  }

  /** Starts another instance on the database, which is PostgreSQL then. @returns its address, which no page knows */
  async startAnother(clock: Clock): Promise<string> {
    const { options, others } = this.running;
    const port = await freePort();
    const environment = { ...options.environment, SVC_PORT: String(port) };
    others.push(await TestService.start(this.database, { ...options, clock, environment }));
    return `https://127.0.0.1:${port}`;
  }

  get proxy(): FaultyProxy {
    const { proxy } = this.running;
    if (proxy === undefined) throw new Error('there is no proxy');
    return proxy;
  }

  get service(): TestService {
    return this.running.service;
  }

  get partner(): Partner {
    return this.running.partner;
  }

  get context() {
    return this.running.browser.context;
  }

  /** Has the partners' sites answer a page of the test's own; returns its address. */
  serve(path: string, html: string): string {
    this.running.site.pages.set(path, html);
    return this.originOf(this.names.partner) + path;
  }

  originOf(name: string): string {
    return this.running.site.originOf(name);
  }

  /** A token of the partner about a customer. */
  token(sub: string, claims: Members = {}): string {
    return this.partner.sign(this.partner.claims({ sub, given_name: sub, family_name: 'Tester', ...claims }));
  }

  /** Opens a product page of a partner's site, in a tab of its own. */
  async productPage(name = 'partner.test', options: object = {}, policy?: string): Promise<ProductPage> {
    const page = await this.context.newPage();
    return ProductPage.open(page, this.originOf(name), this.instanceOrigin, options, policy);
  }

  /** Makes a customer with workflows beforehand; the first login finds them by their e-mail address. */
  async addCustomer(sub: string, ...workflows: readonly string[]): Promise<void> {
    const id = await createUser(this.service, { email: `${sub}@login.partner.test` });
    for (const workflow of workflows) await createWorkflow(this.service, id, workflow);
  }

  /** Two sites. */
  private get names(): { instance: string; partner: string } {
    const isWithout = this.settings.isWithoutNames === true;
    return isWithout
      ? { instance: '127.0.0.1', partner: 'localhost' }
      : { instance: 'instance.test', partner: 'partner.test' };
  }

  private get running() {
    if (this.parts === undefined) throw new Error('nothing has started yet');
    return this.parts;
  }
}

/** The sites that may frame the instance, which `evil.test` may not. */
const HOSTS = ['partner.test', 'app.partner.test', 'other.test', 'localhost'];

/** Settings for HTTPS by the instance itself, or by a reverse proxy in front of it. */
function httpsBy(
  proxy: ProxyKind | undefined,
  { cert, key }: { readonly cert: string; readonly key: string },
) {
  return proxy === undefined ? { SVC_SSL_CERT: cert, SVC_SSL_KEY: key } : { SVC_PROXY_HOPS: '1' };
}
