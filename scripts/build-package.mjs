// Builds an npm package of the repository into a folder that `npm pack` can be run in.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_FOLDERS } from './package-folders.mjs';

const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)));
const [MODULE] = PACKAGE_FOLDERS;

/**
 * @param {string} [folder] emptied first; `dist-package` of the repository unless another is named
 * @param {string} [sources] where the package lies in the repository; the module for other products unless another is named
 * @returns {string} the folder, with compiled sources, types, package.json, README, CHANGELOG and LICENSE
 */
export function buildPackage(folder = join(REPOSITORY, 'dist-package'), sources = MODULE) {
  const home = join(REPOSITORY, sources);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', home, '--outDir', join(folder, 'dist')], {
    stdio: 'inherit',
  });
  for (const name of ['package.json', 'README.md']) cpSync(join(home, name), join(folder, name));
  for (const name of ['CHANGELOG.md', 'LICENSE']) cpSync(join(REPOSITORY, name), join(folder, name));
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder, sources] = process.argv;
  console.log(buildPackage(folder === undefined ? undefined : resolve(folder), sources));
}
