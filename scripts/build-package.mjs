// Builds an npm package of the repository into a folder that `npm pack` can be run in: the JavaScript of its entries in a few files,
// the types that these entries reach, and its documents.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';
import { format } from 'prettier';
import ts from 'typescript';
import { PACKAGE_FOLDERS } from './package-folders.mjs';

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
const [MODULE] = PACKAGE_FOLDERS;
/** Rollup warns about `this` in the compiler's decorator helpers, which also work without it. */
const EXPECTED_LOG = 'THIS_IS_UNDEFINED';
/** Matches a helper that the compiler writes into each file. */
const HELPER = /^var (__\w+) = \(this && this\.__\w+\) \|\| function[^]*?^};\n/gm;
/** Marks client modules for frameworks that render on a server. */
const DIRECTIVE = /^'use client';\n/;
/** Removes comments, because the type declarations have them too. */
const UNCOMMENTED = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, removeComments: true };

/**
 * @param {string} [folder] the target, which is emptied first. Default: `dist-package` in the repository
 * @param {string} [sources] the package's folder in the repository. Default: the module for other products
 * @returns {Promise<string>} the folder, with JavaScript, types, package.json, README, LICENSE and the documents of `files`
 */
export async function buildPackage(folder = join(REPOSITORY, 'dist-package'), sources = MODULE) {
  const home = join(REPOSITORY, sources);
  const compiled = join(folder, 'compiled');
  const dist = join(folder, 'dist');
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', home, '--outDir', compiled], { stdio: 'inherit' });
  flatten(home, compiled);
  const entries = entriesOf(manifest);
  await bundle(compiled, [...entries, ...programsOf(manifest)], dist);
  for (const path of reachedTypes(compiled, entries)) copyTypes(join(compiled, path), join(dist, path));
  rmSync(compiled, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  const { name, ...rest } = manifest;
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`);
  cpSync(join(REPOSITORY, 'LICENSE'), join(folder, 'LICENSE'));
  copyDocuments(home, folder, manifest);
  return folder;
}

/** Merges the output of the folders in `rootDirs`, which the compiler keeps separate. */
function flatten(home, compiled) {
  const { config } = ts.readConfigFile(join(home, 'tsconfig.json'), ts.sys.readFile);
  for (const place of config.compilerOptions.rootDirs ?? [])
    cpSync(join(compiled, relative(REPOSITORY, join(home, place))), compiled, { recursive: true });
}

/** The files that package.json exports: paths below `dist`, without their extension. */
function entriesOf({ exports }) {
  const files = Object.values(exports).flatMap((entry) => entry.default ?? []);
  return files.map((file) => relative('dist', file).replace(/\.js$/, ''));
}

/** The commands of package.json in the same form. They are not imported, so they need no types. */
function programsOf({ bin = {} }) {
  return Object.values(bin).map((file) => relative('dist', file).replace(/\.js$/, ''));
}

async function bundle(compiled, entries, dist) {
  const bundled = await rollup({
    input: Object.fromEntries(entries.map((entry) => [entry, join(compiled, `${entry}.js`)])),
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
    plugins: [
      sharedHelpers(),
      keptDirectives(),
      { name: 'legible', transform: uncommented, renderChunk: formatted },
    ],
    onLog: (_level, log) => {
      if (log.code !== EXPECTED_LOG) throw new Error(log.message);
    },
  });
  await bundled.write({ dir: dist, chunkFileNames: '[name].js', minifyInternalExports: false });
  await bundled.close();
}

/** Moves each compiler helper into one module, which all files import. */
function sharedHelpers() {
  const texts = new Map();
  const transform = (code, id) => {
    if (texts.has(id)) return null;
    const imports = [...code.matchAll(HELPER)].map(([text, name]) => {
      texts.set(`/${name}`, `export ${text}`);
      return `import { ${name} } from '/${name}';\n`;
    });
    return { code: imports.join('') + code.replace(HELPER, ''), map: null };
  };
  return {
    name: 'shared-helpers',
    resolveId: (id) => (texts.has(id) ? id : null),
    load: (id) => texts.get(id),
    transform,
  };
}

/** Removes `'use client'` before bundling and restores it afterwards. The bundler would drop it with a warning. */
function keptDirectives() {
  const marked = new Set();
  return {
    name: 'kept-directives',
    transform(code, id) {
      if (!DIRECTIVE.test(code)) return null;
      marked.add(id);
      return { code: code.replace(DIRECTIVE, ''), map: null };
    },
    renderChunk(code, { facadeModuleId }) {
      return marked.has(facadeModuleId) ? { code: `'use client';\n${code}`, map: null } : null;
    },
  };
}

function uncommented(code) {
  return { code: ts.transpileModule(code, { compilerOptions: UNCOMMENTED }).outputText, map: null };
}

/** Formats with tabs and long lines, to keep the package small. */
async function formatted(code) {
  const settings = { parser: 'babel', singleQuote: true, printWidth: 160, useTabs: true };
  return { code: await format(code, settings), map: null };
}

/** The paths of the entries' declarations and of all declarations that they import, directly or indirectly. */
function reachedTypes(compiled, entries) {
  const reached = new Set();
  const reach = (path) => {
    if (reached.has(path)) return;
    reached.add(path);
    const { importedFiles } = ts.preProcessFile(readFileSync(join(compiled, path), 'utf8'));
    for (const { fileName } of importedFiles)
      if (fileName.startsWith('.')) reach(join(dirname(path), fileName.replace(/js$/, 'd.ts')));
  };
  for (const entry of entries) reach(`${entry}.d.ts`);
  return reached;
}

/** Copies a declaration with tabs and without `@rule` tags, which refer to rules of the repository. */
function copyTypes(source, target) {
  const text = readFileSync(source, 'utf8').replace(/@rule \S+ /g, '');
  const tabbed = text.replace(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, tabbed);
}

/** Copies the README and the `files` of package.json from the package's folder, or else from the repository. */
function copyDocuments(home, folder, { files }) {
  const names = ['README.md', ...files.filter((name) => name !== 'dist')];
  const sources = names.map((name) => [home, REPOSITORY].map((place) => join(place, name)).find(existsSync));
  for (const [index, name] of names.entries()) {
    const source = sources[index];
    const placeOf = (link) => names[sources.indexOf(resolve(dirname(source), link))];
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), relinked(readFileSync(source, 'utf8'), dirname(name), placeOf));
  }
}

/** Points links at documents in the package. A link to any other file becomes plain text. */
function relinked(text, folder, placeOf) {
  return text.replace(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words, target, anchor = '') => {
    const place = placeOf(target);
    return place === undefined ? words : `[${words}](${relative(folder, place)}${anchor})`;
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder, sources] = process.argv;
  console.log(await buildPackage(folder === undefined ? undefined : resolve(folder), sources));
}
