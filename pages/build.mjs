#!/usr/bin/env node
// Builds what browsers get: the page in the frame, the operator's page and the script for host pages by Vite, then the reference,
// the script's types, and compressed copies of all.
// Usage: node pages/build.mjs [FOLDER]; the default is `dist/src`.
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import ts from 'typescript';
import { build } from 'vite';

const PAGES = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = dirname(PAGES);
const [out = join(REPOSITORY, 'dist', 'src')] = process.argv.slice(2);
const { resolve } = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));

/** Browsers of the first half of 2023. */
const BROWSERS = ['chrome111', 'edge111', 'firefox114', 'safari16.4'];
/** The modules whose types host pages use. */
const EMBED_TYPES = ['events', 'options', 'embedded-instance', 'embedded-instance-element'];
/** The name of the assets folder while Vite builds. Afterwards a hash of the contents replaces it. */
const CURRENT = 'current';
/** Larger files get a lower quality, which takes a thirtieth of the time and makes them an eighth larger. */
const BEST_UP_TO_BYTES = 256 * 1024;

const [web, operator, reference] = ['web', 'operator/page', 'workspace/reference'].map((module) => {
  const folder = join(out, module, 'public');
  rmSync(folder, { recursive: true, force: true });
  return folder;
});

await buildPages('frame', ['index', 'not-found'], { outDir: web });
await buildPages('operator', ['index'], { outDir: operator }, '/admin/');
await buildScript();
cpSync(join(PAGES, 'shared/favicon.ico'), join(web, 'favicon.ico'));
writeFileSync(join(web, 'embed.d.txt'), embedTypes());
cpSync(join(REPOSITORY, 'src/workspace/reference/public'), reference, { recursive: true });
const templates = 'administration/partners/templates';
cpSync(join(REPOSITORY, 'src', templates), join(out, templates), { recursive: true });
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  cpSync(resolve(`swagger-ui-dist/${name}`), join(reference, name));
for (const folder of [web, operator]) nameVersion(folder);
for (const folder of [web, operator, reference]) compress(folder);

function options(root, more) {
  const common = { outDir: web, emptyOutDir: false, target: BROWSERS, reportCompressedSize: false };
  const define = { VERSION: JSON.stringify(version) };
  return {
    configFile: false,
    root: join(PAGES, root),
    logLevel: 'warn',
    define,
    build: { ...common, ...more },
  };
}

/** @param base the path below which browsers request its files */
async function buildPages(root, names, where, base = '/') {
  const input = names.map((name) => join(PAGES, root, `${name}.html`));
  const [script, asset] = ['js', '[extname]'].map(
    (end) => `assets/${CURRENT}/[name]${end === 'js' ? '.js' : end}`,
  );
  const output = { entryFileNames: script, chunkFileNames: script, assetFileNames: asset };
  const more = { ...where, modulePreload: false, assetsInlineLimit: 0, rolldownOptions: { input, output } };
  const oxc = { jsx: { runtime: 'automatic', importSource: 'preact' } };
  await build({ ...options(root, more), base, oxc });
}

/** The script has its own scope, so host pages see only what it defines on purpose. */
async function buildScript() {
  const lib = { entry: 'embed.ts', formats: ['iife'], name: 'unused', fileName: () => 'embed.js' };
  await build(options('embed', { lib }));
}

/** The types of the script in one file, without imports and exports. */
function embedTypes() {
  const { config } = ts.readConfigFile(join(PAGES, 'tsconfig.json'), ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, PAGES).options;
  const files = EMBED_TYPES.map((name) => join(PAGES, 'embed', `${name}.ts`));
  const how = { ...parsed, noEmit: false, declaration: true, emitDeclarationOnly: true, outDir: PAGES };
  const texts = new Map();
  ts.createProgram(files, how).emit(undefined, (path, text) => texts.set(path, text));
  return files
    .map((file) => texts.get(file.replace(/\.ts$/, '.d.ts')))
    .join('')
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^declare global \{\n([^]*?)\n\}/gm, '$1')
    .replace(/^export (\{\};\n)?/gm, '');
}

/** Names the folder of assets by a hash of their contents, so that browsers may cache them. */
function nameVersion(folder) {
  const assets = join(folder, 'assets', CURRENT);
  const names = readdirSync(assets).sort();
  const pages = readdirSync(folder).filter((name) => extname(name) === '.html');
  const texts = [...names.map((name) => join(assets, name)), ...pages.map((name) => join(folder, name))];
  const hash = createHash('sha256');
  for (const file of texts) {
    const text = readFileSync(file, 'utf8');
    hash.update(file.slice(folder.length)).update(text);
  }
  const current = hash.digest('base64url').slice(0, 16);
  // The browser must not paint before the script has applied the theme.
  const versioned = (text) =>
    text
      .replaceAll(`/assets/${CURRENT}/`, `/assets/${current}/`)
      .replace('<script type="module" crossorigin', '<script type="module" blocking="render"');
  for (const name of pages) rewrite(join(folder, name), versioned);
  renameSync(assets, join(folder, 'assets', current));
}

function rewrite(file, change) {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function compress(folder) {
  for (const { name, parentPath } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (extname(name) === '') continue;
    const file = join(parentPath, name);
    const bytes = readFileSync(file);
    const quality = bytes.length > BEST_UP_TO_BYTES ? 5 : constants.BROTLI_MAX_QUALITY;
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
    writeFileSync(
      `${file}.br`,
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    );
  }
}
