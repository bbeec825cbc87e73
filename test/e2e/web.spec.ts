// The page that the frame shows, as a browser gets it.
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import pino from 'pino';
import { createServer } from '../../src/http/server.js';
import { WebModule } from '../../src/web/web.module.js';
import { REPOSITORY } from '../support/source-files.js';

const A_YEAR = 'public, max-age=31536000, immutable';

describe('the page', () => {
  let app: NestFastifyApplication;
  let address: string;

  beforeAll(async () => {
    const web = WebModule.register({ publicDirectory: join(REPOSITORY, 'src/web/public') });
    const server = createServer({ proxyHops: 0, logger: pino({ level: 'silent' }) });
    app = await NestFactory.create<NestFastifyApplication>(web, server, { logger: false });
    await app.listen(0, '127.0.0.1');
    address = await app.getUrl();
  });

  afterAll(() => app.close());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(address + path, { headers });
  const textOf = async (path: string) => (await get(path)).text();
  const assetsOfPage = async () =>
    [...(await textOf('/')).matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => String(match[1]));

  it('is HTML that is asked for again each time', async () => {
    const answer = await get('/');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.get('pragma')).toBeNull();
    expect(await answer.text()).toContain('<html lang="en">');
  });

  it('holds nothing that a strict content security policy refuses', async () => {
    const html = await textOf('/');
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:|https?:/i);
    expect(html.match(/<script[^>]*>[^<]*/g)).toEqual([expect.stringMatching(/^<script src="[^"]+"[^>]*>$/)]);
  });

  it('is made of files that exist, have their types and are kept for a year', async () => {
    const assets = await assetsOfPage();
    const typeOf: Record<string, string> = {
      css: 'text/css; charset=utf-8',
      js: 'text/javascript; charset=utf-8',
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

  it('loads ahead every module that its scripts import', async () => {
    const assets = await assetsOfPage();
    const scripts = assets.filter((path) => path.endsWith('.js'));
    const imports = new Set<string>();
    for (const path of scripts) {
      for (const [, target = ''] of (await textOf(path)).matchAll(/ from '([^']+)';/g)) {
        imports.add(new URL(target, address + path).pathname);
      }
    }
    expect(imports.size).toBeGreaterThan(0);
    expect(scripts).toEqual(expect.arrayContaining([...imports]));
  });

  it.each([
    ['the same tag', (tag: string) => tag, 304],
    ['the same tag, marked weak by a proxy', (tag: string) => `W/${tag}`, 304],
    ['a list with the tag', (tag: string) => `"other", ${tag}`, 304],
    ['any tag', () => '*', 304],
    ['another tag', () => '"other"', 200],
  ])('answers If-None-Match with %s', async (_, ifNoneMatch, status) => {
    for (const path of ['/', ...(await assetsOfPage())]) {
      const tag = (await get(path)).headers.get('etag') ?? '';
      const answer = await get(path, { 'if-none-match': ifNoneMatch(tag) });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('etag')).toBe(tag);
      expect((await answer.text()) === '').toBe(status === 304);
    }
  });

  it('gives a page of another version its files, but not to keep', async () => {
    const { status, headers } = await get('/assets/another/page.js');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it.each(['index.html', 'constructor', '%2e%2e%2fweb.module.ts', 'page.js%00'])(
    'has no file %s',
    async (name) => {
      expect((await get(`/assets/current/${name}`)).status).toBe(404);
    },
  );
});
