#!/usr/bin/env node
// Makes the files of the pages as browsers get them, compressed ones beside them. The script for host pages is compiled before.
// Usage: node scripts/build-pages.mjs [FOLDER [SOURCES]]; `dist/src` and `src` unless others are named.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
const [out = join(REPOSITORY, 'dist', 'src'), sources = join(REPOSITORY, 'src')] = process.argv.slice(2);
const { resolve } = createRequire(import.meta.url);

/** What host pages know of the script for them, and its other parts. */
const EMBED_TYPES = ['options', 'embedded-instance', 'embedded-instance-element'];
const EMBED_PARTS = [
  'option-checks',
  'texts',
  'frames',
  'addresses',
  'card',
  'shown-frame',
  'attempt',
  'embedded-instance',
  'embedded-instance-element',
];

/** Where pages say that their assets are, and how a page or a script names one. */
const UNVERSIONED = '/assets/current/';
const NAMED_ASSET = /(?:\/assets\/current|'\.)\/([\w-]+\.\w+)/g;

/** Above this size a thirtieth of the time counts more than an eighth of the bytes. */
const BEST_UP_TO_BYTES = 256 * 1024;

const web = textsIn('web/public');
const operator = textsIn('operator/page/public');
const reference = textsIn('workspace/reference/public');
const shared = (name) => [name, web.get(name)];
const library = (path) => readFileSync(resolve(path), 'utf8');
// In a scope of its own: a host page sees what it defines on purpose. Indentation is a twentieth of its bytes.
const embedScript = `(() => {\n${embed(EMBED_PARTS, 'js').replace(/^ +/gm, '')}Object.assign(globalThis, { EmbeddedInstance });\n})();\n`;

writePages('web/public', web);
write('web/public/favicon.ico', readFileSync(join(sources, 'web/public/favicon.ico')));
write('web/public/embed.js', embedScript);
write('web/public/embed.d.txt', embed(EMBED_TYPES, 'd.ts'));
writePages(
  'operator/page/public',
  new Map([
    ...operator,
    shared('theme.css'),
    shared('icon.svg'),
    ['uplot.js', library('uplot/dist/uPlot.esm.js')],
    ['uplot.css', library('uplot/dist/uPlot.min.css')],
  ]),
);
for (const [name, text] of reference) write(`workspace/reference/public/${name}`, text);
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
  write(`workspace/reference/public/${name}`, library(`swagger-ui-dist/${name}`));

/** By name, without comments that have lines of their own: these are a quarter of what a page would cost its visitor. */
function textsIn(folder) {
  // In the same order everywhere: the version follows from it.
  const names = readdirSync(join(sources, folder)).sort();
  const texts = names.map((name) => [name, readFileSync(join(sources, folder, name), 'utf8')]);
  const isCode = (name) => ['.css', '.js'].includes(extname(name));
  return new Map(texts.map(([name, text]) => [name, isCode(name) ? withoutComments(text) : text]));
}

function withoutComments(text) {
  return text.replace(/^ *\/\*(?:(?!\*\/)[^])*\*\/\n/gm, '').replace(/^ *\/\/.*\n/gm, '');
}

/** Pages, and what they are made of in a folder of its version, which changes when one of these does. */
function writePages(folder, files) {
  const assets = [...files].filter(([name]) => ['.css', '.js', '.svg'].includes(extname(name)));
  const pages = [...files].filter(([name]) => extname(name) === '.html');
  for (const [, text] of [...assets, ...pages])
    for (const [, name] of text.matchAll(NAMED_ASSET))
      if (!files.has(name)) throw new Error(`the pages lack ${name}`);
  const version = createHash('sha256').update(JSON.stringify(assets)).digest('base64url').slice(0, 16);
  rmSync(join(out, folder), { recursive: true, force: true });
  for (const [name, text] of assets) write(`${folder}/assets/${version}/${name}`, text);
  for (const [name, text] of pages)
    write(`${folder}/${name}`, text.replaceAll(UNVERSIONED, `/assets/${version}/`));
}

/** Files of web/embed, joined: without what makes modules of them. */
function embed(names, extension) {
  const texts = names.map((name) => readFileSync(join(out, 'web', 'embed', `${name}.${extension}`), 'utf8'));
  return texts
    .join('')
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^declare global \{\n([^]*?)\n\}/gm, '$1')
    .replace(/^export (\{\};\n)?/gm, '');
}

function write(path, content) {
  const file = join(out, path);
  const bytes = Buffer.from(content);
  const quality = bytes.length > BEST_UP_TO_BYTES ? 5 : constants.BROTLI_MAX_QUALITY;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }));
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
  );
}
