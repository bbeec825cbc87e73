// The npm package for host pages, packed and installed from the registry, in apps of React 18 and 19, Vue 3 and Next.js 15.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describeInBrowser } from '../../support/browser.js';
import { EmbeddedBrowsing } from '../../support/embedded-browsing.js';
import { releaseFile, tarballName } from '../../support/release-files.js';
import { sizeOf } from '../../support/series.js';
import { REPOSITORY, repositoryFile } from '../../support/source-files.js';

const MOUNTS = sizeOf({ small: 5, whole: 50 });
const INSTALL_MS = 300_000;
/** npm 11 leaves the libraries for this platform out. */
const NPM = ['-y', 'npm@10'];
const reactOf = (major: number) =>
  ['react', 'react-dom', '@types/react', '@types/react-dom'].map((name) => `${name}@${major}`);
const PACKAGES = ['vite@7', 'vue@3'];
const COMPILER = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
/** How compilers of today find the types of a package. */
const RESOLUTIONS = [
  ['ES2022', 'bundler'],
  ['Node16', 'node16'],
  ['ES2022', 'node10'],
];
/** Renders both components on a server, which must print no warnings. */
const RENDER = `
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createSSRApp, h } from 'vue';
import { renderToString as renderVue } from 'vue/server-renderer';
import { EmbeddedInstance } from '@embedded-token-exchange/embed/react';
import { EmbeddedInstance as VueInstance } from '@embedded-token-exchange/embed/vue';
const said = [];
for (const name of ['error', 'warn']) console[name] = (...words) => said.push(words.join(' '));
const props = { url: 'https://instance.example', title: 'Automation', userKey: '1', height: 'auto', maxHeight: 900, hideHeader: true, fullWidth: false,
  fetchToken: async () => '' };
const react = renderToString(createElement(EmbeddedInstance, props));
const vue = await renderVue(createSSRApp({ render: () => h(VueInstance, props) }));
console.log(JSON.stringify({ said, react, vue }));
`;
/** The parts of a Next.js application that packages/embed/README.md leaves to its reader. */
const NEXT_FILES = {
  'app/user.ts': `export const currentUser = async () => ({ id: 'ada', email: 'ada@partner.example' });\n`,
  'app/layout.tsx': `export default ({ children }: { children: React.ReactNode }) => <html lang="en"><body>{children}</body></html>;\n`,
};
const run = (folder: string, program: string, ...options: string[]) =>
  execFileSync(program, options, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

function packed(folder: string, name: string): string {
  const built = join(folder, `built-${name}`);
  run(folder, process.execPath, join(REPOSITORY, 'scripts', 'build-package.mjs'), built, `packages/${name}`);
  run(folder, 'npm', 'pack', built, '--offline');
  return join(folder, tarballName(name));
}

function emptyApp(): string {
  const app = join(mkdtempSync(join(tmpdir(), 'embed-apps-')), 'apps');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  return app;
}

function install(app: string, packages: readonly string[], ours: readonly string[]): void {
  const files = ours.map((name) => releaseFile(name) ?? packed(dirname(app), name));
  run(app, 'npx', ...NPM, 'install', '--no-audit', '--no-fund', ...packages, ...files);
}

/** Installs the package with what the apps need. */
function installed(react: number): string {
  const apps = emptyApp();
  cpSync(join(REPOSITORY, 'test', 'long', 'embed', 'apps'), apps, { recursive: true });
  install(apps, [...PACKAGES, ...reactOf(react)], ['embed']);
  return apps;
}

/** Writes the files that the guide for Next.js prints. */
function followNextGuide(app: string): void {
  const { text } = repositoryFile('packages/embed/README.md');
  const printed = [...text.matchAll(/```tsx?\n\/\/ (\S+)\n(.*?)```/gs)].map(([, path = '', code = '']) => [
    path,
    code,
  ]);
  expect(printed).toHaveLength(3);
  for (const [path = '', code = ''] of [...printed, ...Object.entries(NEXT_FILES)]) {
    mkdirSync(dirname(join(app, path)), { recursive: true });
    writeFileSync(join(app, path), code);
  }
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

for (const react of [18, 19])
  describeInBrowser(`the package for host pages with React ${react} and Vue 3`, () => {
    const browsing = EmbeddedBrowsing.forBlock({
      customers: { ada: 'Morning orders', ben: 'Secret of ben' },
    });
    let folder: string;
    beforeAll(() => {
      folder = installed(react);
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

    it.each(RESOLUTIONS)(
      "has types for the apps' compilers: module %s, resolution %s",
      (module, moduleResolution) => {
        const options = [
          '--module',
          module,
          '--moduleResolution',
          moduleResolution,
          '--ignoreDeprecations',
          '6.0',
        ];
        run(
          folder,
          process.execPath,
          COMPILER,
          '-p',
          folder,
          ...options.filter((option) => option !== undefined),
        );
      },
    );

    it('renders on a server without warnings', () => {
      writeFileSync(join(folder, 'render.mjs'), RENDER);
      const {
        said,
        react: html,
        vue,
      } = JSON.parse(run(folder, process.execPath, 'render.mjs')) as Record<string, string>;
      expect(said).toEqual([]);
      for (const rendered of [html, vue]) {
        expect(rendered).toMatch(
          /^<embedded-instance [^>]*url="https:\/\/instance\.example"[^>]*><\/embedded-instance>$/,
        );
        expect(rendered).toMatch(/ max-height="900"/);
        expect(rendered).toMatch(/ hide-header(=""|[ >])/);
        expect(rendered).not.toContain('full-width');
      }
    });

    it.each(['react.tsx', 'vue.ts', 'vue-kept.ts'])(
      '%s: signs in once, keeps session and place at each mount, and follows its user',
      async (entry) => {
        const { page, asked } = await opened(entry);
        const frame = page.frameLocator('embedded-instance iframe:visible');
        await frame.getByRole('link', { name: 'Morning orders' }).click();
        await frame.getByText('Created').waitFor();
        for (let mount = 0; mount < MOUNTS; mount += 1) {
          await page.evaluate(`host.set({ userKey: 'ada', isShown: false })`);
          await page.getByText('Nothing').waitFor();
          await page.evaluate(`host.set({ userKey: 'ada', isShown: true })`);
          await frame.getByText('Created').waitFor();
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
      "%s: signs in even if the instance's script loads after the element and its property",
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

describe('the package in Next.js 15', () => {
  it(
    'builds as in the guide, and renders its page on the server',
    () => {
      const app = emptyApp();
      try {
        followNextGuide(app);
        install(app, ['next@15', 'typescript@5', '@types/node@20', ...reactOf(19)], ['embed', 'partner']);
        const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: '1' };
        const next = join(app, 'node_modules', '.bin', 'next');
        execFileSync(next, ['build'], { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] });
        const page = readFileSync(join(app, '.next', 'server', 'app', 'automation.html'), 'utf8');
        expect(page).toContain('<embedded-instance ');
      } finally {
        rmSync(dirname(app), { recursive: true, force: true });
      }
    },
    INSTALL_MS * 2,
  );
});
