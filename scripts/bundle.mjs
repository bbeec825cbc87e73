#!/usr/bin/env node
// Puts what the compiler has made of the service into a few files. Node.js finds, reads and links each file by itself, and the
// start of the service would load some four hundred.
//
// Programs stay where they are, so that whatever starts them or looks for files beside them need not know. Libraries stay
// what npm has installed. Traces name functions as the sources do, and source maps lead back to those.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rollup } from '@rollup/wasm-node';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'src');
/** What is started or imported by its path; see package.json and the Dockerfile. */
const PROGRAMS = ['main', 'application', 'app.module', 'cli/main'];
/** The compiler's helpers for decorators ask for it, and have another way. */
const EXPECTED_LOG = 'THIS_IS_UNDEFINED';

if (existsSync(join(folder, 'chunks')))
  throw new Error(
    'dist holds a bundle already, which would be bundled again: npm run build empties it first',
  );

const bundle = await rollup({
  input: Object.fromEntries(PROGRAMS.map((name) => [name, join(folder, `${name}.js`)])),
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  // Nothing is left out: what a decorator registers, nobody imports.
  treeshake: false,
  plugins: [{ name: 'source-maps', load: readWithMap }],
  onLog: (_level, log) => {
    if (log.code !== EXPECTED_LOG) throw new Error(log.message);
  },
});
await bundle.write({
  dir: folder,
  // Names stay the same from build to build: a service that runs meanwhile may still have one to load.
  chunkFileNames: 'chunks/[name].js',
  minifyInternalExports: false,
  // Each chunk imports what it uses itself, and no more.
  hoistTransitiveImports: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
});
await bundle.close();
// npx marks a program as executable only when it links it first; a later build writes the file anew.
chmodSync(join(folder, 'cli/main.js'), 0o755);

/** With the compiler's map, so that the chunk's leads to the TypeScript. */
function readWithMap(file) {
  const map = `${file}.map`;
  return {
    code: readFileSync(file, 'utf8'),
    map: existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')) : null,
  };
}
