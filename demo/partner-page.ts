// Serves the partner's product page: it signs the frame in as the chosen customer.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Person } from './cast.js';
import { claimsAbout, ROLE_NAMES } from './cast.js';
import { membersOf, redactCookie, send } from './http-exchange.js';
import type { Partner } from './partner.js';
import { decodeToken, withShortTokens } from './token-view.js';

export interface PartnerPageOptions {
  /** Folder with the page's own files. */
  assetFolder: string;
  /** The port, on this machine only. */
  port: number;
  partner: Partner;
  /** Base address of the instance that the frame shows. */
  instanceUrl: string;
  customers: Person[];
}

const ASSETS = new Map([
  ['/', { file: 'index.html', type: 'text/html; charset=utf-8' }],
  ['/page.css', { file: 'page.css', type: 'text/css; charset=utf-8' }],
  ['/page.js', { file: 'page.js', type: 'text/javascript; charset=utf-8' }],
  ['/icon.svg', { file: 'icon.svg', type: 'image/svg+xml' }],
]);
const EMBED_PATH = '/rest/auth/embed';
const MAX_BODY_BYTES = 1024;

export class PartnerPage {
  private readonly server: Server;
  private readonly twinTokens = new Map<Person, string>();

  private constructor(private readonly options: PartnerPageOptions) {
    this.server = createServer((request, response) => void this.respond(request, response));
  }

  /** Throws if the port is in use. */
  static async listen(options: PartnerPageOptions): Promise<PartnerPage> {
    const page = new PartnerPage(options);
    page.server.listen(options.port, '127.0.0.1');
    await once(page.server, 'listening');
    return page;
  }

  /** The host is a name, not an address. Page and frame then have the same site, and browsers accept Secure cookies. */
  static originAt(port: number): string {
    return `http://localhost:${port}`;
  }

  get url(): string {
    return PartnerPage.originAt(this.options.port);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.guard(response);
    try {
      await this.route(request, response);
    } catch (error) {
      sendJson(response, 502, { message: error instanceof Error ? error.message : 'Something went wrong' });
    }
  }

  private async route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '/' } = request;
    // Another name means a foreign page whose name resolves to this address.
    if (`http://${request.headers.host}` !== this.url)
      return sendJson(response, 421, { message: 'Wrong host' });
    const asset = ASSETS.get(path);
    if (method === 'GET' && asset !== undefined) return this.sendAsset(response, asset);
    if (method === 'GET' && path === '/desk') return sendJson(response, 200, this.describeDesk());
    if (method !== 'POST') return sendJson(response, 404, { message: 'Nothing here' });
    if (request.headers.origin !== this.url) return sendJson(response, 403, { message: 'Wrong origin' });
    const { customer, again } = await this.picked(request);
    if (customer === undefined) return sendJson(response, 400, { message: 'Unknown customer' });
    if (path === '/token') return sendJson(response, 200, this.makeToken(customer));
    if (path === '/twin') return sendJson(response, 200, await this.postTwin(customer, again));
    return sendJson(response, 404, { message: 'Nothing here' });
  }

  /** The page's configuration: the instance whose script it loads, and the customers. */
  private describeDesk(): unknown {
    const { instanceUrl, customers } = this.options;
    const named = customers.map(({ sub, givenName, familyName, role }) => {
      return { sub, name: `${givenName} ${familyName}`, role: ROLE_NAMES[role] };
    });
    return { instanceUrl, customers: named };
  }

  /** A real product takes the user from its own session and offers no choice. */
  private async picked(request: IncomingMessage): Promise<{ customer?: Person; again: boolean }> {
    const { customer: picked, again } = membersOf(await readBody(request));
    const customer = this.options.customers.find(({ sub }) => sub === picked);
    return { customer, again: again === true };
  }

  /** The data of a login, and the part of the token that the page may show. */
  private makeToken(customer: Person): unknown {
    const token = this.sign(customer);
    return { token, ...decodeToken(token) };
  }

  /**
   * Repeats the frame's login request from here with another token. A page cannot
   * read another origin's response, so the panel shows this one. `again` repeats the last one.
   */
  private async postTwin(customer: Person, again: boolean): Promise<unknown> {
    const token = (again && this.twinTokens.get(customer)) || this.sign(customer);
    this.twinTokens.set(customer, token);
    const form = { token, redirectTo: '/' };
    const answer = await send(this.options.instanceUrl, { method: 'POST', path: EMBED_PATH, form });
    return {
      status: `${answer.status} ${answer.reason}`,
      location: answer.headers.get('location'),
      'set-cookie': answer.headers.getSetCookie().map(redactCookie)[0] ?? null,
      'cache-control': answer.headers.get('cache-control'),
      body: answer.text === '' ? null : withShortTokens(answer.json),
    };
  }

  private sign(customer: Person): string {
    const { partner } = this.options;
    return partner.sign(partner.claims({ ...claimsAbout(customer), role: customer.role }));
  }

  private async sendAsset(response: ServerResponse, asset: { file: string; type: string }): Promise<void> {
    const content = await readFile(join(this.options.assetFolder, asset.file));
    response.writeHead(200, { 'content-type': asset.type }).end(content);
  }

  private guard(response: ServerResponse): void {
    const instance = new URL(this.options.instanceUrl).origin;
    const policy = [
      "default-src 'none'",
      `script-src 'self' ${instance}`,
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      `frame-src ${instance}`,
      `form-action ${instance}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ];
    response.setHeader('content-security-policy', policy.join('; '));
    response.setHeader('cache-control', 'no-store');
    response.setHeader('x-content-type-options', 'nosniff');
    // With no-referrer, the login request would have "Origin: null", which the instance could not check.
    response.setHeader('referrer-policy', 'strict-origin');
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) throw new Error('The request body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
