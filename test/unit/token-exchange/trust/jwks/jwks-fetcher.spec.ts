// Fetching key sets from real servers, well-behaved and not.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFileSync } from '@swc/core';
import type { JwksSettings } from '../../../../../src/token-exchange/settings/token-exchange.options.js';
import { JwksFetcher, JwksFetchError } from '../../../../../src/token-exchange/trust/jwks/jwks-fetcher.js';
import {
  body,
  brokenOff,
  compressionBomb,
  delayed,
  flood,
  JwksServer,
  redirect,
  silence,
  status,
  trickle,
} from '../../../../support/jwks-server.js';
import { makeSelfSignedCertificate } from '../../../../support/self-signed-certificate.js';
import { whenMeasured } from '../../../../support/series.js';
import { until } from '../../../../support/until.js';

const PROJECT = join(__dirname, '../../../../..');
const SWC_OPTIONS = {
  module: { type: 'es6' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, useDefineForClassFields: false },
  },
} as const;
/** The fetcher with all that it imports. */
const MODULES = [
  'token-exchange/trust/jwks/jwks-fetcher',
  'token-exchange/trust/entry-rules',
  'platform/text/uri',
  'platform/text/url',
  'platform/http/guarded-connector',
  'platform/http/network-address',
];
const FETCH_SCRIPT = `
  import { JwksFetcher } from './token-exchange/trust/jwks/jwks-fetcher.js';
  const fetcher = new JwksFetcher({ allowHttp: true, allowPrivate: [] });
  for (const url of process.argv.slice(2)) {
    console.log(await fetcher.fetch(url).then(({ maxAgeSeconds }) => maxAgeSeconds, ({ message }) => message));
  }`;
const MIB = 1_048_576;
const PATIENCE_MS = 60_000;
const LOOPBACK: Pick<JwksSettings, 'allowHttp' | 'allowPrivate'> = { allowHttp: true, allowPrivate: [] };
const STRICT: typeof LOOPBACK = { allowHttp: false, allowPrivate: [] };

describe('a fetch of a key set', () => {
  let server: JwksServer;
  const fetcher = new JwksFetcher(LOOPBACK);

  beforeEach(async () => {
    server = await JwksServer.listen();
  });
  afterEach(() => server.close());

  const failure = (url = server.url) => reasonOf(fetcher.fetch(url));

  it('[D33] returns the body and its max-age, and requests no compression', async () => {
    server.publish({ keys: [] }, { 'cache-control': 'public, max-age=120' });
    const { body: bytes, maxAgeSeconds } = await fetcher.fetch(server.url);
    expect(Buffer.from(bytes).toString()).toBe('{"keys":[]}');
    expect(maxAgeSeconds).toBe(120);
    expect(server.lastRequest?.headers['accept-encoding']).toBe('identity');
  });

  it.each([201, 204, 206, 304, 400, 404, 500, 503])('[D33] returns nothing on status %i', async (code) => {
    server.answerWith(status(code));
    expect(await failure()).toContain(`status ${code}`);
  });

  it.each([301, 302, 303, 307, 308])('[D33][K22] does not follow a redirect by %i', async (code) => {
    const inside = await JwksServer.listen();
    server.answerWith(redirect(inside.url, code));
    expect(await failure()).toBe(`redirects are not followed (status ${code})`);
    expect(inside.connectionCount).toBe(0);
    await inside.close();
  });

  it('[D33] accepts 1 MiB and rejects one byte more', async () => {
    server.answerWith(body(Buffer.alloc(MIB, ' ')));
    expect((await fetcher.fetch(server.url)).body).toHaveLength(MIB);
    server.answerWith(body(Buffer.alloc(MIB + 1, ' ')));
    expect(await failure()).toBe('the answer is larger than 1 MiB');
    expect(await reasonOf(fetcher.fetch(server.url, 5_120))).toBe('the answer is larger than 5 KiB');
  });

  it('[D33][K22] reads only the beginning of 50 MB without a Content-Length', async () => {
    server.answerWith(flood(50_000_000));
    const before = process.memoryUsage().arrayBuffers;
    expect(await failure()).toBe('the answer is larger than 1 MiB');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * MIB);
  });

  it('[D33][K22] does not decompress a compression bomb', async () => {
    server.answerWith(compressionBomb(50_000_000));
    expect(await failure()).toBe('compressed responses are refused');
  });

  it('[D33] fails on an interrupted and on a refused connection', async () => {
    server.answerWith(brokenOff());
    expect(await failure()).toMatch(/^the connection failed \(\w+\)$/);
    const gone = await JwksServer.listen();
    await gone.close();
    expect(await failure(gone.url.replace(/:\d+/, ':1'))).toBe('the connection failed (ECONNREFUSED)');
  });

  it('[D33][K22] ends a silent server, a slow server, and one that is both after 5 seconds in total', async () => {
    const trickling = await JwksServer.listen();
    const both = await JwksServer.listen();
    server.answerWith(silence());
    trickling.answerWith(trickle());
    both.answerWith(delayed(3000, trickle()));
    const startedAt = performance.now();
    const servers = [server, trickling, both];
    const took = await Promise.all(
      servers.map(async ({ url }) => {
        expect(await failure(url)).toBe('no complete answer within 5 seconds');
        return performance.now() - startedAt;
      }),
    );
    expect(Math.min(...took)).toBeGreaterThan(4_900);
    // Together, however late a busy machine finds them due: with a deadline for each part the last would end three seconds later.
    whenMeasured(() => expect(Math.max(...took) - Math.min(...took)).toBeLessThan(2_000));
    for (const each of servers)
      await until('it is left', PATIENCE_MS, async () => (await each.openConnections()) === 0);
    await Promise.all([trickling.close(), both.close()]);
  });

  it('[D33] shares its deadline with the fetch of an address that the first answer names', async () => {
    server.answerWith(silence());
    const ended: string[] = [];
    const other = failure().then(() => ended.push('with a deadline of its own'));
    await until('the other has come', PATIENCE_MS, () => server.requestCount === 1);
    const fetched = fetcher.fetch(server.url, undefined, performance.now() - 4_500);
    expect(await reasonOf(fetched)).toBe('no complete answer within 5 seconds');
    // It has begun behind the other, and ends before it.
    expect(ended).toEqual([]);
    await other;
  });

  it('[D33] opens a new connection each time, so that each is checked', async () => {
    server.publish({ keys: [] }, { connection: 'keep-alive' });
    await fetcher.fetch(server.url);
    await fetcher.fetch(server.url);
    expect(server.connectionCount).toBe(2);
  });
});

