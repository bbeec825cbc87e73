// The responses for the page in the frame and the script for host pages: headers, sizes, caching, compression.
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { prepareFiles, SOURCE_DIRECTORY } from '../../src/platform/http/page.controller.js';
import { WebModule } from '../../src/web/web.module.js';
import { compiledSources } from '../support/compiled-sources.js';
import { preparedAdapter } from '../support/http-server.js';
import { repositoryFile } from '../support/source-files.js';

const A_YEAR = 'public, max-age=31536000, immutable';

describe('the page', () => {
  let app: NestFastifyApplication;
  let address: string;

  beforeAll(async () => {
    const web = {
      module: WebModule,
      providers: [{ provide: SOURCE_DIRECTORY, useValue: compiledSources() }],
    };
    app = await NestFactory.create<NestFastifyApplication>(web, preparedAdapter(), {
      logger: false,
      bodyParser: false,
    });
    prepareFiles(app, compiledSources());
    await app.listen(0, '127.0.0.1');
    address = await app.getUrl();
  });

  afterAll(() => app.close());

  /** Browsers revalidate with this header. `fetch` would send `no-cache`. */
  const revalidation = { 'cache-control': 'max-age=0' };
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(address + path, { headers: { ...revalidation, ...headers } });
  const textOf = async (path: string) => (await get(path)).text();
  const assetsOfPage = async () =>
    [...(await textOf('/')).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => String(match[1]));

  it('is HTML that browsers revalidate each time', async () => {
    const answer = await get('/');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('pragma')).toBeNull();
    expect(await answer.text()).toContain('<html lang="en">');
  });

  it('contains no inline script, style or handler, so a strict content security policy allows it', async () => {
    const html = await textOf('/');
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:|https?:/i);
    expect(html.match(/<script[^>]*>[^<]*/g)).toEqual([
      expect.stringMatching(/^<script [^>]*src="[^"]+"[^>]*>$/),
    ]);
  });

  it('refers to files that exist, have the right type and may be cached for a year', async () => {
    const assets = await assetsOfPage();
    const typeOf: Record<string, string> = {
      css: 'text/css; charset=utf-8',
      js: 'application/javascript; charset=utf-8',
      svg: 'image/svg+xml',
    };
    expect(assets.length).toBeGreaterThan(3);
    for (const path of assets) {
      const { status, headers } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('content-type')).toBe(typeOf[path.split('.').pop() ?? '']);
      expect(headers.get('cache-control')).toBe(A_YEAR);
      expect(headers.get('pragma')).toBeNull();
    }
  });

  it.each([
    ['the same tag', 304, (tag: string) => tag],
    ['another tag', 200, () => '"other"'],
  ])('answers If-None-Match with %s by %d', async (_, status, ifNoneMatch) => {
    for (const path of ['/', ...(await assetsOfPage())]) {
      const tag = (await get(path)).headers.get('etag') ?? '';
      const answer = await get(path, { 'if-none-match': ifNoneMatch(tag) });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('etag')).toBe(tag);
      expect((await answer.text()) === '').toBe(status === 304);
    }
  });

  it("answers another version's asset address with the present file, which must not be cached", async () => {
    const { status, headers } = await get('/assets/another/index.js');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('transfers at most 35 KB at the first visit', async () => {
    const paths = ['/', ...(await assetsOfPage())];
    const sizes = paths.map(async (path) => {
      const answer = await get(path, { 'accept-encoding': 'br' });
      return Number(answer.headers.get('content-length'));
    });
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(35 * 1024);
  });

  describe('the script for host pages', () => {
    it('may be loaded by pages of other sites, and is revalidated each time', async () => {
      const { headers } = await get('/embed.js');
      expect(headers.get('content-type')).toBe('application/javascript; charset=utf-8');
      expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      // With `crossorigin` on the script element, the host page sees the details of its errors.
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('cache-control')).toBe('no-cache');
      const again = await get('/embed.js', { 'if-none-match': headers.get('etag') ?? '' });
      expect(again.status).toBe(304);
    });

    it('is at most 7 KB compressed, and imports nothing', async () => {
      const script = await textOf('/embed.js');
      expect(gzipSync(script).length).toBeLessThanOrEqual(7 * 1024);
      expect(script).not.toMatch(/\b(import|require|export|eval)\b/);
    });

    it("is a classic script that defines one global name, with the package's version", async () => {
      const defined: string[] = [];
      const customElements = { get: () => undefined, define: (name: string) => defined.push(name) };
      const page = createContext({ document: {}, HTMLElement: class {}, customElements });
      runInContext(await textOf('/embed.js'), page);
      const { version } = JSON.parse(repositoryFile('package.json').text) as { version: string };
      expect(Object.keys(page)).toEqual(['document', 'HTMLElement', 'customElements', 'EmbeddedInstance']);
      expect(defined).toEqual(['embedded-instance']);
      expect(runInContext('typeof Attempt', page)).toBe('undefined');
      expect(runInContext('EmbeddedInstance.version', page)).toBe(version);
    });

    it('has types with comments and without internal names', async () => {
      const types = await textOf('/embed.d.ts');
      expect(types).toContain('declare class EmbeddedInstance');
      expect(types).toContain("'login-failed'");
      expect(types).toContain('Calls the listener at each event of this name.');
      expect(types).not.toContain('Attempt');
    });
  });

  it.each([
    ['/favicon.ico', 'image/vnd.microsoft.icon'],
    ['/embed.d.ts', 'text/plain; charset=utf-8'],
  ])('%s exists with its type', async (path, type) => {
    const { status, headers } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
  });

  describe('compression', () => {
    const encodingFor = async (accepted: string) =>
      (await get('/embed.js', { 'accept-encoding': accepted })).headers.get('content-encoding');

    it.each([
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['', null],
      ['gzip; q=0.000, br;q=0', null],
    ])('for Accept-Encoding %j is %s', async (accepted, encoding) => {
      expect(await encodingFor(accepted)).toBe(encoding);
    });

    it('has its own entity tag, and Vary', async () => {
      const [plain, compressed] = [
        await get('/', { 'accept-encoding': 'identity' }),
        await get('/', { 'accept-encoding': 'br' }),
      ];
      expect(plain.headers.get('etag')).not.toBe(compressed.headers.get('etag'));
      expect([plain.headers.get('vary'), compressed.headers.get('vary')]).toEqual([
        'accept-encoding',
        'accept-encoding',
      ]);
      expect(await plain.text()).toBe(await compressed.text());
    });
  });

  it.each(['index.html', 'constructor', '%2e%2e%2fweb.module.ts', 'index.js%00'])(
    'answers 404 for the asset %s',
    async (name) => {
      expect((await get(`/assets/current/${name}`)).status).toBe(404);
    },
  );
});
