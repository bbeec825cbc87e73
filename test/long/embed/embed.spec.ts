// The npm package for host pages, packed and installed from the registry's Vite, in apps of React 19 and Vue 3 in Chromium.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser } from '../../support/browser.js';
import { EmbeddedBrowsing } from '../../support/embedded-browsing.js';
import { releaseFile, tarballName } from '../../support/release-files.js';
import { sizeOf } from '../../support/series.js';
import { REPOSITORY } from '../../support/source-files.js';

const MOUNTS = sizeOf({ small: 5, whole: 50 });
const INSTALL_MS = 300_000;
/** npm 11 leaves the libraries for this platform out. */
const NPM = ['-y', 'npm@10'];
const PACKAGES = ['vite@7', 'react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19', 'vue@3'];
const run = (folder: string, program: string, ...options: string[]) =>
  execFileSync(program, options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

function packed(folder: string): string {
  const built = join(folder, 'built');
  run(folder, process.execPath, join(REPOSITORY, 'scripts', 'build-package.mjs'), built, 'packages/embed');
  run(folder, 'npm', 'pack', built, '--offline');
  return join(folder, tarballName('embed'));
}

/** Installs the package with what the apps need. */
function installed(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embed-apps-'));
  const apps = join(folder, 'apps');
  mkdirSync(apps);
  cpSync(join(REPOSITORY, 'test', 'long', 'embed', 'apps'), apps, { recursive: true });
  writeFileSync(join(apps, 'package.json'), '{ "private": true, "type": "module" }');
  const file = releaseFile('embed') ?? packed(folder);
  run(apps, 'npx', ...NPM, 'install', '--no-audit', '--no-fund', ...PACKAGES, file);
  return apps;
}

/** One classic script, which the test's page can hold. */
function built(folder: string, entry: string): string {
  const settings = {
    esbuild: { jsx: 'automatic' },
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { minify: false, lib: { entry, formats: ['iife'], name: 'app', fileName: 'app' } },
  };
  writeFileSync(join(folder, 'vite.config.js'), `export default ${JSON.stringify(settings)}`);
  run(folder, join(folder, 'node_modules', '.bin', 'vite'), 'build', '--logLevel', 'error');
  return readFileSync(join(folder, 'dist', 'app.iife.js'), 'utf8');
}

describeInBrowser('the package for host pages', () => {
  const browsing = EmbeddedBrowsing.forBlock({ customers: { ada: 'Morning orders', ben: 'Secret of ben' } });
  let folder: string;
  beforeAll(() => {
    folder = installed();
  }, INSTALL_MS);
  afterAll(() => folder && rmSync(join(folder, '..'), { recursive: true, force: true }));

  /** A page with an app in it, and whose tokens it has asked for. */
  const opened = async (entry: string) => {
    const page = await browsing.context.newPage();
    const asked: string[] = [];
    await page.exposeFunction('tokenOf', (sub: string) => {
      asked.push(sub);
      return browsing.token(sub);
    });
    const state = { userKey: 'ada', isShown: true };
    const setUp = `window.host = { instance: '${browsing.instanceOrigin}', state: ${JSON.stringify(state)}, events: [],
      fetchToken: (userKey) => tokenOf(userKey) }`;
    const script = built(folder, entry).replaceAll('</script', '<\\/script');
    const html = `<!doctype html><html lang="en"><div id="app"></div><script>${setUp}</script><script>${script}</script></html>`;
    await page.goto(browsing.serve('/app', html));
    return { page, asked };
  };

  it('has types that the apps compile with', () => {
    const compiler = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
    run(folder, process.execPath, compiler, '-p', folder);
  });

  it.each(['react.tsx', 'vue.ts'])(
    '%s: signs in once, goes on with its session at each mount, and follows its user',
    async (entry) => {
      const { page, asked } = await opened(entry);
      const frame = page.frameLocator('embedded-instance iframe:visible');
      await frame.getByText('Morning orders').waitFor();
      for (let mount = 0; mount < MOUNTS; mount += 1) {
        await page.evaluate(`host.set({ userKey: 'ada', isShown: false })`);
        await page.getByText('Nothing').waitFor();
        await page.evaluate(`host.set({ userKey: 'ada', isShown: true })`);
        await frame.getByText('Morning orders').waitFor();
      }
      expect(asked).toEqual(['ada']);
      await page.evaluate(`host.set({ userKey: 'ben', isShown: true })`);
      await frame.getByText('Secret of ben').waitFor();
      expect(asked).toEqual(['ada', 'ben']);
      expect(await page.evaluate<string[]>('host.events')).not.toContainEqual(
        expect.stringContaining('failed'),
      );
      await page.close();
    },
    INSTALL_MS,
  );

  it.each(['react-late.tsx', 'vue-late.ts'])(
    '%s: signs in though the script of the instance comes after the element and its property',
    async (entry) => {
      const { page, asked } = await opened(entry);
      await page.locator('embedded-instance').waitFor({ state: 'attached' });
      expect(await page.evaluate(`customElements.get('embedded-instance')`)).toBeUndefined();
      await page.addScriptTag({ url: `${browsing.instanceOrigin}/embed.js` });
      await page.frameLocator('embedded-instance iframe:visible').getByText('Morning orders').waitFor();
      expect(asked).toEqual(['ada']);
      await page.close();
    },
    INSTALL_MS,
  );
});