describe('fetch restrictions', () => {
  let server: JwksServer;

  beforeAll(async () => {
    server = await JwksServer.listen();
    server.publish({ keys: [] });
  });
  afterAll(() => server.close());

  it('[D33][K22] refuse http: unless it is allowed', async () => {
    expect(await reasonOf(new JwksFetcher(STRICT).fetch(server.url))).toBe(
      'only https: addresses are allowed (see jwks.allowHttp)',
    );
    await expect(new JwksFetcher(LOOPBACK).fetch(server.url)).resolves.toBeDefined();
  });

  it.each([
    ['an address', '127.0.0.1', '127.0.0.1'],
    ['a mapped address', '[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['a name that resolves inside', 'localhost', '(127.0.0.1|::1)'],
  ])(
    '[D33][K22] refuse %s that leads to an internal address without a connection',
    async (_what, host, address) => {
      const before = server.connectionCount;
      const reason = await reasonOf(new JwksFetcher(STRICT).fetch(`https://${host}:${server.port}/`));
      expect(reason).toMatch(new RegExp(`^the address ${address} is not public`));
      expect(server.connectionCount).toBe(before);
    },
  );

  it.each([
    ['https://127.0.0.1/', '(see HTTP or PRIVATE)'],
    ['https://10.1.2.3/', '(see PRIVATE)'],
    ['http://partner.example/', '(see HTTP)'],
  ])('[D32] name the setting that would allow %s: %s', async (url, hint) => {
    const fetcher = new JwksFetcher({
      ...STRICT,
      settingNames: { allowHttp: 'HTTP', allowPrivate: 'PRIVATE' },
    });
    expect(await reasonOf(fetcher.fetch(url))).toContain(` ${hint}`);
  });

  it('[D33] let the operator allow a range, and then only that range', async () => {
    const url = `https://localhost:${server.port}/`;
    const allowed = new JwksFetcher({ allowHttp: false, allowPrivate: ['127.0.0.0/8', '::1/128'] });
    // The server speaks no TLS: to get as far as that is to have connected.
    expect(await reasonOf(allowed.fetch(url))).toMatch(/^the connection failed/);
    const other = new JwksFetcher({ allowHttp: false, allowPrivate: ['10.0.0.0/8'] });
    expect(await reasonOf(other.fetch(url))).toMatch(/is not public/);
  });

  it('[D33] reject a certificate of an unknown authority', async () => {
    const tls = await JwksServer.listen(makeSelfSignedCertificate('localhost'));
    tls.publish({ keys: [] });
    expect(await reasonOf(new JwksFetcher(LOOPBACK).fetch(tls.url))).toMatch(/\(\w*SELF_SIGNED\w*\)$/);
    expect(tls.requestCount).toBe(0);
    await tls.close();
  });

  it('[D33] accept a certificate of a trusted authority for its own name only', async () => {
    const identity = makeSelfSignedCertificate('localhost');
    const tls = await JwksServer.listen(identity);
    tls.publish({ keys: [] }, { 'cache-control': 'max-age=77' });
    const byAddress = tls.url.replace('localhost', '127.0.0.1');
    const results = fetchInAnotherProcess([tls.url, byAddress], identity.cert);
    expect(await results).toEqual(['77', 'the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)']);
    await tls.close();
  });
});

/**
 * Runs the fetcher in a new process, because Node.js reads additional authorities at its start. The fetcher runs as
 * ES modules, as in production. @returns a max-age or the reason of a failure for each URL
 */
async function fetchInAnotherProcess(urls: string[], authority: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-fetcher-'));
  try {
    for (const name of MODULES) {
      const { code } = transformFileSync(join(PROJECT, `src/${name}.ts`), SWC_OPTIONS);
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, `${name}.js`), code);
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'authority.pem'), authority);
    writeFileSync(join(folder, 'main.js'), FETCH_SCRIPT);
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') };
    const { stdout } = await promisify(execFile)(process.execPath, ['main.js', ...urls], {
      cwd: folder,
      env,
    });
    return stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function reasonOf(fetch: Promise<unknown>): Promise<string> {
  const error: unknown = await fetch.then(
    () => new Error('it was not refused'),
    (reason: unknown) => reason,
  );
  if (error instanceof JwksFetchError) return error.message;
  throw error;
}
